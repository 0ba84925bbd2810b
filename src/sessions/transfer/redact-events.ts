/**
 * Hides secrets in events that leave or enter.
 *
 * 1. An answer's text is judged as a whole: a secret that is cut into deltas is found. Deltas stay as they are where that
 *    changes nothing; otherwise the first holds the whole text and the others are empty, so that their number stays.
 * 2. One answer's text is held at a time.
 */
import type { Envelope } from "../../protocol/envelope.js";
import { EventRedaction } from "../redacted-events.js";

export type Redact = (text: string) => string;

type Delta = Extract<Envelope, { kind: "TextDelta" | "ThinkingDelta" }>;

export async function* redactEvents(events: AsyncIterable<Envelope>, redact: Redact): AsyncGenerator<Envelope> {
  // Deltas do not reach it.
  const whole = new EventRedaction({ redact, stream: () => ({ push: () => [], end: () => [] }) });
  let run: Delta[] = [];
  for await (const event of events) {
    const delta = event.kind === "TextDelta" || event.kind === "ThinkingDelta" ? event : undefined;
    if (run.length > 0 && run[0]?.kind !== event.kind) {
      yield* redactRun(run, redact);
      run = [];
    }
    if (delta === undefined) {
      yield* whole.take(event);
      continue;
    }
    run.push(delta);
    if (delta.kind === "ThinkingDelta" && delta.payload.opaque !== undefined) {
      yield* redactRun(run, redact);
      run = [];
    }
  }
  yield* redactRun(run, redact);
}

function redactRun(run: readonly Delta[], redact: Redact): readonly Envelope[] {
  const whole = redact(run.map(({ payload }) => payload.text).join(""));
  const pieces = run.map(({ payload }) => redact(payload.text));
  const texts = pieces.join("") === whole ? pieces : run.map((_, index) => (index === 0 ? whole : ""));
  return run.map((event, index) => withText(event, texts[index] ?? ""));
}

function withText(event: Delta, text: string): Envelope {
  return event.payload.text === text ? event : ({ ...event, payload: { ...event.payload, text } } as Envelope);
}
