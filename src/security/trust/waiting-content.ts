/** Content that waits for the user's decision, as a client lists it and decides on it. */
import type { CommandPayloads } from "../../protocol/commands.js";
import type { ContentDecision, WaitingContent } from "../../protocol/queries.js";
import type { ApprovedLock, Approver } from "./approved-lock.js";
import { decide } from "./ask-pending.js";
import {
  ASKED_KINDS,
  type ContentItem,
  effectOf,
  keyOf,
  labelOf,
  nameOf,
  needsProjectFlag,
  versionOf,
} from "./content.js";
import { decideTrust } from "./decide.js";
import { type ContentChange, contentChange, formatSize } from "./diff-view.js";
import { findAll } from "./discover.js";
import { mayRun } from "./programs-of-project.js";
import { type PendingItem, reviewContent } from "./review.js";
import { shown } from "./shown.js";
import type { TrustGateOptions } from "./trust-gate.js";

/** With `diffs`, what a person has to see before the decision. */
export function describeWaiting(
  pending: PendingItem,
  { diffs }: { readonly diffs?: true | undefined } = {},
): WaitingContent {
  const { item, state, isOff } = pending;
  const { notes, diff, text }: ContentChange = diffs ? contentChange(pending) : { notes: [] };
  return {
    id: keyOf(item),
    sha256: item.sha256,
    name: shown(nameOf(item)),
    label: labelOf(item.kind),
    effect: effectOf(item),
    owner: item.owner,
    state,
    ...(isOff && { off: true as const }),
    size: formatSize(item.size),
    notes: notes.map(({ text }) => text),
    ...(diff !== undefined && { diff }),
    ...(text !== undefined && { text }),
  };
}

export interface DecidedContent {
  readonly approved: readonly PendingItem[];
  readonly refused: readonly PendingItem[];
  /** Ids of decisions that are void: the content is another one by now, or is not there. */
  readonly void: readonly string[];
}

/** A decision is for the version that the person saw, and for no other. */
export async function decideWaiting(
  pending: readonly PendingItem[],
  decisions: readonly ContentDecision[],
  place: { readonly lock: ApprovedLock; readonly by: Approver; readonly now: () => Date },
): Promise<DecidedContent> {
  const approved: PendingItem[] = [];
  const refused: PendingItem[] = [];
  const without: string[] = [];
  for (const { id, sha256, decision } of decisions) {
    const found = pending.find(({ item }) => keyOf(item) === id && item.sha256 === sha256);
    if (found === undefined) {
      without.push(id);
      continue;
    }
    await decide(found, decision, place);
    (decision === "approved" ? approved : refused).push(found);
  }
  return { approved, refused, void: without };
}

/** Finds content of a folder that waits for a decision of the user. `paths`: files that the session touched; instruction files beside and above them are included. */
export async function waitingContent(
  options: TrustGateOptions,
  paths: readonly string[],
): Promise<readonly PendingItem[]> {
  const found = await findAll({ ...options, kinds: ASKED_KINDS, paths });
  if (found.items.length === 0) return [];
  const lock = options.openLock();
  const review = await reviewContent(found, lock);
  const may = mayRun(lock, options);
  const asksAboutPrograms = options.leavesOutPrograms !== true;
  const { ask } = decideTrust({ review, interactive: true, skipUnapproved: false, mayRun: may, asksAboutPrograms });
  const isOff = (item: ContentItem) => needsProjectFlag(item) && !may(item);
  return ask.map((each) => (isOff(each.item) ? { ...each, isOff: true } : each));
}

export async function decideContent(
  options: TrustGateOptions & Required<Pick<TrustGateOptions, "owner">>,
  paths: readonly string[],
  { decisions, run_programs: fromNowOn }: CommandPayloads["ApproveContent"],
): Promise<DecidedContent> {
  const pending = await waitingContent(options, paths);
  const by = options.owner();
  const lock = options.openLock();
  const decided = await decideWaiting(pending, decisions, { lock, by, now: () => new Date() });
  const programs = decided.approved.filter(({ isOff }) => isOff).map(({ item }) => item);
  if (!fromNowOn) for (const item of programs) options.granted?.add(versionOf(item));
  else
    for (const root of new Set(programs.map((item) => item.root)))
      lock.decidePrograms(root, "run", { by, at: new Date() });
  return decided;
}
