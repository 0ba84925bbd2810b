/**
 * The `offline` model: rules, no network, no language model. It has the interface of any other model and uses the real tools, so
 * users without a key get true answers and can try the whole loop.
 *
 * 1. The same request gives the same events.
 * 2. It keeps no state between calls: the messages alone decide what it does next.
 * 3. It computes its answers from tool results of the same turn.
 */
import { type Clock, systemClock } from "../../base/clock.js";
import type { Model, ModelEvent, ModelRequest, ModelStream } from "../../engine/ports.js";
import { hasAudio } from "../../protocol/content.js";
import { failure } from "../../protocol/errors.js";
import type { Usage } from "../../protocol/usage.js";
import { isUnderstood, matchIntent, SIGNATURE } from "./intents.js";
import { nextStep, type Step, type Toolbox } from "./plan.js";
import { parseRequestText } from "./request-text.js";
import { readCurrentTurn } from "./turn-history.js";

const CHARACTERS_PER_TOKEN = 4;

export interface OfflineOptions {
  /** The time between two lines of an answer; default: none. Where a person reads along, a long answer can then be followed and cancelled. */
  readonly lineMs?: number | undefined;
  readonly clock?: Clock;
}

export function createOfflineModel(options: OfflineOptions = {}): Model {
  return {
    provider: "offline",
    family: "offline",
    model: "offline",
    stream: (request, { signal }) => respond(request, { ...options, signal }),
  };
}

async function* respond(
  request: ModelRequest,
  { lineMs, clock = systemClock, signal }: OfflineOptions & { readonly signal: AbortSignal },
): ModelStream {
  if (request.messages.at(-1)?.content.some(({ type }) => type === "image")) {
    const detail = "this model reads only text. Choose another one with --model.";
    yield [{ type: "failure", failure: failure("ImageNotAccepted", { model: request.model, detail }) }];
    return;
  }
  if (hasAudio(request.messages.slice(-1))) {
    const { acceptAudio } = await import("../audio.js");
    const heard = acceptAudio(request, { provider: "offline" });
    if ("failure" in heard) {
      yield [{ type: "failure", failure: heard.failure }];
      return;
    }
  }
  const step = decide(request);
  const input = estimateTokens(JSON.stringify(request.messages).length + request.system.length);
  if (step.type === "calls") {
    const blocks = step.calls.map(({ tool, args }) => ({ type: "tool_call", tool, args }) as const);
    yield blocks.map((block) => ({ type: "block", block }));
    yield ending({ input, output: estimateTokens(JSON.stringify(blocks).length) }, "tool_calls");
    return;
  }
  const limit = (request.maxOutputTokens ?? Number.POSITIVE_INFINITY) * CHARACTERS_PER_TOKEN;
  const text = step.text.slice(0, limit);
  for (const [index, line] of (text.match(/.*\n|.+$/g) ?? []).entries()) {
    if (lineMs !== undefined && index > 0) await pause(lineMs, { clock, signal });
    if (signal.aborted) return;
    yield (line.match(/\s*\S+\s*|\s+/g) ?? [line]).map((piece) => ({ type: "text", text: piece }));
  }
  yield [{ type: "block", block: { type: "text", text } }];
  yield ending({ input, output: estimateTokens(text.length) }, text.length < step.text.length ? "length" : "end");
}

/** Ends early when the signal fires. */
function pause(ms: number, { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}

function ending(
  tokens: Pick<Usage, "input" | "output">,
  reason: "end" | "tool_calls" | "length",
): readonly ModelEvent[] {
  return [
    { type: "usage", usage: { ...tokens, cache_read: 0, cache_write: 0, reasoning: 0 } },
    { type: "stop", reason },
  ];
}

function decide(request: ModelRequest): Step {
  const turn = readCurrentTurn(request.messages, (text) => isUnderstood(matchIntent(parseRequestText(text))));
  const names = new Set(request.tools.map(({ name }) => name));
  const tools: Toolbox = { has: (tool) => names.has(tool) };
  const match = matchIntent(parseRequestText(turn.request));
  const step = nextStep(match.plan(tools), { facts: turn.facts, tools });
  if (step.type === "answer" && turn.first && isUnderstood(match))
    return { ...step, text: `${step.text}\n\n${SIGNATURE}` };
  return step;
}

/** This model has no tokenizer; the estimate is for budgets and status lines. */
function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
