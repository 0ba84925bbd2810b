/** Approved items as files of features, and those that wait as questions. */
import { basename, dirname, join } from "node:path";
import type { ExtensionFile, ExtensionKind } from "../../base/extension-files.js";
import type { ApprovedLock, Approver } from "./approved-lock.js";
import { approvedText } from "./approved-texts.js";
import { type ContentItem, EXTENSION_KINDS, labelOf, nameOf, type TrustedItem, versionOf } from "./content.js";
import { renderDiff } from "./diff-view.js";
import { isBinary, REVIEWABLE_BYTES } from "./read-content.js";
import { readItem, readTrusted, removeUnusedCopies, trustedCopies } from "./read-trusted.js";
import type { PendingItem } from "./review.js";
import { shown } from "./shown.js";

/** A file that was added or changed since the start and has no decision yet. */
export interface WaitingFile {
  readonly version: string;
  /** Its kind and name, safe to show. */
  readonly title: string;
  /** Holds what the user would approve; absent if it cannot be shown. */
  readonly text?: string;
  decide(decision: "approved" | "refused", by: Approver): Promise<void>;
}

const SHOWN = { color: false, width: 100 };
/** The limit for the text of a question, because it goes to the log. */
const MOST_SHOWN = 64 * 1024;

export function waitingFile(pending: PendingItem, lock: ApprovedLock): WaitingFile {
  const { item, change, after: bytes } = pending;
  const version = versionOf(item);
  return {
    version,
    title: `${labelOf(item.kind)} ${shown(nameOf(item))}`,
    // A file that cannot be shown cannot be approved here.
    ...(bytes !== undefined && bytes.length <= MOST_SHOWN && !isBinary(bytes) && { text: renderDiff(pending, SHOWN) }),
    decide: (decision, by) => lock.record({ decision, item, change, bytes, by, at: new Date() }),
  };
}

/** Makes files for the loaders, in the order they were found: the most global first. `programs`: the folder for their private copies. */
export function extensionFiles(
  items: readonly TrustedItem[],
  { openLock, programs }: { readonly openLock: () => ApprovedLock; readonly programs: string },
): readonly ExtensionFile[] {
  // Read at its first use: only servers need it.
  const pinsOf = (item: TrustedItem) => openLock().decisionOn(item)?.pins;
  const groups = new Map<string, Group>();
  return items.flatMap((item): ExtensionFile[] => {
    const { kind, source = dirname(join(item.root, item.path)), name = basename(item.path) } = item;
    if (!isExtension(kind)) return [];
    const key = `${kind} ${source}`;
    const group = groups.get(key) ?? new Group(programs);
    groups.set(key, group);
    group.items.push(item);
    return [{ ...fileOf(item, { kind, source, name, group }), ...(kind === "mcp" && { pins: () => pinsOf(item) }) }];
  });
}

/** The files of one kind and folder: a program finds its approved companions beside it. */
class Group {
  readonly items: TrustedItem[] = [];
  readonly #folder: string;
  #copies: Promise<ReadonlyMap<TrustedItem, string>> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async copyOf(item: TrustedItem): Promise<string> {
    this.#copies ??= trustedCopies(this.items, this.#folder).finally(() => tidy(this.#folder));
    // A file that changed meanwhile must not disable the others permanently.
    this.#copies.catch(() => {
      this.#copies = undefined;
    });
    const copy = (await this.#copies).get(item);
    if (copy === undefined) throw new Error(`${item.path} was not copied.`);
    return copy;
  }
}

const tidied = new Set<string>();

/** Once in a process. Files that cannot be removed now are removed by a later process. */
function tidy(folder: string): void {
  if (tidied.has(folder)) return;
  tidied.add(folder);
  try {
    removeUnusedCopies(folder, Date.now());
  } catch {}
}

interface Placed {
  readonly kind: ExtensionKind;
  readonly source: string;
  readonly name: string;
  readonly group: Group;
}

function fileOf(item: TrustedItem, { kind, source, name, group }: Placed): ExtensionFile {
  const { root, path, entry, owner, executable, sha256, plugin } = item;
  return {
    kind,
    scope: owner,
    path: join(root, path),
    ...(entry !== undefined && { entry }),
    ...(plugin !== undefined && { plugin }),
    ...{ source, name, executable, sha256 },
    read: () => approvedText(item, readTrusted),
    program: () => group.copyOf(item),
  };
}

function isExtension(kind: string): kind is ExtensionKind {
  return (EXTENSION_KINDS as ReadonlySet<string>).has(kind);
}

/** Shows an approved program once more: an approval from an earlier session is not enough for it. */
export async function shownAgain(item: ContentItem): Promise<PendingItem> {
  const after = item.size > REVIEWABLE_BYTES ? undefined : await readItem(item).catch(() => undefined);
  return { item, state: "new", change: "executable", hasHidden: false, ...(after !== undefined && { after }) };
}
