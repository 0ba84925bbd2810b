/** Content that waits for the user's decision, as a client lists it and decides on it. */
import type { ContentDecision, WaitingContent } from "../../protocol/queries.js";
import type { ApprovedLock, Approver } from "./approved-lock.js";
import { decide } from "./ask-pending.js";
import { effectOf, keyOf, labelOf, nameOf } from "./content.js";
import { type ContentChange, contentChange, formatSize } from "./diff-view.js";
import type { PendingItem } from "./review.js";
import { shown } from "./shown.js";

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
