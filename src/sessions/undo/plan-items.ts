/** The entries of an undo plan, each looked at where it is. */

import { inFolder, type WayBlockedError } from "../../system/held-folder.js";
import { namesIn } from "../../system/path-bytes.js";
import { type EntryState, type Present, presentAt, sameContent, sameState } from "./entry-state.js";
import { type Chain, chainsOf, linksInEffect } from "./history.js";
import type { UndoJournal } from "./journal.js";
import { nameOf, type Selection } from "./selection.js";

export type UndoAction =
  /** Its old content comes back. */
  | "restore"
  /** It was made, and goes. */
  | "delete"
  /** It was deleted, and comes back. */
  | "recreate"
  /** Only its permissions change. */
  | "chmod";

export interface UndoItem {
  /** Relative to the workspace with forward slashes; absolute for other paths. */
  readonly path: string;
  readonly action: UndoAction;
  readonly kind: EntryState["kind"];
  readonly state: "ready" | "conflict" | "impossible";
  /** Why it is not ready. */
  readonly reason?: string;
  /** The tools that changed it. */
  readonly tools: readonly string[];
  /** The current and the planned state; undefined means that nothing exists. */
  readonly from: EntryState | undefined;
  readonly to: EntryState | undefined;
  /** For a diff, where both are text. */
  readonly text?: { readonly from: string; readonly to: string };
  /** The planned bytes, where no earlier version had them. */
  readonly bytes?: Buffer;
}

export interface ItemPlannerOptions {
  readonly root: string;
  readonly selection: Selection;
}

/** Texts larger than this are not worth a diff on a screen. */
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_TEXTS_BYTES = 16 * 1024 * 1024;

export class ItemPlanner {
  readonly #journal: UndoJournal;
  readonly #root: string;
  readonly #selection: Selection;
  readonly #items = new Map<string, UndoItem>();
  readonly #blocked = new Map<string, WayBlockedError>();
  readonly #keptFolders: string[] = [];
  #textBytes = 0;

  constructor(journal: UndoJournal, { root, selection }: ItemPlannerOptions) {
    this.#journal = journal;
    this.#root = root;
    this.#selection = selection;
  }

  plan(): { readonly items: readonly UndoItem[]; readonly keptFolders: readonly string[] } {
    for (const chain of chainsOf(this.#selection.chosen)) this.#add(chain);
    const paths = [...this.#items.keys()].sort((left, right) => depthOf(left) - depthOf(right));
    for (const path of paths) this.#checkWay(path);
    for (const path of paths.reverse()) this.#checkFolder(path);
    const items = [...this.#items.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
    return { items, keptFolders: this.#keptFolders };
  }

  #add(chain: Chain): void {
    const { path } = chain;
    const present = presentAt(this.#root, path, (content) => this.#journal.address(content));
    const links = linksInEffect(chain, present.state);
    const to = (links ?? chain.links)[0]?.before;
    // Already restored: by hand.
    if (links?.length === 0 || sameState(present.state, to)) return;
    const left = chain.links.at(-1)?.after;
    const item: UndoItem = {
      path,
      action: actionOf(present.state ?? left, to),
      kind: (to ?? present.state ?? left)?.kind ?? "file",
      tools: [...new Set(chain.links.map((change) => change.tool))],
      from: present.state,
      to,
      ...(chain.isBroken
        ? conflict("another program changed it between the changes to undo")
        : links === undefined
          ? this.#whoChanged(chain, present.state)
          : this.#obstacle({ left: links.at(-1)?.after, present, to })),
    };
    const text = this.#text(item, present);
    this.#items.set(path, text === undefined ? item : { ...item, text });
    if (present.blocked !== undefined) this.#blocked.set(path, present.blocked);
  }

  #obstacle(entry: {
    readonly left: EntryState | undefined;
    readonly present: Present;
    readonly to: EntryState | undefined;
  }): Verdict {
    const { left, present, to } = entry;
    if (to?.kind === "other" || left?.kind === "other")
      return impossible("it is neither a file nor a link nor a folder");
    if (to === undefined && left?.kind === "file" && left.content === undefined) {
      return impossible("it is too large to back up, so undo does not delete it: delete it yourself");
    }
    if (present.state?.kind === "file" && present.bytes === undefined) {
      return impossible("it is too large to back up, or unreadable, so undo leaves it unchanged");
    }
    if (to?.kind === "file" && (to.content === undefined || !this.#journal.has(to.content))) {
      return impossible("there is no backup of its old content: it was too large");
    }
    return { state: "ready" };
  }

  #whoChanged({ path, links }: Chain, state: EntryState | undefined): Verdict {
    const last = links.at(-1);
    if (last?.after?.kind === "file" && last.after.content === undefined && state?.kind === "file")
      return impossible("it is too large to back up, so undo leaves it unchanged");
    const later = this.#selection.others.find((group) =>
      group.changes.some((change) => change.path === path && change.order > (last?.order ?? 0)),
    );
    const first = this.#selection.chosen[0];
    if (later?.is === "turn" && first?.is === "turn") {
      const from = first.number ?? first.id;
      return conflict(`${nameOf(later).toLowerCase()} changed it again: undo both with --from ${from}`);
    }
    if (state === undefined) return conflict("another program removed it since");
    if (last?.after === undefined) return conflict("another program created it again since");
    const isFile = state.kind === "file" && last.after.kind === "file";
    if (isFile && sameContent(state, last.after)) return conflict("another program changed its permissions since");
    return conflict("another program changed it since");
  }

  /** Restored entries need their folders: they exist, are restored as well, or are created. */
  #checkWay(path: string): void {
    const item = this.#items.get(path);
    const blocked = this.#blocked.get(path);
    if (blocked === undefined || item?.to === undefined || item.state !== "ready") return;
    const obstacle = this.#items.get(blocked.at);
    if (obstacle === undefined && blocked.by === "nothing") this.#makeParents(path, blocked.at);
    else if (obstacle?.state !== "ready" || obstacle.to?.kind !== "folder") {
      this.#items.set(path, { ...item, ...conflict(blocked.message) });
    }
  }

  #makeParents(path: string, first: string): void {
    for (let folder = first; folder.length < path.lastIndexOf("/") + 1; ) {
      if (!this.#items.has(folder)) {
        const to = { kind: "folder" } as const;
        this.#items.set(folder, {
          path: folder,
          action: "recreate",
          kind: "folder",
          state: "ready",
          tools: [],
          from: undefined,
          to,
        });
      }
      const next = path.indexOf("/", folder.length + 1);
      if (next === -1) return;
      folder = path.slice(0, next);
    }
  }

  /** A folder goes only when all that is in it goes. */
  #checkFolder(path: string): void {
    const item = this.#items.get(path);
    if (item?.state !== "ready" || item.from?.kind !== "folder" || item.to?.kind === "folder") return;
    const names = inFolder(this.#root, path, (at) => namesIn(at));
    const goes = (name: string) => {
      const inside = this.#items.get(`${path}/${name}`);
      return inside?.state === "ready" && inside.to === undefined;
    };
    if (names.every(goes)) return;
    if (item.to !== undefined) this.#items.set(path, { ...item, ...conflict("it now holds other files") });
    else {
      this.#items.delete(path);
      this.#keptFolders.push(path);
    }
  }

  #text({ from, to }: UndoItem, { bytes }: Present): UndoItem["text"] {
    if ((from?.kind ?? "file") !== "file" || (to?.kind ?? "file") !== "file") return undefined;
    if ((from?.size ?? 0) > MAX_TEXT_BYTES || (to?.size ?? 0) > MAX_TEXT_BYTES) return undefined;
    const old = to === undefined ? Buffer.alloc(0) : this.#journal.content(to.content ?? "");
    const now = from === undefined ? Buffer.alloc(0) : bytes;
    if (old === undefined || now === undefined) return undefined;
    this.#textBytes += old.length + now.length;
    const [before, after] = [textOf(now), textOf(old)];
    if (before === undefined || after === undefined || this.#textBytes > MAX_TEXTS_BYTES) return undefined;
    return { from: before, to: after };
  }
}

type Verdict = Pick<UndoItem, "state" | "reason">;

function conflict(reason: string): Verdict {
  return { state: "conflict", reason };
}

function impossible(reason: string): Verdict {
  return { state: "impossible", reason };
}

function actionOf(from: EntryState | undefined, to: EntryState | undefined): UndoAction {
  if (to === undefined) return "delete";
  if (from === undefined) return "recreate";
  const isMode = from.kind === to.kind && (from.kind === "folder" || (from.kind === "file" && sameContent(from, to)));
  return isMode ? "chmod" : "restore";
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined for bytes that are no text. */
export function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function depthOf(path: string): number {
  return path.split("/").length;
}
