/** Describes how many tokens a request will count as, before it is sent. */
import { estimateTokens } from "../../base/estimate-tokens.js";
import type { ModelRequest } from "../../engine/ports.js";
import type { AssistantBlock, AudioBlock, Message, UserBlock } from "../../protocol/content.js";

/** Describes what a provider adds, and how its tokenizer compares to the one that `estimateTokens` imitates. Measured; see docs/design/costs.md. */
interface Habits {
  readonly factor: number;
  readonly request: number;
  readonly message: number;
  /** The provider adds its own prompt with the first tool. */
  readonly firstTool: number;
  readonly tool: number;
  /** Some show the model a shorter form of a tool's schema. */
  readonly schema: number;
}

const HABITS: Readonly<Record<string, Habits>> = {
  anthropic: { factor: 1.15, request: 5, message: 4, firstTool: 540, tool: 12, schema: 1 },
  openai: { factor: 1, request: 3, message: 4, firstTool: 12, tool: 4, schema: 0.5 },
  gemini: { factor: 1, request: 0, message: 1, firstTool: 0, tool: 2, schema: 0.4 },
};
const USUAL: Habits = { factor: 1.1, request: 15, message: 6, firstTool: 80, tool: 12, schema: 0.9 };

/** The approximate tokens of a large image with any provider. */
const IMAGE = 1600;

type Sized = Pick<ModelRequest, "system" | "messages" | "tools">;

export function estimateRequestTokens(request: Sized, family: string): number {
  const images = request.messages.reduce((sum, message) => sum + weigh(message).images, 0);
  return estimateTextTokens(request, family) + images * IMAGE;
}

/** Without its images, which every provider counts in its own way. */
export function estimateTextTokens(request: Sized, family: string): number {
  const habits = HABITS[family] ?? USUAL;
  let text = weighSystem(request.system);
  let extra = habits.request + (request.system === "" ? 0 : habits.message);
  for (const message of request.messages) {
    text += weigh(message).text;
    extra += habits.message;
  }
  for (const tool of request.tools) {
    const { words, schema } = weighTool(tool);
    text += words + schema * habits.schema;
    extra += habits.tool;
  }
  if (request.tools.length > 0) extra += habits.firstTool;
  return Math.ceil(text * habits.factor) + extra;
}

let lastSystem: { readonly text: string; readonly weight: number } | undefined;

/** Cached, because it is the same in every request. */
function weighSystem(text: string): number {
  if (lastSystem?.text !== text) lastSystem = { text, weight: estimateTokens(text) };
  return lastSystem.weight;
}

interface ToolWeight {
  readonly name: string;
  readonly words: number;
  readonly schema: number;
}

/** Cached, because every request offers the same tools. */
const toolWeights = new WeakMap<object, ToolWeight>();

function weighTool({ name, description, inputSchema }: Sized["tools"][number]): ToolWeight {
  let weight = toolWeights.get(inputSchema);
  if (weight?.name !== name) {
    const words = estimateTokens(name) + estimateTokens(description);
    weight = { name, words, schema: estimateTokens(JSON.stringify(inputSchema)) };
    toolWeights.set(inputSchema, weight);
  }
  return weight;
}

interface Weight {
  readonly text: number;
  readonly images: number;
}

/** Cached, because messages never change and every later request contains them. */
const weights = new WeakMap<Message, Weight>();

function weigh(message: Message): Weight {
  let weight = weights.get(message);
  if (weight === undefined) {
    weight = { text: 0, images: 0 };
    for (const block of message.content) weight = add(weight, weighBlock(block));
    weights.set(message, weight);
  }
  return weight;
}

function weighBlock(block: AssistantBlock | UserBlock): Weight {
  switch (block.type) {
    case "text":
      return words(block.text);
    case "thinking":
      // Earlier thinking is usually dropped, or sent as a signature of similar length.
      return words(block.text);
    case "image":
      return { text: 0, images: 1 };
    case "audio":
      return { text: audioTokens(block), images: 0 };
    case "tool_use":
      return words(`${block.tool} ${block.malformed ?? JSON.stringify(block.args)}`);
    case "tool_result":
      return block.content.reduce((sum, each) => add(sum, weighBlock(each)), words(block.tool));
    case "opaque":
      return words(JSON.stringify(block.data));
    case "yield":
      return words("");
  }
}

/** Gemini counts 32 tokens a second. Compressed audio has about 16 kB a second, and base64 makes it a third longer. */
function audioTokens({ data }: AudioBlock): number {
  return Math.ceil(data.length / 650);
}

function words(text: string): Weight {
  return { text: estimateTokens(text), images: 0 };
}

function add(a: Weight, b: Weight): Weight {
  return { text: a.text + b.text, images: a.images + b.images };
}
