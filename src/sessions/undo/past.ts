/**
 * The files of a workspace at an earlier moment of a session, from its undo journal.
 *
 * 1. A path that no later change touched is as it is now. Any other path is as the first later change found it.
 * 2. Nothing is written and nothing is guessed: what was not kept is missing, with the reason.
 */
import { diffText } from "../../base/diff.js";
import type { SessionId } from "../../protocol/ids.js";
import type { FileChange } from "../../protocol/queries.js";
import { shownPath } from "../../system/path-bytes.js";
import { eventAt } from "../snapshot.js";
import type { SessionStore } from "../store.js";
import { type EntryState, presentAt, sameState } from "./entry-state.js";
import { type Chain, chainsOf, type Group, type JournaledChange, type TurnGroup } from "./history.js";
import type { UndoJournal } from "./journal.js";
import { commandsOf, gapNotes, realRoot } from "./plan.js";
import { textOf } from "./plan-items.js";

/** Tells whether a change had happened by then. */
export type Moment = (change: Pick<JournaledChange, "at" | "call">) => boolean;

export const BEGINNING: Moment = () => false;
export const NOW: Moment = () => true;

/** A call that ended longer ago than this many events is placed by its time alone. */
const RECENT_EVENTS = 2000;

/** The moment right after an event. */
export async function momentAfter(store: SessionStore, session: SessionId, event: number): Promise<Moment> {
  const at = event < 1 ? undefined : await eventAt(store, session, event);
  if (at === undefined) return event < 1 ? BEGINNING : NOW;
  const time = Date.parse(at.ts);
  const ended = new Set<string>();
  const running = new Set<string>();
  const after = Math.max(0, event - RECENT_EVENTS);
  for await (const { kind, payload } of store.events(session, { after, limit: event - after })) {
    if (kind === "ToolCallStarted") running.add(payload.call);
    if (kind === "ToolResult") ended.add(payload.call);
  }
  return ({ at: began, call }) => {
    if (call !== undefined && ended.has(call)) return true;
    return (call === undefined || !running.has(call)) && began < time;
  };
}

export interface PastEntry {
  /** Undefined when nothing exists there. */
  readonly state: EntryState | undefined;
  /** Of a file. */
  readonly bytes?: Buffer | undefined;
  /** Why its content is not available. */
  readonly missing?: string;
}

export class PastFiles {
  readonly #journal: UndoJournal;
  readonly #root: string;
  readonly #groups: readonly Group[];

  constructor(journal: UndoJournal, workspaceRoot: string) {
    const { groups } = journal.history();
    this.#journal = journal;
    this.#root = realRoot(workspaceRoot);
    this.#groups = groups.filter((group) => group.is === "turn" || group.state === "done");
  }

  /** Every path that the session changed, as it was at a moment. */
  at(moment: Moment): ReadonlyMap<string, PastEntry> {
    return new Map(chainsOf(this.#groups).map((chain) => [chain.path, this.#entry(chain, moment)]));
  }

  /** The paths that changed after a moment, as they were then. */
  changedSince(moment: Moment): ReadonlyMap<string, PastEntry> {
    const chains = chainsOf(this.#groups).filter(({ links }) => links.some((link) => !moment(link)));
    return new Map(chains.map((chain) => [chain.path, this.#entry(chain, moment)]));
  }

  /** What is not recorded of the turns behind one moment and before another. */
  notes(since: Moment, until: Moment = NOW): readonly string[] {
    const turns = this.#groups.filter(
      (group): group is TurnGroup => group.is === "turn" && group.calls.some((call) => !since(call) && until(call)),
    );
    const commands = commandsOf(turns);
    const general = `What ${commands} changed outside the workspace, in .git or in ignored folders is not recorded.`;
    return [...new Set([...gapNotes(turns), ...(commands === "" ? [] : [general])])];
  }

  #entry(chain: Chain, moment: Moment): PastEntry {
    const next = chain.links.find((link) => !moment(link));
    if (next !== undefined) return this.#kept(next.before);
    const left = chain.links.at(-1)?.after;
    if (left === undefined) return { state: undefined };
    const { state, bytes } = presentAt(this.#root, chain.path, (content) => this.#journal.address(content));
    if (sameState(state, left)) return { state, bytes };
    return { state: left, missing: "another program changed it since" };
  }

  #kept(state: EntryState | undefined): PastEntry {
    if (state?.kind !== "file") return { state };
    const bytes = state.content === undefined ? undefined : this.#journal.content(state.content);
    return bytes === undefined ? { state, missing: "its content was too large to keep" } : { state, bytes };
  }
}

const MOST_LINES = 400;
/** Texts larger than this get no diff. */
const MOST_TEXT_BYTES = 1024 * 1024;
const MOST_TEXTS_BYTES = 16 * 1024 * 1024;

/** What changed between two moments, by path. */
export function changesBetween(files: PastFiles, since: Moment, until: Moment): readonly FileChange[] {
  const [before, after] = [files.at(since), files.at(until)];
  let room = MOST_TEXTS_BYTES;
  const changes: FileChange[] = [];
  for (const path of [...before.keys()].sort()) {
    const [from = NOTHING, to = NOTHING] = [before.get(path), after.get(path)];
    if (sameState(from.state, to.state)) continue;
    room -= (from.bytes?.length ?? 0) + (to.bytes?.length ?? 0);
    changes.push({
      path: shownPath(path),
      change: changeOf(from, to),
      kind: (to.state ?? from.state)?.kind ?? "file",
      ...linesOf(from, to, room),
    });
  }
  return changes;
}

const NOTHING: PastEntry = { state: undefined };

function changeOf({ state: from }: PastEntry, { state: to }: PastEntry): FileChange["change"] {
  if (from === undefined) return "new";
  if (to === undefined) return "deleted";
  return from.kind === to.kind && from.content === to.content && from.target === to.target ? "chmod" : "changed";
}

function linesOf(
  from: PastEntry,
  to: PastEntry,
  room: number,
): Pick<FileChange, "added" | "removed" | "diff" | "missing"> {
  const missing = from.missing ?? to.missing;
  if (missing !== undefined) return { missing };
  if ((from.state?.kind ?? "file") !== "file" || (to.state?.kind ?? "file") !== "file") return {};
  const [old, fresh] = [from.bytes ?? Buffer.alloc(0), to.bytes ?? Buffer.alloc(0)];
  if (room < 0 || Math.max(old.length, fresh.length) > MOST_TEXT_BYTES) return { missing: "it is too large to show" };
  const [before, after] = [textOf(old), textOf(fresh)];
  if (before === undefined || after === undefined) return { missing: "it is no text" };
  const { added, removed, text } = diffText(before, after, { maxLines: MOST_LINES });
  return { added, removed, diff: text };
}
