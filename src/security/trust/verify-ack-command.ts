/** `oxbow verify-ack`: checks that everything in a folder is approved. It makes no decisions and asks no questions. */
import { join, resolve } from "node:path";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";
import type { AckOptions, CommandResult } from "./ack-command.js";
import type { ApprovedLock } from "./approved-lock.js";
import { type ContentItem, type FoundContent, keyOf, labelOf, nameOf } from "./content.js";
import { describeFile } from "./describe.js";
import { type DiscoverOptions, findAll } from "./discover.js";
import { projectTop } from "./folders.js";
import { isThere } from "./is-there.js";
import { readItem } from "./read-trusted.js";
import { reviewContent, type TrustPolicy } from "./review.js";
import { count, shown } from "./shown.js";

export interface VerifyOptions extends DiscoverOptions, Pick<AckOptions, "paths"> {
  readonly lock: ApprovedLock;
  readonly policy?: TrustPolicy;
  /** The portable lock in use, to warn when the project could have written it. */
  readonly portableFile?: string;
}

/** Stricter than a start: a change that would only be noted there is drift here. */
export async function verifyAckCommand(options: VerifyOptions): Promise<CommandResult> {
  const found = withApproved(await findAll(options), options.lock);
  const review = await reviewContent(found, options.lock, options.policy);
  const drift = [
    ...(await changedPrograms(review.approved, options.lock)),
    ...[...review.pending, ...review.minorChanges].map(({ item, state }) => {
      const what = state === "new" ? "not approved" : "changed since it was approved";
      return `${what}: ${labelOf(item.kind)} ${fullName(item)}`;
    }),
    ...review.removed.map(
      (entry) => `removed: ${labelOf(entry.kind)} ${fullName({ ...entry, root: entry.root ?? "" })}`,
    ),
    ...review.unusable
      .filter((broken) => options.lock.lastApproved(broken) !== undefined)
      .map((broken) => `changed since it was approved: ${fullName(broken)} ${shown(broken.problem)}`),
  ];
  const notes = vouchesForItself(options);
  if (drift.length > 0) {
    const advice = `Approve on a terminal: oxbow ack${options.portableFile === undefined ? "" : ` --emit-lockfile ${shown(options.portableFile)}`}`;
    return { text: `${[...drift, advice, ...notes].join("\n")}\n`, exitCode: 5 };
  }
  const approved = `${count(review.approved.length + review.own.length, "item")} approved`;
  const refused = review.refused.length > 0 ? `, ${review.refused.length} refused` : "";
  return { text: `${[`No drift: ${approved}${refused}.`, ...notes].join("\n")}\n`, exitCode: 0 };
}

async function changedPrograms(items: readonly ContentItem[], lock: ApprovedLock): Promise<readonly string[]> {
  const found: string[] = [];
  for (const item of items) {
    if (item.kind !== "mcp") continue;
    for (const path of await lock.changedPins(item, await readItem(item)))
      found.push(`changed since it was approved: ${shown(path)}, which ${labelOf(item.kind)} ${fullName(item)} starts`);
  }
  return found;
}

/** It checks files in nested folders because they were approved, not because a tool touched them. */
function withApproved(found: FoundContent, lock: ApprovedLock): FoundContent {
  const known = new Set([...found.items, ...found.unusable].map(keyOf));
  const items = [...found.items];
  const unusable = [...found.unusable];
  for (const root of found.roots) {
    for (const entry of lock.below(root)) {
      if (entry.entry !== undefined || known.has(keyOf({ ...entry, root }))) continue;
      if (!isThere(join(root, entry.path))) continue;
      const item = describeFile({ root, path: entry.path, kind: entry.kind, owner: ownerIn(found, root) });
      if ("problem" in item) unusable.push(item);
      else items.push(item);
    }
  }
  return { ...found, items, unusable };
}

function ownerIn({ items }: FoundContent, root: string): ContentItem["owner"] {
  return items.find((item) => item.root === root)?.owner ?? "project";
}

function fullName({ root, path, ...rest }: Pick<ContentItem, "root" | "path" | "entry">): string {
  return shown(nameOf({ ...rest, path: join(root, path) }));
}

function vouchesForItself({ portableFile, folder }: VerifyOptions): readonly string[] {
  if (portableFile === undefined || !isWithin(realpathOrSelf(resolve(portableFile)), projectTop(folder))) return [];
  return [
    `Note: ${shown(portableFile)} is inside the project that it approves. Anyone who can change the project can also change it. ` +
      "If you do not trust the authors, use a lock file from another place.",
  ];
}
