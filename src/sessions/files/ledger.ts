/**
 * `ledger.jsonl` of one session: which calls began and how they ended.
 *
 *     {"intent":…}                  a call begins
 *     {"conclusion":…}              a call has ended
 *     {"open":[…],"highest":"…"}    now and then: the intents of all calls before this line that have no end, and the highest of their ids
 *
 * The first read goes back to the last line of the third kind. Ids grow with time, so a call with a higher id is new. For any other unknown
 * call the whole file is read.
 */
import type { CallId, SessionId } from "../../protocol/ids.js";
import { endedBefore, neverStarted, startedBefore } from "../log-rules.js";
import { type Conclusion, type Intent, StoreError } from "../store.js";
import type { LineFile } from "./line-file.js";

type StoredIntent = Omit<Intent, "session">;
type StoredConclusion = Conclusion & { readonly call: CallId };
type LedgerLine = {
  readonly intent?: StoredIntent;
  readonly conclusion?: StoredConclusion;
  readonly open?: readonly StoredIntent[];
  readonly highest?: string;
};

/** A line of the third kind follows this many others. */
const SUM_UP_AFTER = 100;

interface Call {
  readonly intent: StoredIntent;
  conclusion?: StoredConclusion;
}

/** The ledger at the last read; continues from there. */
export class Ledger {
  readonly #calls = new Map<CallId, Call>();
  #inode: number | undefined;
  #read = 0;
  /** Calls that had ended before the line that reading began with are not known. */
  #isPartial = false;
  #highest = "";
  #linesSinceSum = 0;

  /** Reads the lines since the last read. */
  async refresh(file: LineFile): Promise<void> {
    const end = await file.end();
    if (file.inode !== this.#inode || end < this.#read) {
      this.#forget(file);
      for (const text of await this.#newestLines(file)) this.#take(text, file.path);
    } else {
      for await (const lines of file.lines(this.#read)) for (const { text } of lines) this.#take(text, file.path);
    }
    this.#read = end;
  }

  /** After this, what the ledger says about a call holds. */
  async lookFor(call: CallId, file: LineFile): Promise<void> {
    if (!this.#isPartial || this.#calls.has(call) || call > this.#highest) return;
    this.#forget(file);
    for await (const lines of file.lines(0)) for (const { text } of lines) this.#take(text, file.path);
    this.#read = await file.end();
  }

  /** The line of the third kind, when it is due. */
  sum(): string | undefined {
    if (this.#linesSinceSum < SUM_UP_AFTER) return undefined;
    const calls = [...this.#calls.values()].filter(({ conclusion }) => conclusion === undefined);
    return render({ open: calls.map(({ intent }) => intent), highest: this.#highest });
  }

  #forget({ inode }: LineFile): void {
    this.#calls.clear();
    this.#read = this.#linesSinceSum = 0;
    this.#isPartial = false;
    this.#highest = "";
    this.#inode = inode;
  }

  /** The oldest first. */
  async #newestLines(file: LineFile): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const { text } of file.linesFromEnd()) {
      found.push(text);
      if (!text.startsWith('{"open":')) continue;
      this.#isPartial = true;
      break;
    }
    return found.reverse();
  }

  has(call: CallId): boolean {
    return this.#calls.has(call);
  }

  isMutating(call: CallId): boolean {
    return this.#calls.get(call)?.intent.mutating === true;
  }

  /** The line that begins a call. */
  intention({ call, tool, args_hash, mutating, whole, started_at }: Intent): string {
    if (this.#calls.has(call)) throw startedBefore(call);
    return render({ intent: { call, tool, args_hash, mutating, whole, started_at } });
  }

  /** The line that ends a call. */
  conclusion(call: CallId, { outcome, completed_at, result_event, note }: Conclusion): string {
    const begun = this.#calls.get(call);
    if (begun === undefined) throw neverStarted(call);
    if (begun.conclusion !== undefined) throw endedBefore(call, begun.conclusion.outcome);
    const rest = { ...(result_event !== undefined && { result_event }), ...(note !== undefined && { note }) };
    return render({ conclusion: { call, outcome, completed_at, ...rest } });
  }

  orphans(session: SessionId): Intent[] {
    return [...this.#calls.values()]
      .filter(({ conclusion }) => conclusion === undefined)
      .map(({ intent: { call, ...rest } }) => ({ call, session, ...rest }))
      .sort((a, b) => compare(a.started_at, b.started_at) || compare(a.call, b.call));
  }

  #take(line: string, path: string): void {
    let parsed: LedgerLine;
    try {
      parsed = JSON.parse(line) as LedgerLine;
    } catch (cause) {
      // Continuing without it could run a call twice.
      throw new StoreError("damaged", `${path} has a line that Oxbow cannot read. Restore a copy of the file.`, {
        cause,
      });
    }
    const { intent, conclusion, open, highest } = parsed;
    this.#linesSinceSum = open === undefined ? this.#linesSinceSum + 1 : 0;
    for (const each of open ?? []) if (!this.#calls.has(each.call)) this.#calls.set(each.call, { intent: each });
    if (intent !== undefined) this.#calls.set(intent.call, { intent });
    for (const id of [intent?.call, highest]) if (id !== undefined && id > this.#highest) this.#highest = id;
    const begun = conclusion && this.#calls.get(conclusion.call);
    if (begun !== undefined && conclusion !== undefined) begun.conclusion = conclusion;
  }
}

function render(line: LedgerLine): string {
  return `${JSON.stringify(line)}\n`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
