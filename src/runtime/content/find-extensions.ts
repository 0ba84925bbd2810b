/** Searches a place for files that extend Oxbow, and keeps those that are approved. Asks no questions. */

import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ExtensionFile } from "../../base/extension-files.js";
import type { Variables } from "../../base/variables.js";
import {
  type ContentItem,
  type ContentKind,
  type FoundContent,
  keyOf,
  needsProjectFlag,
  type TrustedItem,
} from "../../security/trust/content.js";
import { discoverContent } from "../../security/trust/discover.js";
import { extensionFiles, shownAgain, waitingFile } from "../../security/trust/extension-files.js";
import { type ListedExtensions, listedExtensions } from "../../security/trust/list-extensions.js";
import { mayHoldContent } from "../../security/trust/may-hold-content.js";
import { passContent } from "../../security/trust/pass-content.js";
import { mayRun } from "../../security/trust/programs-of-project.js";
import { reviewContent } from "../../security/trust/review.js";
import type { LoadedSettings } from "../settings/settings.js";
import { openApprovals } from "./approvals.js";
import { discoverOptions, extensionOptions, type ProjectContentOptions } from "./content-options.js";
import type { Found } from "./place-extensions.js";
import { gateOptions } from "./project-instructions.js";

export async function findExtensions(options: FindOptions): Promise<Found> {
  const first = await search(options, []);
  const isSourcesHook = ({ kind, name }: ExtensionFile) => kind === "hook" && name.startsWith("sources/");
  if (!first.files.some(isSourcesHook)) return first;
  const known = [...new Set(first.files.map(({ source }) => source))];
  const { runEarlyHooks } = await import("../parts/containment.js");
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
    files: placedFiles(load, options),
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

function changedAt({ root, path }: ContentItem): number {
  return statSync(join(root, path), { throwIfNoEntry: false })?.ctimeMs ?? 0;
}

export function placedFiles(
  items: readonly TrustedItem[],
  options: Pick<ProjectContentOptions, "loaded" | "variables" | "root">,
): readonly ExtensionFile[] {
  const { loaded, variables, root } = options;
  const openLock = () => openApprovals(root, { roots: loaded.roots, variables });
  return extensionFiles(items, { openLock, programs: join(loaded.roots.data, "programs") });
}

interface ListedPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
}

export async function listExtensions(place: ListedPlace): Promise<ListedExtensions> {
  const { loaded, variables, root } = place;
  const options = { ...discoverOptions(place), extra: await hookSources(place) };
  return listedExtensions(options, openApprovals(root, { roots: loaded.roots, variables }));
}

const HOOKS: ReadonlySet<ContentKind> = new Set(["hook"]);

/** Finds the folders that approved hooks of the stage `sources` add. */
export async function hookSources(place: ListedPlace): Promise<readonly string[]> {
  const options: ProjectContentOptions = {
    ...place,
    ...{ color: false, width: 80, skipUnapproved: true, allowProjectHooks: false, kinds: HOOKS },
    notify: () => {},
  };
  if (!mayHoldContent(extensionOptions(options))) return [];
  return (await findExtensions(options)).extra ?? [];
}
