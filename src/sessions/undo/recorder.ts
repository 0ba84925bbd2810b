/**
 * Writes down what the tools of a session change.
 *
 * 1. The file tools announce their changes, and so does what applies the held changes of a command: the old content is on disk before
 *    the change.
 * 2. Calls of a session and its subagents may run at the same time. A change belongs to the call that announces it.
 * 3. What writes into the workspace directly is only named: its changes are not known.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { join, relative, sep } from "node:path";
import { Once } from "../../base/once.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { CallId, TurnId } from "../../protocol/ids.js";
import { type ObservedChange, type ObservedEntry, observed } from "../../system/observed-change.js";
import type { ApplyPlan } from "../../system/overlay/apply-changes.js";
import { shownPath } from "../../system/path-bytes.js";
import { isWithin } from "../../system/within.js";
import type { Change, EntryState } from "./entry-state.js";
import type { UndoJournal } from "./journal.js";
import { MAX_KEPT_BYTES, UNDO_LIMITS } from "./limits.js";
import type { CallRecord, ChangeRecord, EndRecord } from "./records.js";

export interface BegunCall {
  readonly call: CallId;
  readonly tool: string;
  /** `announced`: a file tool reports each change. `held`: those of a command are reported before they are applied. `unknown`: nothing reports them. */
  readonly changes: "announced" | "held" | "unknown";
}

export const GAPS = {
  unknown: "it wrote into the workspace directly, and undo does not cover what it changed",
  goesOn: "it left a program running in the background, and undo does not cover what that program changes",
} as const;

export interface UndoRecorderOptions {
  /** The workspace, free of symbolic links. */
  readonly root: string;
  /** Opens the journal for the first call that makes changes; undefined for a session that is not stored: it cannot be undone. */
  open(): Promise<UndoJournal | undefined>;
  /** Turns of the session before; undefined if they were not counted. */
  readonly turnsBefore?: number | undefined;
}

const NOT_RECORDED = {
  during: <T>(act: () => Promise<T>) => act(),
  end: async (_options?: { readonly goesOn?: boolean }): Promise<readonly string[]> => [],
};

interface OpenCall {
  readonly record: CallRecord;
  readonly paths: string[];
}

export class UndoRecorder {
  readonly #options: UndoRecorderOptions;
  readonly #journal: Once<UndoJournal | undefined>;
  readonly #running = new AsyncLocalStorage<OpenCall>();
  #turn: Pick<CallRecord, "turn" | "number"> | undefined;
  #isOver = false;

  constructor(options: UndoRecorderOptions) {
    this.#options = options;
    this.#journal = new Once(options.open);
  }

  onEvent({ kind, payload }: Envelope): void {
    if (kind !== "TurnStarted") return;
    const number = this.#turn === undefined ? this.#options.turnsBefore : this.#turn.number;
    this.startTurn(payload.turn, number === undefined ? undefined : number + 1);
  }

  /** To be called when a turn begins; `number` counts the turns of the session from 1. */
  startTurn(turn: TurnId, number?: number): void {
    this.#turn = { turn, ...(number !== undefined && { number }) };
  }

  /** Before a tool that changes things runs. Changes that are announced in `during` belong to the call. */
  async begin({ call, tool, changes }: BegunCall) {
    const journal = await this.#opened();
    if (journal === undefined) return NOT_RECORDED;
    const record = {
      ...this.#newRecord(journal, call, tool),
      ...(changes !== "announced" && { command: true as const }),
    };
    const open: OpenCall = { record, paths: [] };
    if (changes === "unknown") await this.#noteGap(record, GAPS.unknown);
    return {
      during: <T>(act: () => Promise<T>) => this.#running.run(open, act),
      /** `goesOn`: the call left something running behind it. Answers with the files whose changes were announced. */
      end: async ({ goesOn = false } = {}): Promise<readonly string[]> => {
        if (goesOn) await this.#noteGap(record, GAPS.goesOn);
        return open.paths;
      },
    };
  }

  /** Before a file tool changes something; what goes is on the disk when this resolves. */
  before(change: ObservedChange): Promise<void> {
    return this.beforeAll([() => change]);
  }

  /** The same for the changes of one call. Each is read when its turn comes. */
  async beforeAll(changes: readonly (() => ObservedChange)[]): Promise<void> {
    if (this.#isOver) throw new Error("The session is closed, so Oxbow could not undo the change.");
    const journal = await this.#opened();
    if (journal === undefined) return;
    // Without one, no tool call is behind the changes.
    const open = this.#running.getStore();
    const record = open?.record ?? this.#newRecord(journal, "call_none", "oxbow");
    await this.#add(record, async (journal) => {
      const list: Change[] = [];
      for (const read of changes) {
        const change = read();
        const isKept = record.command !== true || journal.hasRoom;
        const before = await stateOf(change.before, async (content) =>
          isKept ? journal.keep(content) : journal.address(content),
        );
        const after = await stateOf(change.after, async (content) => journal.address(content));
        list.push({ path: this.#pathOf(change.absolute), before, after });
      }
      await journal.flush();
      open?.paths.push(...list.map(({ path }) => shownPath(path)));
      return { is: "change", call: record.call, list };
    });
  }

  /** Before the held changes of a command are applied. */
  beforeApplying(plans: readonly ApplyPlan[]): Promise<void> {
    return this.beforeAll(plans.flatMap(observedIn));
  }

  /** Ends recording. A call that ends later writes nothing. */
  close(): void {
    this.#isOver = true;
    void this.#journal.made?.then((journal) => journal?.close()).catch(() => {});
  }

  #noteGap(record: CallRecord, gap: string): Promise<void> {
    return this.#add(record, async () => ({ is: "end", call: record.call, gaps: [gap] }));
  }

  /** The record of the call comes first, if it is not there yet. */
  async #add(call: CallRecord, make: (journal: UndoJournal) => Promise<ChangeRecord | EndRecord>): Promise<void> {
    const journal = await this.#opened();
    if (journal === undefined) return;
    await journal.enter();
    try {
      const isKnown = journal.begin(this.#options.root).knows(call);
      const record = await make(journal);
      journal.append(...(isKnown ? [] : [call]), record);
      if (record.is === "change") await journal.sync();
    } finally {
      journal.leave();
    }
  }

  /** Undefined if nothing is recorded. */
  async #opened(): Promise<UndoJournal | undefined> {
    const journal = this.#isOver ? undefined : await this.#journal.get();
    return this.#isOver ? undefined : journal;
  }

  #newRecord({ clock }: UndoJournal, call: CallId, tool: string): CallRecord {
    if (this.#turn === undefined) throw new Error("The undo recorder was not told which turn it is.");
    return { is: "call", call, tool, ...this.#turn, at: clock.wall() };
  }

  #pathOf(absolute: string): string {
    const path = isWithin(absolute, this.#options.root) ? relative(this.#options.root, absolute) : absolute;
    return sep === "/" ? path : path.replaceAll(sep, "/");
  }
}

function observedIn({ root, upper, changes }: ApplyPlan): readonly (() => ObservedChange)[] {
  return changes
    .filter(({ recorded }) => recorded)
    .map(({ path, before, after }) => () => ({
      absolute: join(root, path),
      before: observed(join(root, path), before, UNDO_LIMITS.fileBytes),
      // Its content is only named, to recognise it later.
      after: observed(join(upper, path), after, MAX_KEPT_BYTES),
    }));
}

async function stateOf(
  entry: ObservedEntry | undefined,
  name: (content: Buffer) => Promise<string>,
): Promise<EntryState | undefined> {
  if (entry === undefined) return undefined;
  const { content, ...state } = entry;
  return content === undefined ? state : { ...state, size: content.length, content: await name(content) };
}
