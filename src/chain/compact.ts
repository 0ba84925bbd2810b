/**
 * Makes a conversation shorter: its beginning gives way to a summary that a model writes.
 *
 * 1. The event that says so is on the disk before anything is sent that builds on it: a conversation rebuilt from the log has the
 *    same messages, wherever the program ends.
 * 2. When there is no summary, nothing has changed.
 * 3. What stands around the conversation (system prompt, instructions, tools) is no part of it and stays.
 */
import { estimateTokens } from "../base/estimate-tokens.js";
import { originOf } from "../base/message-origin.js";
import { type Cut, cutConversation, hasResults } from "../context/compaction/cut.js";
import { keptTokens, type ModelLimits, summaryTokens, transcriptRoom } from "../context/compaction/limits.js";
import { type SummaryAnswer, type SummaryRequest, summarize } from "../context/compaction/summarize.js";
import {
  isInput,
  readSummary,
  requestsIn,
  summaryMessage,
  summaryText,
} from "../context/compaction/summary-message.js";
import { type MarkUntrusted, transcriptOf } from "../context/compaction/transcript.js";
import { TurnFailure } from "../engine/cancel.js";
import type { Model, ModelRequest } from "../engine/ports.js";
import { callBeside, type SidePlace } from "../engine/side-call.js";
import type { Message } from "../protocol/content.js";
import { type Failure, failure } from "../protocol/errors.js";
import { estimateRequestTokens } from "../providers/tokens/estimate-request.js";
import type { CompactionReason, RunJournal } from "./services.js";

export interface CompactionPlace extends SidePlace {
  /** The model that the conversation is with. */
  readonly model: Model;
  readonly conversation: Message[];
}

export interface CompactionTools {
  /** Writes the summaries; default: the model of the conversation. */
  summaryModel(): Promise<Model | undefined>;
  /** Undefined when unknown. */
  limitsOf(model: Model): Promise<ModelLimits | undefined>;
  readonly untrusted: MarkUntrusted;
  /** Messages as they are sent, which is what is weighed. */
  asSent(messages: readonly Message[]): readonly Message[];
  /** Texts that are to stand in every summary, word for word. */
  pinned?(): readonly string[];
  readonly journal?: Pick<RunJournal, "flush"> | undefined;
}

export interface CompactionOptions {
  readonly reason: CompactionReason;
  /** From where on the window counts as full, where that is known. */
  readonly full?: number | undefined;
  /** What the next request would take, with all that stands around the conversation, where that is known. */
  readonly tokens?: number | undefined;
  /** What the user wants to be kept in mind. */
  readonly focus?: string | undefined;
}

export type Compacted =
  | { readonly tokens: { readonly before: number; readonly after: number } }
  /** There is too little that could be left out. */
  | { readonly nothing: true }
  | { readonly failure: Failure }
  | { readonly cancelled: true };

export type Summarized = SummaryAnswer | { readonly nothing: true };

/** What is shorter is not worth a request: a summary with all that belongs to it takes about as much. */
const LEAST_TOKENS = 300;
/** The user's own words are quoted up to here. */
const REQUEST_CHARS = 8_000;
const CHARS_PER_TOKEN = 3;

export async function compact(
  place: CompactionPlace,
  options: CompactionOptions,
  tools: CompactionTools,
): Promise<Compacted> {
  const { conversation, model } = place;
  const weigh = weigher(model, tools);
  const all = weigh(conversation);
  const keep = keptTokens(all, options.full);
  const cut = cutConversation(conversation, { keep, weigh: (message) => weigh([message]) });
  if (!isWorthIt(cut, weigh, options)) return { nothing: true };
  const answer = await summaryOf(cut.older, options.focus, { place, tools, tokens: all });
  if (!("text" in answer)) return answer;
  const message = summaryMessage(wordsOf(answer.text, cut, { keep, tools }));
  const saved = all - weigh([message, ...cut.kept]);
  // A summary that is longer than the messages does not help.
  if (saved <= 0) return { nothing: true };
  const before = Math.max(options.tokens ?? all, all);
  const after = before - saved;
  const keptFrom = cut.kept[0] && originOf(cut.kept[0]);
  place.bus.publish("CompactionTriggered", {
    ...(place.turn !== undefined && { turn: place.turn.id }),
    reason: options.reason,
    summary: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    ...(keptFrom !== undefined && { kept_from: keptFrom }),
    tokens: { before, after },
  });
  try {
    await tools.journal?.flush();
  } catch (error) {
    throw new TurnFailure(failure("SessionNotSaved", { detail: (error as Error).message }));
  } finally {
    // It has been told; whether it could be saved is another question.
    conversation.splice(0, cut.older.length, message);
  }
  return { tokens: { before, after } };
}

/** A summary of the whole conversation, which stays as it is. */
export async function summarizeConversation(
  place: CompactionPlace,
  focus: string | undefined,
  tools: CompactionTools,
): Promise<Summarized> {
  if (!place.conversation.some(({ role }) => role === "assistant")) return { nothing: true };
  const tokens = weigher(place.model, tools)(place.conversation);
  return summaryOf(place.conversation, focus, { place, tools, tokens });
}

/** What is new since an earlier summary has to be worth a request. */
function isWorthIt(
  { older }: Cut,
  weigh: (messages: readonly Message[]) => number,
  options: CompactionOptions,
): boolean {
  const fresh = readSummary(older[0]) === undefined ? older : older.slice(1);
  const least = options.reason === "nearly full" ? (options.full ?? 0) / 10 : 0;
  return fresh.length > 0 && weigh(fresh) >= Math.max(LEAST_TOKENS, least);
}

interface SummaryPlace {
  readonly place: CompactionPlace;
  readonly tools: CompactionTools;
  /** Of the whole conversation, by estimate. */
  readonly tokens: number;
}

async function summaryOf(
  messages: readonly Message[],
  focus: string | undefined,
  { place, tools, tokens }: SummaryPlace,
): Promise<SummaryAnswer> {
  const model = (await tools.summaryModel()) ?? place.model;
  // For an unknown model, it is certain only that it does not read much more than this conversation.
  const limits = (await tools.limitsOf(model)) ?? { reads: Math.max(4_000, tokens), writes: 4_000 };
  const maxOutputTokens = summaryTokens(limits);
  const ask = async ({ system, input, piece, pieces }: SummaryRequest): Promise<SummaryAnswer> => {
    tellProgress(place, pieces === 1 ? "" : ` (part ${piece} of ${pieces})`);
    const messages: readonly Message[] = [{ role: "user", content: [{ type: "text", text: input }] }];
    const request: ModelRequest = { model: model.model, system, messages, tools: [], maxOutputTokens };
    const answer = await callBeside({ model, request, purpose: "summary" }, place);
    if (!("text" in answer) || answer.text.trim() !== "") return answer;
    return { failure: failure("ProviderFailed", { name: model.provider, detail: "it wrote an empty summary." }) };
  };
  const { untrusted } = tools;
  return summarize({ messages, focus, room: transcriptRoom(limits), tokensOf: estimateTokens, untrusted, ask });
}

/** The whole text of the message that stands for what was left out. */
function wordsOf(
  summary: string,
  { older, kept }: Cut,
  { keep, tools }: { readonly keep: number; readonly tools: CompactionTools },
): string {
  const quoted = Math.min(REQUEST_CHARS, keep * CHARS_PER_TOKEN);
  const { firstRequest, latestRequest } = requestsIn(older, quoted);
  const results = kept.length === 0 ? newestResults(older, { keep, untrusted: tools.untrusted }) : undefined;
  return summaryText({
    summary,
    pinned: tools.pinned?.() ?? [],
    ...(results !== undefined && { newestResults: results }),
    ...(firstRequest !== undefined && { firstRequest }),
    // A newer one among what stays is the one that counts.
    ...(latestRequest !== undefined && !kept.some(isInput) && { latestRequest }),
  });
}

/** Results that the model has not seen yet, when not even they could stay: as much of them as would have. */
function newestResults(
  messages: readonly Message[],
  { keep, untrusted }: { readonly keep: number; readonly untrusted: MarkUntrusted },
): string | undefined {
  const last = messages.at(-1);
  if (last === undefined || !hasResults(last)) return undefined;
  const resultChars = Math.floor((keep * CHARS_PER_TOKEN) / last.content.length);
  return messages
    .slice(-2)
    .map((message) => transcriptOf(message, { resultChars, untrusted }))
    .join("\n\n");
}

function weigher({ family }: Model, { asSent }: CompactionTools): (messages: readonly Message[]) => number {
  return (messages) => estimateRequestTokens({ system: "", messages: asSent(messages), tools: [] }, family);
}

function tellProgress({ bus, turn }: SidePlace, part: string): void {
  const message = `summarising the conversation${part}`;
  bus.publish("Notice", { ...(turn !== undefined && { turn: turn.id }), level: "progress", message });
}
