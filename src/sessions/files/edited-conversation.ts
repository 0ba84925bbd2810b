/**
 * Message files as a conversation that providers accept. People edit, delete and add files; what a provider would refuse is corrected in
 * the least surprising way:
 *
 * 1. Results of calls follow the answer that made them, in its order, in one user message. A call without a result gets an
 *    error that says so; a result without a call is dropped, and so is a call with a repeated id.
 * 2. Empty text and messages without blocks are dropped. Consecutive messages of one role are joined.
 * 3. A conversation begins with a user.
 * 4. It begins with the last summary, which replaces everything before it, except the messages that it keeps.
 */
import {
  type AssistantMessage,
  type Message,
  ownText,
  type ResultContent,
  type ToolResultBlock,
  type ToolUseBlock,
  text,
  type UserMessage,
} from "../../protocol/content.js";
import type { CallId } from "../../protocol/ids.js";
import type { AssistantEntry, MessageEntry, ToolResultEntry } from "./message-file.js";

const MISSING_RESULT = "The result of this call is missing: its file was removed or changed.";
const MISSING_BEGINNING = "(The beginning of this conversation was removed.)";

/** `seqOf` returns the number of the first file that holds an event or a later one. */
export function conversationOf(
  entries: readonly MessageEntry[],
  seqOf: (event: number) => number | undefined = () => undefined,
): readonly Message[] {
  const current = fromLastSummary(entries, seqOf);
  const results = new ResultPile(current);
  const messages: Message[] = [];
  for (const entry of current) {
    if (entry.role === "user") add(messages, { role: "user", content: entry.content.filter(hasContent) });
    if (entry.role === "assistant") addAnswer(messages, entry, results);
  }
  if (messages[0]?.role === "assistant") messages.unshift({ role: "user", content: [text(MISSING_BEGINNING)] });
  return messages;
}

function fromLastSummary(
  entries: readonly MessageEntry[],
  seqOf: (event: number) => number | undefined,
): readonly MessageEntry[] {
  const at = entries.findLastIndex((entry) => entry.role === "user" && entry.compaction === true);
  const summary = entries[at];
  if (summary === undefined) return entries;
  const event = summary.role === "user" ? summary.keptFrom : undefined;
  const first = (event === undefined ? undefined : seqOf(event)) ?? summary.seq;
  const isSummary = (entry: MessageEntry) => entry.role === "user" && entry.compaction === true;
  const kept = entries.slice(0, at).filter((entry) => entry.seq >= first && !isSummary(entry));
  return [summary, ...kept, ...entries.slice(at + 1)];
}

function addAnswer(messages: Message[], entry: AssistantEntry, results: ResultPile): void {
  const answered: ToolResultBlock[] = [];
  const content = entry.content.filter((block) => {
    if (block.type !== "tool_use") return hasContent(block);
    const result = results.take(block, entry.seq);
    if (result !== undefined) answered.push(result);
    return result !== undefined;
  });
  add(messages, { role: "assistant", content, ...(entry.stop === "error" && { interrupted: true as const }) });
  add(messages, { role: "user", content: answered });
}

function add(messages: Message[], message: Message): void {
  if (message.content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role !== message.role) messages.push(message);
  else messages[messages.length - 1] = joined(last, message);
}

function joined(first: Message, second: Message): Message {
  const content = [...first.content, ...second.content];
  if (second.role === "user") return { role: "user", content: content as UserMessage["content"] };
  return { ...second, content: content as AssistantMessage["content"] };
}

function hasContent(block: { readonly type: string; readonly text?: string }): boolean {
  return block.type !== "text" || block.text?.trim() !== "";
}

/** The results by the call they name, or in their order for the next call when they name none. */
class ResultPile {
  readonly #named = new Map<CallId, ToolResultEntry>();
  readonly #nameless: ToolResultEntry[] = [];
  readonly #calls = new Set<CallId>();

  constructor(entries: readonly MessageEntry[]) {
    for (const entry of entries) {
      if (entry.role !== "tool_result") continue;
      if (entry.call === undefined) this.#nameless.push(entry);
      else if (!this.#named.has(entry.call)) this.#named.set(entry.call, entry);
    }
  }

  /** Undefined for a call that came before. */
  take({ call, tool }: ToolUseBlock, seq: number): ToolResultBlock | undefined {
    if (this.#calls.has(call)) return undefined;
    this.#calls.add(call);
    const found = this.#named.get(call) ?? this.#takeNameless(seq);
    const content: readonly ResultContent[] = found?.content ?? [ownText(MISSING_RESULT)];
    return { type: "tool_result", call, tool, content, is_error: found?.status !== "ok" };
  }

  #takeNameless(seq: number): ToolResultEntry | undefined {
    const at = this.#nameless.findIndex((entry) => entry.seq >= seq);
    return at === -1 ? undefined : this.#nameless.splice(at, 1)[0];
  }
}
