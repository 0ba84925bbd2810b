/**
 * A summary of some messages.
 *
 * 1. Results are cut first. If the rest is too long for one request, it is summarised in pieces, each with the summary of
 *    those before it.
 * 2. A new summary includes the earlier one, so there is never more than one.
 * 3. If the model reads less than expected, the pieces get smaller.
 */
import { capText } from "../../base/cap-text.js";
import type { Message } from "../../protocol/content.js";
import type { Failure } from "../../protocol/errors.js";
import { wish } from "./continued-summary.js";
import form from "./summary-form.md";
import { readSummary } from "./summary-message.js";
import prompt from "./summary-prompt.md";
import { type MarkUntrusted, transcriptOf } from "./transcript.js";

export interface SummaryWork {
  readonly messages: readonly Message[];
  /** Holds what the user wants the summary to keep. */
  readonly focus?: string | undefined;
  /** Tokens of the conversation that one request can hold. */
  readonly room: number;
  readonly tokensOf: (text: string) => number;
  readonly untrusted: MarkUntrusted;
  readonly ask: (request: SummaryRequest) => Promise<SummaryAnswer>;
}

export interface SummaryRequest {
  readonly system: string;
  readonly input: string;
  /** The number of the piece, and of all pieces if known. */
  readonly piece: number;
  readonly pieces: number;
}

export type SummaryAnswer = { readonly text: string } | { readonly failure: Failure } | { readonly cancelled: true };

/** Limits for a tool result in characters, in the order of the attempts. */
const RESULT_CHARS = [4_000, 1_000, 300] as const;
const MOST_HALVINGS = 4;
/** An upper bound for every language. */
const CHARS_PER_TOKEN = 4;

export async function summarize(work: SummaryWork): Promise<SummaryAnswer> {
  const earlier = readSummary(work.messages[0]);
  let summary = earlier?.summary;
  let left = passages(earlier === undefined ? work.messages : work.messages.slice(1), work);
  let { room } = work;
  let done = 0;
  for (let halvings = 0; left.length > 0 || summary === undefined; ) {
    const [piece = [], ...later] = inPieces(left, room, work.tokensOf);
    const input = inputOf({ summary, conversation: piece.join("\n\n"), focus: work.focus });
    const system = `${prompt.trim()}\n\n${form.trim()}`;
    const answer = await work.ask({ system, input, piece: done + 1, pieces: done + 1 + later.length });
    if ("failure" in answer && answer.failure.reason === "ContextTooLong" && halvings++ < MOST_HALVINGS) {
      room = Math.floor(room / 2);
      continue;
    }
    if (!("text" in answer)) return answer;
    summary = answer.text;
    left = later.flat();
    done++;
  }
  return { text: summary };
}

/** The messages as text, with as much of their results as fits into one request. */
function passages(messages: readonly Message[], { room, tokensOf, untrusted }: SummaryWork): string[] {
  let written: string[] = [];
  for (const resultChars of RESULT_CHARS) {
    written = messages
      .map((message) => transcriptOf(message, { resultChars, untrusted }))
      .filter((each) => each !== "");
    if (written.reduce((sum, each) => sum + tokensOf(each), 0) <= room) break;
  }
  return written;
}

/** Joins consecutive messages while they fit. */
function inPieces(passages: readonly string[], room: number, tokensOf: (text: string) => number): string[][] {
  const pieces: string[][] = [];
  let taken = Number.POSITIVE_INFINITY;
  for (const passage of passages) {
    const whole = tokensOf(passage);
    const fitting =
      whole <= room ? passage : capText(passage, charsFor(room, passage, whole), "left out for the summary");
    const tokens = Math.min(whole, room);
    if (taken + tokens > room) {
      pieces.push([]);
      taken = 0;
    }
    pieces.at(-1)?.push(fitting);
    taken += tokens;
  }
  return pieces;
}

function charsFor(room: number, passage: string, tokens: number): number {
  return Math.floor(room * Math.min(CHARS_PER_TOKEN, passage.length / tokens) * 0.9);
}

function inputOf({
  summary,
  conversation,
  focus,
}: {
  readonly summary: string | undefined;
  readonly conversation: string;
  readonly focus: string | undefined;
}): string {
  return [
    ...(summary === undefined ? [] : [`<earlier-summary>\n${summary}\n</earlier-summary>`]),
    `<conversation>\n${conversation}\n</conversation>`,
    ...(focus === undefined ? [] : [wish(focus)]),
    "Write the summary now.",
  ].join("\n\n");
}
