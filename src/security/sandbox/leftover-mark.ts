/**
 * Launches a sandboxed command and learns how many processes it left behind: at its end the sandbox prints a mark with their number. The
 * mark is removed from the output.
 */
import { randomUUID } from "node:crypto";
import { type Launch, type ProcessRequest, startOnPipes } from "../../system/process-launch.js";

export function newMark(): string {
  return `oxbow-left-${randomUUID()}`;
}

export function launchWithMark(mark: string): Launch {
  return async (request) => {
    const output = new MarkedOutput(mark, request.onOutput);
    const launched = await startOnPipes({ ...request, onOutput: (chunk) => output.take(chunk) });
    return { ...launched, leftovers: () => output.leftovers() };
  };
}

class MarkedOutput {
  readonly #mark: string;
  readonly #pass: ProcessRequest["onOutput"];
  /** The end of the output, if it may be the beginning of the mark. */
  #held: Buffer = Buffer.alloc(0);
  #leftovers = 0;

  constructor(mark: string, pass: ProcessRequest["onOutput"]) {
    this.#mark = mark;
    this.#pass = pass;
  }

  take(chunk: Buffer): void {
    const all = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const at = markStart(all, this.#mark);
    const end = at + this.#mark.length;
    const [found, count] = /^:(\d{1,6}):/.exec(all.toString("latin1", end, end + MOST_DIGITS)) ?? [];
    const isOpen = found === undefined && all.length < end + MOST_DIGITS;
    this.#held = isOpen ? all.subarray(at) : Buffer.alloc(0);
    if (found !== undefined) this.#leftovers = Number(count);
    const parts =
      found === undefined
        ? [isOpen ? all.subarray(0, at) : all]
        : [all.subarray(0, at), all.subarray(end + found.length)];
    for (const part of parts) if (part.length > 0) this.#pass(part);
  }

  /** Called when all output has come: how many processes the command left behind. */
  leftovers(): number {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    if (held.length > 0) this.#pass(held);
    return this.#leftovers;
  }
}

/** `:`, up to six digits, `:`. */
const MOST_DIGITS = 8;

/** A pipe splits one short print only where the reader has no more room. Otherwise the end of a line would wait for the next one. */
const LEAST_BEGINNING = 6;
const FULL_BYTES = 32 * 1024;

/** Finds where the mark begins, whole or as far as there is text; the length if it does not. */
function markStart(text: Buffer, mark: string): number {
  const whole = text.lastIndexOf(mark);
  if (whole !== -1) return whole;
  const least = text.length < FULL_BYTES ? LEAST_BEGINNING : 1;
  for (let at = Math.max(0, text.length - mark.length + 1); at <= text.length - least; at++) {
    if (mark.startsWith(text.toString("latin1", at))) return at;
  }
  return text.length;
}
