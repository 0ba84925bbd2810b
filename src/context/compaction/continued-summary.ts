/**
 * The request for a summary behind the conversation as it was sent: the same system prompt, tools and messages, so that its beginning
 * is in the provider's cache, and calls and results stay what they are.
 */
import { estimateTokens } from "../../base/estimate-tokens.js";
import type { ModelRequest } from "../../engine/ports.js";
import { type Message, plainText, text } from "../../protocol/content.js";
import { type Cut, hasResults } from "./cut.js";
import type { ModelLimits } from "./limits.js";
import form from "./summary-form.md";
import question from "./summary-question.md";

/** Describes what surrounds the conversation in a request. */
export type ConversationFrame = Pick<ModelRequest, "system" | "tools" | "effort" | "cacheKey" | "maxOutputTokens">;

/** The estimate may be too low by this much. */
const MARGIN = 1.1;
const QUESTION_TOKENS = 700;
const QUOTED_CHARS = 80;

/** The tokens that are left behind the whole conversation and the question. `tokens` is the provider's count, 0 if unknown. */
export function roomBehind(
  { tokens, all, frame }: { readonly tokens: number; readonly all: number; readonly frame: ConversationFrame },
  { reads }: ModelLimits,
): number {
  const around = estimateTokens(frame.system) + estimateTokens(JSON.stringify(frame.tools));
  return Math.floor(reads - Math.max(tokens, all + around) * MARGIN - QUESTION_TOKENS);
}

interface Continuation {
  readonly frame: ConversationFrame;
  readonly model: string;
  readonly focus: string | undefined;
  /** Holds what is left of the window; undefined if unknown. */
  readonly room: number | undefined;
  readonly asSent: (messages: readonly Message[]) => readonly Message[];
}

export function continuedRequest(
  { older, kept }: Cut,
  { frame, model, focus, room, asSent }: Continuation,
): ModelRequest {
  const answered = withoutUnanswered(kept);
  const words = [question.trim(), stays(answered[0]), form.trim(), ...(focus === undefined ? [] : [wish(focus)])];
  const asked: Message = { role: "user", content: [{ type: "text", text: words.join("\n\n") }] };
  const messages = [...asSent([...older, ...answered]), asked];
  const { maxOutputTokens: most } = frame;
  return { ...frame, model, messages, ...(most !== undefined && { maxOutputTokens: Math.min(most, room ?? most) }) };
}

/** A question behind the conversation, which does not enter it. A call that runs now has no result yet, so it is left out. */
export function asideRequest(
  conversation: readonly Message[],
  asked: string,
  { frame, model, asSent }: Pick<Continuation, "model" | "asSent"> & { readonly frame: ConversationFrame | undefined },
): ModelRequest {
  const answered = withoutUnanswered(conversation);
  const open = answered.at(-1)?.content.some(({ type }) => type === "tool_use") === true;
  const words = `${ASIDE}\n\n${asked}`;
  const messages = [
    ...asSent(open ? answered.slice(0, -1) : answered),
    { role: "user" as const, content: [text(words)] },
  ];
  return { system: "", tools: [], ...frame, model, messages };
}

const ASIDE =
  "The user asks this beside the conversation. Answer it in text, from what you know already; call no tool, and do not continue the work.";

/** The newest input was not sent yet, and the model must not answer it now. */
function withoutUnanswered(kept: readonly Message[]): readonly Message[] {
  const last = kept.findLastIndex((message) => message.role === "assistant" || hasResults(message));
  return kept.slice(0, last + 1);
}

function stays(first: Message | undefined): string {
  if (first === undefined) return "Your summary replaces every message.";
  return `The newest messages stay as they are, from ${nameOf(first)} on: summarise what comes before, and do not repeat them.`;
}

function nameOf(message: Message): string {
  const words = plainText(message.content).replaceAll(/\s+/g, " ").trim();
  const quoted = words.length > QUOTED_CHARS ? `${words.slice(0, QUOTED_CHARS)}…` : words;
  const who = message.role === "assistant" ? "your message" : "the user's message";
  if (quoted !== "") return `${who} “${quoted}”`;
  const call = message.role === "assistant" ? message.content.find((block) => block.type === "tool_use") : undefined;
  return call?.type === "tool_use" ? `your last calls, the first of ${call.tool},` : who;
}

export function wish(focus: string): string {
  return `The user asks that the summary keeps this in mind: ${focus}`;
}
