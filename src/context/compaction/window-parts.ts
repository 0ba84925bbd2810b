/** Describes what fills the context window, part by part, and what a person can do about it. */
import { roundTokens } from "../../base/budget-text.js";
import { estimateTokens } from "../../base/estimate-tokens.js";
import { groupDigits } from "../../base/group-digits.js";
import { type Column, renderTable } from "../../base/text-table.js";
import type { ModelRequest } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";

export interface WindowUse {
  readonly name: string;
  readonly tokens: number;
  /** Says what makes it smaller; absent where nothing does. */
  readonly advice?: string;
}

export interface WindowFacts {
  readonly model: string;
  /** The request without its messages; undefined before the first one. */
  readonly frame: Pick<ModelRequest, "system" | "tools"> | undefined;
  readonly messages: readonly Message[];
  /** Texts that the system prompt contains. */
  readonly instructions: string;
  readonly sections: string;
  /** Holds what the provider counted for the last request; undefined before its answer. */
  readonly counted: number | undefined;
  /** Tokens that the model can read, and from which Oxbow shortens the conversation. */
  readonly window: number | undefined;
  readonly shortensAt: number | undefined;
}

const BAR = 40;
const IMAGE_TOKENS = 1500;

/** The parts are estimates. If the provider has counted the request, they are scaled to its count. */
export function windowParts(facts: WindowFacts): readonly WindowUse[] {
  const { frame, messages } = facts;
  const weights = { inputs: 0, answers: 0, results: 0 };
  for (const { role, content } of messages) {
    for (const block of content) {
      if (block.type === "tool_result") weights.results += tokensOf(block.content);
      else weights[role === "user" ? "inputs" : "answers"] += tokensOf([block]);
    }
  }
  const instructions = estimateTokens(facts.instructions);
  const sections = estimateTokens(facts.sections);
  const system = Math.max(0, estimateTokens(frame?.system ?? "") - instructions - sections);
  const tools = frame?.tools ?? [];
  const parts: WindowUse[] = [
    { name: "prompt of Oxbow", tokens: system },
    {
      name: `tools (${tools.length})`,
      tokens: estimateTokens(JSON.stringify(tools)),
      advice: "/tools and /mcp list them; turn off those that you do not need",
    },
    { name: "instruction files", tokens: instructions, advice: "shorten the files that /context names below" },
    { name: "skills and folders", tokens: sections, advice: "/skills lists them" },
    { name: "your inputs", tokens: weights.inputs, advice: "/compact replaces the older messages by a summary" },
    { name: "answers", tokens: weights.answers, advice: "/compact replaces the older messages by a summary" },
    { name: "results of tools", tokens: weights.results, advice: "/compact replaces the older messages by a summary" },
  ];
  const sum = parts.reduce((total, { tokens }) => total + tokens, 0);
  const scale = facts.counted === undefined || sum === 0 ? 1 : facts.counted / sum;
  return parts.map((part) => ({ ...part, tokens: Math.round(part.tokens * scale) })).filter(({ tokens }) => tokens > 0);
}

function tokensOf(blocks: readonly { readonly type: string }[]): number {
  return blocks.reduce((sum, block) => {
    if (block.type === "image") return sum + IMAGE_TOKENS;
    const text = "text" in block && typeof block.text === "string" ? block.text : JSON.stringify(block);
    return sum + estimateTokens(text);
  }, 0);
}

/** A bar, a table and one piece of advice. In ASCII, because every client shows it. */
export function windowText(facts: WindowFacts): string {
  const parts = windowParts(facts);
  const { window, shortensAt, model } = facts;
  const used = parts.reduce((total, { tokens }) => total + tokens, 0);
  const about = facts.counted === undefined ? "about " : "";
  if (window === undefined) {
    const head = `Context of ${model}: ${about}${groupDigits(used)} tokens. The size of its window is not known.`;
    return [head, table(parts, used)].join("\n\n");
  }
  const free = Math.max(0, window - used);
  const head = `Context of ${model}: ${about}${groupDigits(used)} of ${groupDigits(window)} tokens (${share(used, window)})`;
  const filled = Math.min(BAR, Math.round((used / window) * BAR));
  const bar = `[${"#".repeat(filled)}${".".repeat(BAR - filled)}]`;
  const limit =
    shortensAt === undefined || !Number.isFinite(shortensAt)
      ? []
      : [`Oxbow shortens the conversation from ${roundTokens(shortensAt)} tokens on.`];
  const [largest] = parts.filter(({ advice }) => advice !== undefined).toSorted((a, b) => b.tokens - a.tokens);
  const advice = largest === undefined ? [] : [`Most is for ${largest.name}: ${largest.advice}.`];
  return [
    `${head}\n${bar}`,
    table([...parts, { name: "free", tokens: free }], window),
    [...limit, ...advice].join("\n"),
  ].join("\n\n");
}

function table(parts: readonly WindowUse[], whole: number): string {
  const columns: readonly Column<WindowUse>[] = [
    { header: "PART", value: ({ name }) => name },
    { header: "TOKENS", value: ({ tokens }) => groupDigits(tokens), align: "right" },
    { header: "SHARE", value: ({ tokens }) => share(tokens, whole), align: "right" },
  ];
  return renderTable(columns, parts, { color: false });
}

function share(tokens: number, whole: number): string {
  const percent = (tokens / Math.max(1, whole)) * 100;
  return percent > 0 && percent < 1 ? "< 1 %" : `${Math.round(percent)} %`;
}
