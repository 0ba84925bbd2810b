/**
 * Encodes a canonical request for Gemini.
 *
 * 1. A signature goes back on the kind of part it came with, and parts that carry one are never joined with others.
 * 2. Results open the turn after their calls, in the order of the calls. They hold text; their images follow them.
 * 3. A thought without a signature is not sent: Gemini ignores it.
 */
import type { ModelRequest } from "../../engine/ports.js";
import type { AssistantBlock, InputContent, ThinkingBlock, ToolResultBlock } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { type AssistantTurn, arrange, callName, splitContent, type UserTurn } from "./conversation.js";
import { asObject, asText } from "./fields.js";
import { toGeminiSchema } from "./gemini-schema.js";
import { geminiUrl } from "./url.js";
import type { WireRequest, WireTarget } from "./wire.js";

/** Describes where a signature belongs: the call or the text after it, its own thinking, or an empty part. */
export type SignedPart = "call" | "text" | "thought" | "nothing";

/**
 * From this generation on, a call in the newest turn without a signature is refused. Earlier calls get one too, so that the sent prefix
 * never changes.
 */
const WANTS_SIGNATURES = /\bgemini-([3-9]|[1-9]\d)/;
const THINKS_BY_LEVEL = WANTS_SIGNATURES;
const TWO_LEVELS = /\bgemini-3-pro/;
const THINKS_BY_BUDGET = /\bgemini-2\.5-/;
/** In tokens; every model of that generation accepts these. */
const BUDGETS = { low: 1024, medium: 8192, high: 24_576 } as const;
/** Google's value for a call of another model, or for a lost signature. */
const NO_SIGNATURE = "skip_thought_signature_validator";

export function encodeGemini(request: ModelRequest, target: WireTarget): WireRequest {
  const turns = arrange(request.messages, (block) => isSendable(block, target.family));
  const strict = WANTS_SIGNATURES.test(request.model);
  const contents = turns.map((turn) =>
    turn.role === "user"
      ? { role: "user", parts: encodeUser(turn) }
      : { role: "model", parts: strict ? signed(encodeAssistant(turn)) : encodeAssistant(turn) },
  );
  const functionDeclarations = request.tools.map((tool) => {
    const parameters = toGeminiSchema(tool.inputSchema);
    return { name: tool.name, description: tool.description, ...(parameters !== undefined && { parameters }) };
  });
  const tools = [
    ...(functionDeclarations.length > 0 ? [{ functionDeclarations }] : []),
    ...(request.webSearch ? [{ googleSearch: {} }] : []),
  ];
  const { generationConfig, ...extra } = target.extra ?? {};
  const generation = {
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
    ...thinking(request),
    ...asObject(generationConfig),
  };
  return {
    url: geminiUrl(target.baseUrl, request.model),
    headers: {},
    body: {
      ...(request.system.trim() !== "" && { systemInstruction: { parts: [{ text: request.system }] } }),
      ...(tools.length > 0 && { tools }),
      contents: contents.filter(({ parts }) => parts.length > 0),
      ...(Object.keys(generation).length > 0 && { generationConfig: generation }),
      ...extra,
    },
  };
}

/** Also requests the thoughts, so that the user sees the model think. Models that cannot think get no setting. */
function thinking({ effort, model }: ModelRequest): JsonObject {
  if (effort === undefined) return {};
  if (THINKS_BY_LEVEL.test(model)) {
    const level = effort === "medium" && TWO_LEVELS.test(model) ? "high" : effort;
    return { thinkingConfig: { includeThoughts: true, thinkingLevel: level.toUpperCase() } };
  }
  if (!THINKS_BY_BUDGET.test(model)) return {};
  return { thinkingConfig: { includeThoughts: true, thinkingBudget: BUDGETS[effort] } };
}

function isSendable(block: AssistantBlock, family: string): boolean {
  if (block.type === "opaque") return block.provider === family;
  return block.type !== "thinking" || (block.provider === family && signatureOf(block) !== "");
}

function signatureOf(block: ThinkingBlock): string {
  return asText(asObject(block.opaque).signature);
}

function encodeUser(turn: UserTurn): readonly JsonObject[] {
  const images = turn.results.flatMap((result) => splitContent(result.content).images);
  return [
    ...turn.results.map(encodeResult),
    ...(images.length === 0 ? [] : [{ text: "Images from the tool results above:" }, ...images.map(encodeContent)]),
    ...turn.content.map(encodeContent),
  ];
}

function encodeContent(block: InputContent): JsonObject {
  if (block.type === "text") return { text: block.text };
  const mimeType = block.media_type === "audio/mpeg" ? "audio/mp3" : block.media_type;
  return { inlineData: { mimeType, data: block.data } };
}

function encodeResult(result: ToolResultBlock): JsonObject {
  const { text, images } = splitContent(result.content);
  const output = text || (images.length > 0 ? "(an image, below)" : "(no output)");
  const response = result.is_error ? { error: output } : { output };
  return { functionResponse: { id: result.call, name: callName(result.tool), response } };
}

function encodeAssistant(turn: AssistantTurn): readonly JsonObject[] {
  const parts: JsonObject[] = [];
  for (const [index, block] of turn.blocks.entries()) {
    const signature = signatureBefore(turn.blocks[index - 1], block);
    switch (block.type) {
      case "text":
        parts.push({ text: block.text, ...signature });
        break;
      case "tool_use":
        parts.push({ functionCall: { id: block.call, name: callName(block.tool), args: block.args }, ...signature });
        break;
      case "thinking":
        parts.push(...encodeThought(block, turn.blocks[index + 1]));
        break;
      case "opaque":
        parts.push(asObject(block.data));
        break;
      case "yield":
        break;
    }
  }
  return parts;
}

function signatureBefore(before: AssistantBlock | undefined, block: AssistantBlock): JsonObject {
  if (before?.type !== "thinking" || !signs(before, block)) return {};
  return { thoughtSignature: signatureOf(before) };
}

function signs(thought: ThinkingBlock, block: AssistantBlock | undefined): boolean {
  const { on } = asObject(thought.opaque);
  return (on === "call" && block?.type === "tool_use") || (on === "text" && block?.type === "text");
}

/** A signature whose part was dropped (blank text) goes back on an empty part, as Gemini itself does. */
function encodeThought(thought: ThinkingBlock, next: AssistantBlock | undefined): readonly JsonObject[] {
  if (signs(thought, next)) return [];
  const thoughtSignature = signatureOf(thought);
  if (asObject(thought.opaque).on === "thought") return [{ text: thought.text, thought: true, thoughtSignature }];
  return [{ text: "", thoughtSignature }];
}

/** Only the first of several calls needs one. */
function signed(parts: readonly JsonObject[]): readonly JsonObject[] {
  const first = parts.findIndex((part) => part.functionCall !== undefined);
  return parts.map((part, index) => (index === first ? { thoughtSignature: NO_SIGNATURE, ...part } : part));
}
