/** The review of content that waits for the user's approval. Approved content is in use from the next turn on. */
import type { CommandPayloads } from "../../../protocol/commands.js";
import { isJsonObject, type JsonValue } from "../../../protocol/json.js";
import type { ContentDecision, WaitingContent } from "../../../protocol/queries.js";
import { chooseDialog } from "../dialogs/choose.js";
import { type ContentVerdicts, contentReview, decisionsOf } from "../dialogs/content-review.js";
import type { DialogPlace } from "./open-named.js";
import { reviewTools } from "./review-files.js";

export async function reviewContent(place: DialogPlace): Promise<void> {
  const { client, state, open, hint } = place;
  const reply = await client.query("ListWaitingContent", { diffs: true }, state().session);
  if (!reply.ok) {
    hint(reply.failure.message);
    return;
  }
  const { items } = reply.answer;
  if (items.length === 0) {
    hint("Nothing waits for your approval.");
    return;
  }
  const { dialog, ordered } = contentReview(items, await reviewTools(place));
  open(dialog, (result) => void withPrograms(place, ordered, decisionsOf(ordered, result)));
}

/** A program of the project also needs to know how long such programs may run. */
async function withPrograms(place: DialogPlace, items: readonly WaitingContent[], verdicts: ContentVerdicts) {
  const isOff = ({ id, decision }: ContentDecision) =>
    decision === "approved" && items.some((item) => item.id === id && item.off === true);
  if (!verdicts.some(isOff)) return decide(place, items, { decisions: verdicts });
  place.open(chooseDialog(PROGRAMS_QUESTION, PROGRAMS_CHOICES), (fromNowOn) => {
    // Without an answer the programs stay undecided.
    const decisions = fromNowOn === undefined ? verdicts.filter((each) => !isOff(each)) : verdicts;
    void decide(place, items, { decisions, ...(fromNowOn === true && { run_programs: true }) });
  });
}

const PROGRAMS_QUESTION = "Run approved programs of this project from now on?";
const PROGRAMS_CHOICES = [
  { key: "y", label: "yes (/sources revoke takes it back)", answer: true },
  { key: "o", label: "only until Oxbow ends", answer: false },
];

async function decide(
  { client, state, keys, print, carrier }: DialogPlace,
  items: readonly WaitingContent[],
  approval: CommandPayloads["ApproveContent"],
): Promise<void> {
  const { decisions } = approval;
  if (decisions.length === 0) {
    const text = `Nothing was decided. ${keys.nameOf("approvals") ?? "/approve"} shows it again.`;
    print({ kind: "notice", level: "info", text });
    return;
  }
  const reply = await client.send("ApproveContent", approval, state().session);
  if (!reply.ok) print({ kind: "notice", level: "error", text: reply.failure.message });
  else for (const text of wordsOf(reply.value, items)) print({ kind: "notice", level: "info", text });
  await carrier.refresh();
}

function wordsOf(value: JsonValue | undefined, items: readonly WaitingContent[]): readonly string[] {
  const names = (key: string) => {
    const list = isJsonObject(value) ? value[key] : undefined;
    return Array.isArray(list) ? list.filter((each) => typeof each === "string") : [];
  };
  const [approved, refused] = [names("approved"), names("refused")];
  const changed = names("void").map((id) => items.find((item) => item.id === id)?.name ?? id);
  return [
    ...(approved.length === 0 ? [] : [`Approved: ${approved.join(", ")}. In use from your next prompt on.`]),
    ...(refused.length === 0 ? [] : [`Declined: ${refused.join(", ")}`]),
    ...(changed.length === 0 ? [] : [`Not decided, because it has changed since: ${changed.join(", ")}`]),
  ];
}
