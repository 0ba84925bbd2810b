/** One prompt, one turn, one outcome: as text, as one JSON object, or as a stream of JSON events. */

import type { Clock } from "../../base/clock.js";
import { hintOf } from "../../base/input-hint.js";
import { jsonText } from "../../base/json-text.js";
import { paint } from "../../base/terminal-style.js";
import { safeText } from "../../base/terminal-text.js";
import { formatStats, turnStats } from "../../base/turn-stats.js";
import type { EngineClient } from "../../protocol/client.js";
import { type MediaBlock, text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { Failure } from "../../protocol/errors.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { answerQuestion } from "./permission-prompt.js";
import { sendAnswer } from "./send-answer.js";
import { Spinner } from "./spinner.js";
import type { Terminal } from "./terminal.js";
import { TextView } from "./text-view.js";

export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Warnings and delays, written to stderr if the answer is JSON. */
const NEWS: readonly Envelope["kind"][] = ["Notice", "RateLimited", "Retrying", "FailedOver", "ModelRouted"];

export interface OneShotOptions extends TurnWatchOptions {
  readonly prompt: string;
  /** Sent with the prompt. */
  readonly media?: readonly MediaBlock[];
}

export interface TurnWatchOptions {
  readonly client: EngineClient;
  readonly session: SessionId;
  readonly format: OutputFormat;
  /** Print the events as JSON lines after the answer. */
  readonly recordsAfter: boolean;
  readonly verbose: boolean;
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** The estimated time of the turn, from earlier ones. */
  readonly estimateMs?: number | undefined;
  /** Tells whether the reader closed the output, so that the outcome need not be shown. */
  readonly isReaderGone?: () => boolean;
}

export type OneShotResult = { readonly ended: EventPayloads["TurnEnded"] } | { readonly refused: Failure };

export async function runOneShot(options: OneShotOptions): Promise<OneShotResult> {
  const { client, session, terminal } = options;
  const watch = watchTurn(options);
  watch.spinner.begin("thinking", options.estimateMs);
  const reply = await client.send("SendInput", { content: [...(options.media ?? []), text(options.prompt)] }, session);
  if (!reply.ok) {
    watch.spinner.stop();
    return { refused: reply.failure };
  }
  const hint = hintOf(reply);
  if (hint !== undefined) terminal.err.write(`oxbow: ${safeText(hint)}\n`);
  return watch.end();
}

export interface TurnWatch {
  readonly spinner: Spinner;
  /** Waits for the end of the turn and prints its outcome. */
  end(): Promise<{ readonly ended: EventPayloads["TurnEnded"] }>;
}

/** Shows the events of the next turn. */
export function watchTurn(options: TurnWatchOptions): TurnWatch {
  const { client, terminal, clock, format } = options;
  const spinner = new Spinner(terminal, clock);
  const view = new TextView(terminal, spinner, {
    verbose: options.verbose,
    answer: format === "text" ? "shown" : "none",
  });
  const records: Envelope[] = [];
  let begun = false;
  let isOver = false;
  let question = new AbortController();
  const ended = new Promise<EventPayloads["TurnEnded"]>((resolve) => {
    const leave = client.subscribe((event) => {
      // The next turn has a watch of its own.
      if (isOver && event.kind === "TurnStarted") return leave();
      // Already answered, perhaps by another client.
      if (event.kind === "PermissionResolved") question.abort();
      begun ||= event.kind === "TurnStarted";
      if (format === "stream-json") terminal.out.write(`${jsonText(event)}\n`);
      // The last events of an interrupted turn come before this turn; they are not shown, but warnings are.
      else if (
        (begun || event.kind === "StreamGap" || isWarning(event)) &&
        (format === "text" || options.verbose || NEWS.includes(event.kind))
      )
        view.show(event);
      if (options.recordsAfter) records.push(event);
      if (event.kind === "PermissionRequested") {
        spinner.stop();
        question = new AbortController();
        void answer(options, event.payload, question.signal);
      }
      if (event.kind !== "TurnEnded" || !begun) return;
      isOver = true;
      resolve(event.payload);
    });
  });
  const startedAt = clock.now();
  const end = async () => {
    const result = await ended;
    spinner.stop();
    report(result, options, records);
    if (options.verbose) {
      const facts = terminal.hidesCost ? {} : { cost: result.cost, shares: result.by_model };
      const stats = turnStats(result.usage, clock.now() - startedAt, facts);
      terminal.err.write(`${paint(terminal, "dim", formatStats(stats))}\n`);
    }
    return { ended: result };
  };
  return { spinner, end };
}

export function isWarning(event: Envelope): boolean {
  return event.kind === "Notice" && event.payload.level === "warning";
}

function report(
  result: EventPayloads["TurnEnded"],
  { terminal, format, session, isReaderGone }: TurnWatchOptions,
  records: readonly Envelope[],
): void {
  if (format === "json") terminal.out.write(`${jsonText({ session, ...result }, 2)}\n`);
  for (const record of records) terminal.out.write(`${jsonText(record)}\n`);
  if (!isReaderGone?.()) finish(terminal, result);
}

async function answer(
  { client, session, terminal }: TurnWatchOptions,
  question: EventPayloads["PermissionRequested"],
  signal: AbortSignal,
): Promise<void> {
  const given = await answerQuestion(terminal, question, signal);
  const said = await sendAnswer(client, { session, call: question.call }, given);
  for (const text of said) terminal.err.write(`${safeText(text)}\n`);
}

/** Prints the line that says why there is no full answer. */
function finish(terminal: Terminal, { outcome, failure, truncated }: EventPayloads["TurnEnded"]): void {
  if (failure !== undefined) terminal.err.write(`oxbow: ${safeText(failure.message)}\n`);
  else if (outcome === "cancelled") terminal.err.write("oxbow: cancelled.\n");
  else if (truncated) terminal.err.write("oxbow: the answer was cut off at the model's output limit.\n");
}
