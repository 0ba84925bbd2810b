/**
 * The worth of a model call whose process was killed, as far as its log shows: the costs, or the tokens of the answer that arrived.
 */
import { estimateTokens } from "../base/estimate-tokens.js";
import type { SessionId } from "../protocol/ids.js";
import type { SessionStore } from "./store.js";

export type LoggedWorth =
  | { readonly paid: { readonly usd: number; readonly tokens: number } }
  | { readonly output: number };

/** `after`: the last event before the call. A session that was killed before its first event has no log, so nothing arrived. */
export async function loggedCall(store: SessionStore, session: SessionId, after: number): Promise<LoggedWorth> {
  let words = "";
  let usd = 0;
  let tokens = 0;
  const events = (await store.get(session)) === undefined ? [] : store.events(session, { after });
  for await (const { kind, payload } of events) {
    if (kind === "TextDelta" || kind === "ThinkingDelta") words += payload.text;
    else if (kind === "ToolCallStarted") words += JSON.stringify(payload.args);
    else if (kind === "CostIncremented") {
      const { usage, cost } = payload;
      usd += cost?.usd ?? 0;
      tokens += usage.input + usage.output + usage.cache_read + usage.cache_write;
      if (payload.abandoned === undefined) return { paid: { usd, tokens } };
      words = "";
    } else if (kind === "TurnStarted" || kind === "TurnEnded") break;
  }
  return { output: estimateTokens(words) };
}
