/**
 * Detects that a sandboxed command begins: the sandbox prints a mark right before. If the sandbox ends without the mark, the command has
 * certainly not begun, so another sandbox may run it. At the end it prints the mark again, with the number of processes that the command
 * left behind, if there are some.
 */
import { randomUUID } from "node:crypto";
import type { Launched, ProcessRequest } from "../../system/process-launch.js";

/** A stopped sandbox prints nothing; then the time limit of the command applies. */
const START_LIMIT_MS = 2000;
/** From the end of a process to the end of its output. */
const OUTPUT_LIMIT_MS = 100;

export function newMark(): string {
  return `oxbow-starts-${randomUUID()}`;
}

type Outputs = Pick<ProcessRequest, "onOutput" | "onErrorOutput">;

/** Removes the mark from the output of a command. What is on stderr before the mark is the sandbox's. */
export class StartMark {
  readonly #mark: string;
  readonly #outputs: Outputs;
  readonly #errors: Buffer[] = [];
  readonly #seen: Promise<void>;
  #onSeen: () => void = () => {};
  #before: Buffer | undefined = Buffer.alloc(0);
  /** The end of the output, if it may be the beginning of the second mark. */
  #held: Buffer = Buffer.alloc(0);
  #leftovers = 0;

  constructor(mark: string, outputs: Outputs) {
    this.#mark = mark;
    this.#outputs = outputs;
    this.#seen = new Promise((resolve) => {
      this.#onSeen = resolve;
    });
  }

  /** The request whose output comes through here. */
  around(request: ProcessRequest): ProcessRequest {
    const { onErrorOutput } = request;
    return {
      ...request,
      onOutput: this.take,
      ...(onErrorOutput && {
        onErrorOutput: (chunk) => (this.#before === undefined ? onErrorOutput(chunk) : void this.#errors.push(chunk)),
      }),
    };
  }

  readonly take = (chunk: Buffer): void => {
    if (this.#before === undefined) {
      this.#passEnd(chunk);
      return;
    }
    this.#before = Buffer.concat([this.#before, chunk]);
    const at = this.#before.indexOf(this.#mark);
    if (at !== -1) this.#pass(this.#before.subarray(0, at), this.#before.subarray(at + this.#mark.length));
  };

  /** Whether the command begins. False when the process has ended before. */
  async begins({ exited, outputEnd, drain }: Launched): Promise<boolean> {
    let hasEnded = false;
    void exited.then(() => {
      hasEnded = true;
    });
    await atMost(START_LIMIT_MS, Promise.race([this.#seen, exited]));
    if (hasEnded && this.#before !== undefined) {
      drain();
      await atMost(OUTPUT_LIMIT_MS, Promise.race([this.#seen, outputEnd]));
    }
    return this.#before === undefined || !hasEnded;
  }

  /** Called when all output has come: how many processes the command left behind. */
  leftovers(): number {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    if (held.length > 0) this.#outputs.onOutput(held);
    return this.#leftovers;
  }

  #passEnd(chunk: Buffer): void {
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
    for (const part of parts) if (part.length > 0) this.#outputs.onOutput(part);
  }

  /** No mark will come: everything printed is output. */
  giveUp(): void {
    if (this.#before !== undefined) this.#pass(this.#before);
  }

  #pass(...parts: readonly Buffer[]): void {
    this.#before = undefined;
    this.#onSeen();
    for (const part of parts) if (part.length > 0) this.#passEnd(part);
    for (const part of this.#errors.splice(0)) this.#outputs.onErrorOutput?.(part);
  }
}

/** `:`, up to six digits, `:`. */
const MOST_DIGITS = 8;

/** A pipe splits one short print only where the reader has no more room. Otherwise the end of a line would wait for the next one. */
const LEAST_BEGINNING = 6;
const FULL_BYTES = 32 * 1024;

/** Where the mark begins, whole or as far as there is text; the length if it does not. */
function markStart(text: Buffer, mark: string): number {
  const whole = text.lastIndexOf(mark);
  if (whole !== -1) return whole;
  const least = text.length < FULL_BYTES ? LEAST_BEGINNING : 1;
  for (let at = Math.max(0, text.length - mark.length + 1); at <= text.length - least; at++) {
    if (mark.startsWith(text.toString("latin1", at))) return at;
  }
  return text.length;
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
