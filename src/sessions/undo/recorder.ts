/**
 * Writes down what the tools of a session change.
 *
 * 1. The file tools announce their changes, and so does what applies the held changes of a command: the old content is on disk before
 *    the change.
 * 2. Calls of a session and its subagents may run at the same time. A change belongs to the call that announces it.
 * 3. What writes into the workspace directly is only named: its changes are not known.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { relative, sep } from "node:path";
import type { CallId, TurnId } from "../../protocol/ids.js";
import type { ObservedChange, ObservedEntry } from "../../system/observed-change.js";
import { shownPath } from "../../system/path-bytes.js";
import { isWithin } from "../../system/within.js";
import type { Change, EntryState } from "./entry-state.js";
import type { UndoJournal } from "./journal.js";
import type { CallRecord, ChangeRecord, EndRecord } from "./records.js";

export interface BegunCall {
  readonly call: CallId;
  readonly tool: string;
  /** `announced`: a file tool reports each change. `held`: those of a command are reported before they are applied. `unknown`: nothing reports them. */
  readonly changes: "announced" | "held" | "unknown";
}

/** A call that is being recorded. */
export interface UndoCall {
  /** Changes that are announced during this belong to the call. */
  during<T>(act: () => Promise<T>): Promise<T>;
  /** `goesOn`: the call left something running behind it. Answers with the files whose changes were announced. */
  end(options?: { readonly goesOn?: boolean }): Promise<readonly string[]>;
}

export const GAPS = {
  unknown: "it wrote into the workspace directly, and undo does not cover what it changed",
  goesOn: "it left a program running in the background, and undo does not cover what that program changes",
} as const;

interface OpenCall {
  readonly record: CallRecord;
  readonly paths: string[];
}

export class UndoRecorder {
  readonly #journal: UndoJournal;
  readonly #root: string;
  readonly #open: OpenCall[] = [];
  readonly #running = new AsyncLocalStorage<OpenCall>();
  #turn: Pick<CallRecord, "turn" | "number"> | undefined;

  /** `root` is the workspace, free of symbolic links. */
  constructor(journal: UndoJournal, { root }: { readonly root: string }) {
    this.#journal = journal;
    this.#root = root;
  }

  /** To be called when a turn begins; `number` counts the turns of the session from 1. */
  startTurn(turn: TurnId, number?: number): void {
    this.#turn = { turn, ...(number !== undefined && { number }) };
  }

  /** Before a tool that changes things runs. */
  async begin({ call, tool, changes }: BegunCall): Promise<UndoCall> {
    const record = { ...this.#newRecord(call, tool), ...(changes === "announced" ? {} : { command: true as const }) };
    const open: OpenCall = { record, paths: [] };
    if (changes === "unknown") await this.#noteGap(record, GAPS.unknown);
    this.#open.push(open);
    return {
      during: (act) => this.#running.run(open, act),
      end: async ({ goesOn = false } = {}) => {
        const at = this.#open.indexOf(open);
        if (at !== -1) this.#open.splice(at, 1);
        if (at !== -1 && goesOn) await this.#noteGap(record, GAPS.goesOn);
        return open.paths;
      },
    };
  }

  /** Before a file tool changes something; what goes is on the disk when this resolves. */
  before(change: ObservedChange): Promise<void> {
    return this.beforeAll([() => change]);
  }

  /** The same for the changes of one call, which are read one after the other. */
  async beforeAll(changes: readonly (() => ObservedChange)[]): Promise<void> {
    const open = this.#running.getStore() ?? this.#open.at(-1);
    // Without one, no tool call is behind the changes.
    const record = open?.record ?? this.#newRecord("call_none", "oxbow");
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

  #noteGap(record: CallRecord, gap: string): Promise<void> {
    return this.#add(record, async () => ({ is: "end", call: record.call, gaps: [gap] }));
  }

  /** The record of the call comes first, if it is not there yet. */
  async #add(call: CallRecord, make: (journal: UndoJournal) => Promise<ChangeRecord | EndRecord>): Promise<void> {
    const journal = this.#journal;
    await journal.enter();
    try {
      const isKnown = journal.begin(this.#root).knows(call);
      const record = await make(journal);
      journal.append(...(isKnown ? [] : [call]), record);
      if (record.is === "change") await journal.sync();
    } finally {
      journal.leave();
    }
  }

  #newRecord(call: CallId, tool: string): CallRecord {
    if (this.#turn === undefined) throw new Error("The undo recorder was not told which turn it is.");
    return { is: "call", call, tool, ...this.#turn, at: this.#journal.clock.wall() };
  }

  #pathOf(absolute: string): string {
    const path = isWithin(absolute, this.#root) ? relative(this.#root, absolute) : absolute;
    return sep === "/" ? path : path.replaceAll(sep, "/");
  }
}

async function stateOf(
  entry: ObservedEntry | undefined,
  name: (content: Buffer) => Promise<string>,
): Promise<EntryState | undefined> {
  if (entry === undefined) return undefined;
  const { content, ...state } = entry;
  return content === undefined ? state : { ...state, size: content.length, content: await name(content) };
}
