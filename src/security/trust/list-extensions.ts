/** Lists all extensions in folders, approved or not. */
import { join } from "node:path";
import type { ApprovedLock } from "./approved-lock.js";
import { type ContentItem, type ContentKind, EXTENSION_KINDS, keyOf, needsProjectFlag } from "./content.js";
import { type DiscoverOptions, discoverContent } from "./discover.js";
import { reviewContent } from "./review.js";

export interface ListedExtension {
  readonly kind: ContentKind;
  readonly name: string;
  readonly path: string;
  readonly entry?: string;
  readonly scope: "user" | "project";
  readonly source: string;
  /** The name of the plugin whose folder `source` is. */
  readonly plugin?: string;
  readonly executable: boolean;
  readonly state: "approved" | "waiting" | "refused";
  /** It also needs --allow-project-hooks, or the decision that programs of its project run. */
  readonly needsFlag: boolean;
  /** The more local file of this name, which Oxbow uses instead. */
  readonly shadowedBy?: string;
}

export interface UnusableFile {
  readonly path: string;
  readonly problem: string;
}

export interface ListedExtensions {
  readonly items: readonly ListedExtension[];
  readonly unusable: readonly UnusableFile[];
}

/** Kinds of which several files may have one name; the last one wins. */
const SHADOWING: ReadonlySet<ContentKind> = new Set([
  "hook",
  "tool",
  "command",
  "prompt",
  "agent",
  "skill",
  "provider",
]);

export async function listedExtensions(options: DiscoverOptions, lock: ApprovedLock): Promise<ListedExtensions> {
  const found = await discoverContent({ ...options, kinds: EXTENSION_KINDS });
  const review = await reviewContent(found, lock);
  const keys = (items: readonly ContentItem[]) => new Set(items.map(keyOf));
  const approved = keys([...review.approved, ...[...review.minorChanges, ...review.own].map(({ item }) => item)]);
  const refused = keys(review.refused.map(({ item }) => item));
  const items = found.items.map((item): ListedExtension => {
    const key = keyOf(item);
    const path = join(item.root, item.path);
    return {
      ...{ kind: item.kind, name: item.name ?? item.path, path, scope: item.owner, executable: item.executable },
      ...(item.entry !== undefined && { entry: item.entry }),
      source: item.source ?? item.root,
      ...(item.plugin !== undefined && { plugin: item.plugin }),
      state: approved.has(key) ? "approved" : refused.has(key) ? "refused" : "waiting",
      needsFlag: needsProjectFlag(item) && lock.programsRun(item.root) === undefined,
    };
  });
  return {
    items: items.map((item, index) => {
      const closer = items.slice(index + 1).findLast((other) => isSameName(item, other));
      return closer === undefined ? item : { ...item, shadowedBy: closer.path };
    }),
    unusable: review.unusable.map(({ root: top, path, problem }) => ({ path: join(top, path), problem })),
  };
}

/** Only an approved file hides another one. */
function isSameName(one: ListedExtension, other: ListedExtension): boolean {
  return (
    SHADOWING.has(one.kind) &&
    one.kind === other.kind &&
    other.state === "approved" &&
    bare(one.name) === bare(other.name) &&
    one.source !== other.source
  );
}

function bare(name: string): string {
  return name.replace(/\.(?:sh|bash|py|pl|rb|js|mjs|cjs|ts|php|lua|exe)$/i, "");
}
