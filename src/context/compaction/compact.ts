/**
 * Compacts a conversation: a summary written by a model replaces the older messages.
 *
 * 1. The event is saved before any request that uses the summary, so that the log always gives the same messages.
 * 2. Without a summary nothing changes.
 * 3. The system prompt, instructions and tools are not part of the conversation and stay.
 * 4. The conversation's own model is asked behind the conversation as it was sent, so that a cache serves all before the question. Where
 *    that does not fit, and from another model, the summary is requested with the conversation as text.
 */

import { estimateTokens } from "../../base/estimate-tokens.js";
import { originOf } from "../../base/message-origin.js";
import type { Model, ModelRequest } from "../../engine/ports.js";
import type { CompactionReason, PinnedPlace } from "../../feature/part.js";
import type { Message } from "../../protocol/content.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { EventPayloads } from "../../protocol/events.js";
import { type ConversationFrame, continuedRequest, roomBehind } from "./continued-summary.js";
import { type Cut, cutConversation, hasResults } from "./cut.js";
import { keptTokens, type ModelLimits, summaryTokens, transcriptRoom } from "./limits.js";
import { type SummaryAnswer, type SummaryRequest, summarize } from "./summarize.js";
import { isInput, readSummary, requestsIn, summaryMessage, summaryText } from "./summary-message.js";
import { type MarkUntrusted, transcriptOf } from "./transcript.js";

export interface CompactionPlace {
  /** The model that the conversation is with. */
  readonly model: Model;
  readonly conversation: Message[];
}

export interface CompactionTools {
  /** The model that writes summaries; undefined for the conversation's own. */
  summaryModel(): Promise<Model | undefined>;
  /** Undefined if they are unknown. */
  limitsOf(model: Model): Promise<ModelLimits | undefined>;
  readonly untrusted: MarkUntrusted;
  /** The estimated tokens of messages as they are sent. */
  weigh(messages: readonly Message[], model: Model): number;
  /** Messages as they are sent. */
  asSent(messages: readonly Message[]): readonly Message[];
  /** Tells what surrounds the conversation in its requests to this model; undefined before the first one. */
  frameFor(model: Model): ConversationFrame | undefined;
  /** Calls a model outside the conversation, or with the conversation as it stands. */
  ask(model: Model, request: ModelRequest, place: "beside" | "continued"): Promise<SummaryCallAnswer>;
  onProgress(part: string): void;
  /** Publishes the event; resolves when it is saved. */
  publish(event: Omit<EventPayloads["CompactionTriggered"], "turn">): Promise<void>;
  /** Texts that every summary repeats word for word. */
  pinned?(place: PinnedPlace): Promise<readonly string[]> | readonly string[];
}

/** `called`: it made a call, which is not run. */
export type SummaryCallAnswer = SummaryAnswer & { readonly called?: true };

export type { CompactionReason, PinnedPlace } from "../../feature/part.js";

export interface CompactionOptions {
  readonly reason: CompactionReason;
  /** The number of tokens at which the window counts as full; undefined if it is unknown. */
  readonly full?: number | undefined;
  /** The tokens of the whole next request; undefined if they are unknown. */
  readonly tokens?: number | undefined;
  /** Holds what the user wants the summary to keep. */
  readonly focus?: string | undefined;
  /** `all`: the summary replaces every message, also when that saves nothing. */
  readonly replaces?: "older" | "all";
}

export type Compacted =
  | { readonly tokens: { readonly before: number; readonly after: number }; readonly summary: string }
  /** There is too little to compact. */
  | { readonly nothing: true }
  /** A hook refused it. */
  | { readonly refused: string }
  | { readonly failure: Failure }
  | { readonly cancelled: true };

export type Summarized = SummaryAnswer | { readonly nothing: true };

/** A shorter conversation is not worth a request: the summary would be about as long. */
const LEAST_TOKENS = 300;
/** The limit for quotations of the user's own text. */
const REQUEST_CHARS = 8_000;
const CHARS_PER_TOKEN = 3;

export async function compact(
  place: CompactionPlace,
  options: CompactionOptions,
  tools: CompactionTools,
): Promise<Compacted> {
  const { conversation, model } = place;
  const weigh = (messages: readonly Message[]) => tools.weigh(messages, model);
  const all = weigh(conversation);
  const keep = keptTokens(all, options.full);
  const cut: Cut =
    options.replaces === "all"
      ? { older: [...conversation], kept: [] }
      : cutConversation(conversation, { keep, weigh: (message) => weigh([message]) });
  if (!isWorthIt(cut, weigh, options)) return { nothing: true };
  const answer = await summaryOf(cut, options, { place, tools, tokens: all });
  if (!("text" in answer)) return answer;
  const message = summaryMessage(await wordsOf(answer.text, cut, { keep, tools }));
  const saved = all - weigh([message, ...cut.kept]);
  // A summary must be shorter than the messages that it replaces, unless the user asks for it.
  if (saved <= 0 && options.replaces !== "all") return { nothing: true };
  const before = Math.max(options.tokens ?? all, all);
  const after = before - saved;
  const keptFrom = cut.kept[0] && originOf(cut.kept[0]);
  try {
    await tools.publish({
      reason: options.reason,
      summary: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      ...(keptFrom !== undefined && { kept_from: keptFrom }),
      tokens: { before, after },
    });
  } finally {
    // The event is published, so the conversation follows it, even if it could not be saved.
    conversation.splice(0, cut.older.length, message);
  }
  return { tokens: { before, after }, summary: answer.text.trim() };
}

/** A summary of the whole conversation, which does not change. */
export async function summarizeConversation(
  place: CompactionPlace,
  focus: string | undefined,
  tools: CompactionTools,
): Promise<Summarized> {
  if (!place.conversation.some(({ role }) => role === "assistant")) return { nothing: true };
  const tokens = tools.weigh(place.conversation, place.model);
  return summaryOf({ older: place.conversation, kept: [] }, { reason: "asked", focus }, { place, tools, tokens });
}

/** The messages since an earlier summary must be worth a request. */
function isWorthIt(
  { older }: Cut,
  weigh: (messages: readonly Message[]) => number,
  options: CompactionOptions,
): boolean {
  const fresh = readSummary(older[0]) === undefined ? older : older.slice(1);
  if (options.replaces === "all") return fresh.some(({ role }) => role === "assistant");
  const least = options.reason === "nearly full" ? (options.full ?? 0) / 10 : 0;
  return fresh.length > 0 && weigh(fresh) >= Math.max(LEAST_TOKENS, least);
}

interface SummaryPlace {
  readonly place: CompactionPlace;
  readonly tools: CompactionTools;
  /** The estimated tokens of the whole conversation. */
  readonly tokens: number;
}

async function summaryOf(cut: Cut, options: CompactionOptions, work: SummaryPlace): Promise<SummaryAnswer> {
  const { place, tools, tokens } = work;
  const chosen = await tools.summaryModel();
  const model = chosen ?? place.model;
  const known = await tools.limitsOf(model);
  const isOwn = model.provider === place.model.provider && model.model === place.model.model;
  const continued = isOwn ? await continuedSummary(cut, options, { ...work, limits: known }) : undefined;
  if (continued !== undefined) return continued;
  // For an unknown model, assume that it reads about as much as this conversation.
  const limits = known ?? { reads: Math.max(4_000, tokens), writes: 4_000 };
  const maxOutputTokens = summaryTokens(limits);
  const ask = async ({ system, input, piece, pieces }: SummaryRequest): Promise<SummaryAnswer> => {
    tools.onProgress(pieces === 1 ? "" : ` (part ${piece} of ${pieces})`);
    const messages: readonly Message[] = [{ role: "user", content: [{ type: "text", text: input }] }];
    const request: ModelRequest = { model: model.model, system, messages, tools: [], maxOutputTokens };
    const answer = await tools.ask(model, request, "beside");
    if (!("text" in answer) || answer.text.trim() !== "") return answer;
    return { failure: failure("ProviderFailed", { name: model.provider, detail: "it wrote an empty summary." }) };
  };
  const { untrusted } = tools;
  const { focus } = options;
  return summarize({
    messages: cut.older,
    focus,
    room: transcriptRoom(limits),
    tokensOf: estimateTokens,
    untrusted,
    ask,
  });
}

/** Undefined if it does not fit, or the model continued the work instead. */
async function continuedSummary(
  cut: Cut,
  { reason, focus, tokens = 0 }: CompactionOptions,
  { place: { model }, tools, tokens: all, limits }: SummaryPlace & { readonly limits: ModelLimits | undefined },
): Promise<SummaryAnswer | undefined> {
  const frame = reason === "too long" ? undefined : tools.frameFor(model);
  if (frame === undefined) return undefined;
  const room = limits && roomBehind({ tokens, all, frame }, limits);
  if (limits !== undefined && room !== undefined && room < summaryTokens(limits)) return undefined;
  tools.onProgress("");
  const { asSent } = tools;
  const request = continuedRequest(cut, { frame, focus, room, asSent, model: model.model });
  const answer = await tools.ask(model, request, "continued");
  if ("failure" in answer) return answer.failure.reason === "ContextTooLong" ? undefined : answer;
  if ("cancelled" in answer) return answer;
  return answer.called || answer.text.trim() === "" ? undefined : answer;
}

/** The whole text of the summary message. */
async function wordsOf(
  summary: string,
  { older, kept }: Cut,
  { keep, tools }: { readonly keep: number; readonly tools: CompactionTools },
): Promise<string> {
  const quoted = Math.min(REQUEST_CHARS, keep * CHARS_PER_TOKEN);
  const { firstRequest, latestRequest } = requestsIn(older, quoted);
  const results = kept.length === 0 ? newestResults(older, { keep, untrusted: tools.untrusted }) : undefined;
  return summaryText({
    summary,
    pinned: (await tools.pinned?.({ room: keep * CHARS_PER_TOKEN, kept })) ?? [],
    ...(results !== undefined && { newestResults: results }),
    ...(firstRequest !== undefined && { firstRequest }),
    // Unless the kept messages contain a newer one.
    ...(latestRequest !== undefined && !kept.some(isInput) && { latestRequest }),
  });
}

/** The part that fits of results that the model has not seen yet. */
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
