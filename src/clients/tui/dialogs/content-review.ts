/** The review of content of a folder: one decision for each file, because Oxbow uses a whole file or none of it. */
import type { ContentDecision, WaitingContent } from "../../../protocol/queries.js";
import { parseHunks } from "../../sdk/shown/hunks.js";
import type { Dialog } from "./dialog.js";
import { type ReviewFile, type ReviewOptions, type ReviewResult, type ReviewState, reviewDialog } from "./review.js";

export type ContentVerdicts = readonly ContentDecision[];

const EFFECTS = { runs: "runs code", configures: "changes settings", informs: "read by the model" } as const;
const ORDER = ["runs", "configures", "informs"] as const;

/** Programs first. */
export function contentReview(
  items: readonly WaitingContent[],
  tools: Pick<ReviewOptions, "save" | "tools"> = {},
): {
  readonly dialog: Dialog<ReviewState, ReviewResult>;
  readonly ordered: readonly WaitingContent[];
} {
  const ordered = ORDER.flatMap((effect) => items.filter((item) => item.effect === effect));
  const dialog = reviewDialog({
    title: "Content that is not approved",
    files: ordered.map(fileOf),
    unit: "file",
    words: { accepted: "approved", a: "approves" },
    showsAll: true,
    endsWhenDecided: true,
    end: ({ accepted, declined }) =>
      accepted + declined === 0
        ? "goes back, nothing is decided"
        : `approves ${accepted} and declines ${declined}, the rest waits`,
    ...tools,
  });
  return { dialog, ordered };
}

export function decisionsOf(items: readonly WaitingContent[], result: ReviewResult): ContentVerdicts {
  if (result?.kind !== "decided") return [];
  const of = (stops: readonly { readonly file: number }[], decision: ContentDecision["decision"]) =>
    stops.flatMap(({ file }) => {
      const item = items[file];
      return item === undefined ? [] : [{ id: item.id, sha256: item.sha256, decision }];
    });
  return [...of(result.accepted, "approved"), ...of(result.declined, "refused")];
}

function fileOf({ name, label, effect, owner, state, size, notes, diff, text }: WaitingContent): ReviewFile {
  const { hunks, notes: more } = parseHunks(diff ?? "");
  const empty = diff !== undefined && hunks.length === 0 ? ["The file is empty."] : [];
  return {
    path: name,
    what: `${state} ${label}${owner === "user" ? " (yours)" : ""}, ${size}, ${EFFECTS[effect]}`,
    notes: [...notes, ...more, ...empty],
    hunks,
    ...(text !== undefined && { text: { content: text, side: "new" as const } }),
    ...(state === "new" && { isNew: true as const }),
  };
}
