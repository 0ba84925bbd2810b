/** Searches a place for files that extend Oxbow, and keeps those that are approved. Asks no questions. */

import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { ExtensionFile, ExtensionKind } from "../../base/extension-files.js";
import type { ApprovedLock } from "../../security/trust/approved-lock.js";
import {
  type ContentItem,
  type FoundContent,
  keyOf,
  labelOf,
  nameOf,
  needsProjectFlag,
  type TrustedItem,
  versionOf,
} from "../../security/trust/content.js";
import { renderDiff } from "../../security/trust/diff-view.js";
import { discoverContent } from "../../security/trust/discover.js";
import { passContent } from "../../security/trust/pass-content.js";
import { mayRun } from "../../security/trust/programs-of-project.js";
import { isBinary, REVIEWABLE_BYTES } from "../../security/trust/read-content.js";
import { readItem, readTrusted, removeUnusedCopies, trustedCopies } from "../../security/trust/read-trusted.js";
import { type PendingItem, reviewContent } from "../../security/trust/review.js";
import { shown } from "../../security/trust/shown.js";
import { openApprovals } from "./approvals.js";
import { approvedText } from "./approved-texts.js";
import { EXTENSION_KINDS, extensionOptions, type ProjectContentOptions } from "./content-options.js";
import type { Found, WaitingFile } from "./place-extensions.js";
import { gateOptions } from "./project-instructions.js";

export async function findExtensions(options: FindOptions): Promise<Found> {
  const first = await search(options, []);
  const isSourcesHook = ({ kind, name }: ExtensionFile) => kind === "hook" && name.startsWith("sources/");
  if (!first.files.some(isSourcesHook)) return first;
  const known = [...new Set(first.files.map(({ source }) => source))];
  const { runEarlyHooks } = await import("./early-hooks.js");
  const { sources } = await runEarlyHooks("sources", { sources: known }, { ...options, files: first.files });
  if (!Array.isArray(sources)) return { ...first, hasAllServers: false };
  const wanted = sources.filter((each) => typeof each === "string").map((each) => resolve(options.root, each));
  const extra = wanted.filter((folder) => !known.includes(folder));
  const all = extra.length === 0 ? first : await search(options, extra);
  return {
    ...all,
    files: all.files.filter(({ source }) => wanted.includes(source)),
    extra,
    hasAllServers: false,
  };
}

export interface FindOptions extends ProjectContentOptions {
  /** Files that came or changed after this time wait for an answer. */
  readonly since?: number;
}

async function search(options: FindOptions, extra: readonly string[]): Promise<Found> {
  const found = await discoverContent({ ...extensionOptions(options), extra });
  const { person: _nobody, owner: _quiet, ...rest } = gateOptions(options);
  const lock = rest.openLock();
  const { since = Number.POSITIVE_INFINITY } = options;
  const { pending, own, minorChanges, approved } = await reviewContent(found, lock);
  // The model may have changed it: what is loaded without a question at a start waits while a session runs.
  const words = minorChanges.filter(({ change }) => change === "prose");
  const may = mayRun(lock, options);
  // An approval from an earlier session is not enough.
  const isOff = (item: ContentItem) => needsProjectFlag(item) && !may(item);
  const off = since === Number.POSITIVE_INFINITY ? [] : approved.filter(isOff);
  const waiting = [...pending, ...own, ...words, ...(await Promise.all(off.map(shownAgain)))].filter(
    ({ item }) => changedAt(item) > since,
  );
  const keys = new Set(waiting.map(({ item }) => keyOf(item)));
  // The caller asks about new files, or reports that they are skipped.
  const known = { ...found, items: found.items.filter((item) => !keys.has(keyOf(item))) };
  const pass = (content: FoundContent) => passContent(content, { ...rest, skipUnapproved: true });
  const isAdded = ({ source }: ContentItem) => source !== undefined && extra.includes(source);
  const usual = await pass({ ...known, items: known.items.filter((item) => !isAdded(item)) });
  const added =
    extra.length === 0
      ? { load: [], notes: [] }
      : await pass({ ...known, items: known.items.filter(isAdded), unusable: [] });
  const load = [...usual.load, ...added.load];
  return {
    files: extensionFiles(load, options),
    folders: found.folders ?? [],
    paths: found.items.map(({ root, path }) => join(root, path)),
    notes: [...usual.notes, ...added.notes],
    lateNotes: added.notes,
    waiting: waiting.map((each) => waitingFile(each, lock)),
    hasAllServers: serversIn(found.items) === serversIn(load) && serversIn(found.unusable) === 0,
  };
}

function serversIn(items: readonly { readonly kind: string }[]): number {
  return items.filter(({ kind }) => kind === "mcp").length;
}

async function shownAgain(item: ContentItem): Promise<PendingItem> {
  const after = item.size > REVIEWABLE_BYTES ? undefined : await readItem(item).catch(() => undefined);
  return { item, state: "new", change: "executable", hasHidden: false, ...(after !== undefined && { after }) };
}

function changedAt({ root, path }: ContentItem): number {
  return statSync(join(root, path), { throwIfNoEntry: false })?.ctimeMs ?? 0;
}

const SHOWN = { color: false, width: 100 };
/** The limit for the text of a question, because it goes to the log. */
const MOST_SHOWN = 64 * 1024;

function waitingFile(pending: PendingItem, lock: ApprovedLock): WaitingFile {
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

/** In the order they were found: the most global first. */
export function extensionFiles(
  items: readonly TrustedItem[],
  options: Pick<ProjectContentOptions, "loaded" | "variables" | "root">,
): readonly ExtensionFile[] {
  const { loaded, variables, root: place } = options;
  // Read at its first use: only servers need it.
  const pinsOf = (item: TrustedItem) => openApprovals(place, { roots: loaded.roots, variables }).decisionOn(item)?.pins;
  const folder = join(loaded.roots.data, "programs");
  const groups = new Map<string, Group>();
  return items.flatMap((item): ExtensionFile[] => {
    const { kind, source = dirname(join(item.root, item.path)), name = basename(item.path) } = item;
    if (!isExtension(kind)) return [];
    const key = `${kind} ${source}`;
    const group = groups.get(key) ?? new Group(folder);
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
