/**
 * The canonical form of a conversation. Every wire protocol translates to and from these blocks; nothing else
 * in Oxbow knows a provider's shapes.
 *
 * 1. A message holds blocks in the order the model produced them; that order is never changed.
 * 2. `thinking` and `opaque` blocks name the provider family that produced them. They are sent back verbatim to
 *    that family and dropped for any other.
 * 3. Every `tool_use` block is answered by exactly one `tool_result` block with the same `call` in the next user message.
 */
import type { CallId } from "./ids.js";
import type { JsonObject, JsonValue } from "./json.js";

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

export interface ImageBlock {
  readonly type: "image";
  readonly media_type: string;
  /** base64 */
  readonly data: string;
}

export interface AudioBlock {
  readonly type: "audio";
  readonly media_type: string;
  /** base64 */
  readonly data: string;
}

export interface ThinkingBlock {
  readonly type: "thinking";
  readonly text: string;
  readonly provider: string;
  /** Data by which the provider recognises its own thinking: a signature, encrypted text. */
  readonly opaque?: JsonValue;
}

export interface ToolUseBlock {
  readonly type: "tool_use";
  readonly call: CallId;
  readonly tool: string;
  readonly args: JsonObject;
  /** The raw argument text, if it was not one complete JSON object. Such a call is never run. */
  readonly malformed?: string;
}

export interface ToolResultBlock {
  readonly type: "tool_result";
  readonly call: CallId;
  readonly tool: string;
  readonly content: readonly ResultContent[];
  readonly is_error: boolean;
}

/** A provider's own block that has no canonical meaning (server tools, citations). */
export interface OpaqueBlock {
  readonly type: "opaque";
  readonly provider: string;
  readonly data: JsonValue;
}

/** The model ends its turn explicitly. */
export interface YieldBlock {
  readonly type: "yield";
}

/** Text of a result, or beside an input. */
export interface ResultText extends TextBlock {
  /** The harness's own text, not from the call or the user: a denial, a count, a notice, instructions that the user approved. */
  readonly own?: true;
}

export type MediaBlock = ImageBlock | AudioBlock;
export type ResultContent = ResultText | ImageBlock;
export type InputContent = TextBlock | MediaBlock;
export type UserBlock = InputContent | ResultText | ToolResultBlock;
export type AssistantBlock = TextBlock | ThinkingBlock | ToolUseBlock | OpaqueBlock | YieldBlock;

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly UserBlock[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly AssistantBlock[];
  /** The turn was cancelled or failed during this message: the text is incomplete. */
  readonly interrupted?: true;
}

export type Message = UserMessage | AssistantMessage;

export function text(value: string): TextBlock {
  return { type: "text", text: value };
}

/** For results with the harness's own text. */
export function ownText(value: string): ResultText {
  return { type: "text", text: value, own: true };
}

/** The user's input as the model gets it, with the notice. */
export function inputMessage(
  input: readonly InputContent[],
  notice?: string,
): { readonly role: "user"; readonly content: readonly InputContent[] } {
  return { role: "user", content: notice === undefined ? input : [...input, ownText(notice)] };
}

/** The text of the conversation where a hook refused an input. */
export const REFUSED_INPUT = "(A hook refused this input, so you do not see it.)";

/** Text that a part of Oxbow adds to the conversation, as the model gets it. */
export function contextMessage(context: string): { readonly role: "user"; readonly content: readonly TextBlock[] } {
  return { role: "user", content: [ownText(context)] };
}

/** Tells whether input or results contain an image. */
export function hasImages(messages: readonly Message[]): boolean {
  const isImage = ({ type }: { readonly type: string }) => type === "image";
  return messages.some(({ role, content }) => {
    if (role === "assistant") return false;
    return content.some((block) => isImage(block) || (block.type === "tool_result" && block.content.some(isImage)));
  });
}

/** Tells whether an input contains audio; results have none. */
export function hasAudio(messages: readonly Message[]): boolean {
  return messages.some(({ role, content }) => role === "user" && content.some(({ type }) => type === "audio"));
}

/** The plain text of some blocks. */
export function plainText(blocks: readonly { readonly type: string; readonly text?: string }[]): string {
  let out = "";
  for (const block of blocks) if (block.type === "text") out += block.text ?? "";
  return out;
}

/** The text of a result: its parts are notes and outputs, so each begins a line. */
export function resultText(blocks: readonly { readonly type: string; readonly text?: string }[]): string {
  let out = "";
  for (const { type, text = "" } of blocks) {
    if (type !== "text" || text === "") continue;
    out += out === "" || out.endsWith("\n") || text.startsWith("\n") ? text : `\n${text}`;
  }
  return out;
}
