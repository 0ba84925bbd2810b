/** Compares content with the decisions: what is approved, and what the user has to review. */
import { join } from "node:path";
import { revealHidden } from "../untrusted/reveal-hidden.js";
import type { ApprovedLock } from "./approved-lock.js";
import { type ChangeClass, classifyChange } from "./change-class.js";
import { type ContentItem, type FoundContent, keyOf, type Owner, type UnusableContent } from "./content.js";
import { contentChange } from "./diff-view.js";
import { isThere } from "./is-there.js";
import type { LockEntry } from "./lock-entry.js";
import { isBinary, REVIEWABLE_BYTES } from "./read-content.js";
import { readItem } from "./read-trusted.js";
import { isOwnHook } from "./user-owned.js";

export interface TrustPolicy {
  /** Changes of these classes need the user; the others are loaded and recorded. New content always needs the user. */
  readonly blocking: readonly ChangeClass[];
  /** Front matter fields whose change is metadata. */
  readonly metadataKeys: Readonly<Record<Owner, readonly string[]>>;
}

const IDLE_KEYS = ["license", "version", "author", "homepage", "metadata", "compatibility", "tags"];

/** The description of a skill is read by the model in every session, so a project's may not change unseen. */
export const DEFAULT_POLICY: TrustPolicy = {
  blocking: ["code-adjacent", "executable"],
  metadataKeys: { user: [...IDLE_KEYS, "description"], project: IDLE_KEYS },
};

export interface PendingItem {
  readonly item: ContentItem;
  readonly state: "new" | "changed" | "refused";
  readonly change: ChangeClass;
  /** Holds what was approved last, when that was kept. */
  readonly before?: Uint8Array;
  /** The item's bytes; absent when there are too many to show. */
  readonly after?: Uint8Array;
  /** It contains invisible characters. */
  readonly hasHidden: boolean;
  /** Holds what the user should know besides the content. */
  readonly note?: string;
  /** A program of the project that an approval alone does not start. */
  readonly isOff?: true;
}

export interface Review {
  readonly approved: readonly ContentItem[];
  /** Must be decided before it is loaded. */
  readonly pending: readonly PendingItem[];
  /** Changed in white space, labels or words: loaded, and told; of words the difference is shown. */
  readonly minorChanges: readonly PendingItem[];
  /** Hooks of the user that are new or changed: loaded without an approval, and shown once. */
  readonly own: readonly PendingItem[];
  /** The user refused exactly this version. */
  readonly refused: readonly PendingItem[];
  /** Approved once, and no longer there. */
  readonly removed: readonly LockEntry[];
  readonly unusable: readonly UnusableContent[];
}

export async function reviewContent(
  { roots, items, unusable }: FoundContent,
  lock: ApprovedLock,
  policy: TrustPolicy = DEFAULT_POLICY,
): Promise<Review> {
  const approved: ContentItem[] = [];
  const pending: PendingItem[] = [];
  const minorChanges: PendingItem[] = [];
  const own: PendingItem[] = [];
  const refused: PendingItem[] = [];
  const changedMeanwhile: UnusableContent[] = [];
  for (const item of items) {
    const decision = lock.decisionOn(item)?.decision;
    if (decision === "approved") {
      approved.push(item);
      continue;
    }
    const found = await look(item, lock, policy);
    if ("problem" in found) changedMeanwhile.push(found);
    else if (decision === "refused") refused.push({ ...found, state: "refused" });
    else if (isOwnHook(item)) own.push(found);
    else (isBlocking(found, policy) ? pending : minorChanges).push(found);
  }
  const removed = roots.flatMap((root) => removedFrom(root, items, lock));
  return { approved, pending, minorChanges, own, refused, removed, unusable: [...unusable, ...changedMeanwhile] };
}

/** The most lines of a difference that a message shows. A longer one needs a review. */
const MOST_SHOWN_LINES = 60;

function isBlocking(found: PendingItem, { blocking }: TrustPolicy): boolean {
  if (found.state === "new" || blocking.includes(found.change)) return true;
  if (found.change !== "prose") return false;
  const { diff } = contentChange(found);
  return found.before === undefined || diff === undefined || diff.split("\n").length > MOST_SHOWN_LINES;
}

async function look(
  item: ContentItem,
  lock: ApprovedLock,
  { metadataKeys }: TrustPolicy,
): Promise<PendingItem | UnusableContent> {
  let after: Uint8Array | undefined;
  try {
    after = item.size > REVIEWABLE_BYTES ? undefined : await readItem(item);
  } catch {
    return { ...item, problem: "changed while Oxbow read it" };
  }
  const last = lock.lastApproved(item);
  const before = last === undefined ? undefined : lock.bytesOf(last);
  const text = after === undefined || isBinary(after) ? "" : Buffer.from(after).toString("utf8");
  const note = after === undefined ? undefined : await lock.noteOn(item, after);
  return {
    item,
    state: last === undefined ? "new" : "changed",
    change: classifyChange(item, { before, after, metadataKeys: metadataKeys[item.owner] }),
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    hasHidden: revealHidden(text) !== text,
    ...(note !== undefined && { note }),
  };
}

/** Nested files are not among the items until they are touched: they count as removed only when they are not there. */
function removedFrom(root: string, items: readonly ContentItem[], lock: ApprovedLock): readonly LockEntry[] {
  const present = new Set(items.map(keyOf));
  return lock.below(root).filter((entry) => {
    if (entry.decision === "refused" || present.has(keyOf({ ...entry, root }))) return false;
    return entry.entry !== undefined || !isThere(join(root, entry.path));
  });
}
