/**
 * Detects that a sandboxed command begins: the sandbox prints a mark right before. If the sandbox ends without the mark, the command has
 * certainly not begun, so another sandbox may run it.
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
      this.#outputs.onOutput(chunk);
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

  /** No mark will come: everything printed is output. */
  giveUp(): void {
    if (this.#before !== undefined) this.#pass(this.#before);
  }

  #pass(...parts: readonly Buffer[]): void {
    this.#before = undefined;
    this.#onSeen();
    for (const part of parts) if (part.length > 0) this.#outputs.onOutput(part);
    for (const part of this.#errors.splice(0)) this.#outputs.onErrorOutput?.(part);
  }
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
