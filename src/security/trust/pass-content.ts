/** From found to loaded content: reviews it, decides, and asks the user if there is a terminal. */
import type { Failure } from "../../protocol/errors.js";
import type { ApprovedLock, Approver } from "./approved-lock.js";
import { askAboutPrograms, askPending, askTogether, type Conversation, decide } from "./ask-pending.js";
import { type ContentItem, type FoundContent, labelOf, nameOf, type TrustedItem } from "./content.js";
import { decideTrust, type TrustDecision, type Withheld } from "./decide.js";
import { renderDiff } from "./diff-view.js";
import { mayRun, type ProgramsOptions } from "./programs-of-project.js";
import { type PendingItem, type Review, reviewContent, type TrustPolicy } from "./review.js";
import { count, type Look, shown } from "./shown.js";
import { renderTrustScreen } from "./trust-screen.js";

export interface PassOptions extends Look, ProgramsOptions {
  readonly folder: string;
  readonly openLock: () => ApprovedLock;
  readonly policy?: TrustPolicy;
  readonly skipUnapproved: boolean;
  /** The client shows what is not approved, so no note is about it. */
  readonly asksLater?: boolean;
  /** Asks the user; absent without a terminal. */
  readonly person?: { readonly by: Approver; readonly conversation: Conversation };
  /** Tells who sees the notes about their own hooks; absent where no one reads them. */
  readonly owner?: () => Approver;
  readonly now: () => Date;
}

export interface TrustOutcome {
  /** Holds what may be loaded, in the order it was found. */
  readonly load: readonly TrustedItem[];
  /** Messages for the user: what was skipped or changed, a line each. */
  readonly notes: readonly string[];
  /** The run ends with this, before anything was loaded. */
  readonly refuse?: Failure;
}

export async function passContent(found: FoundContent, options: PassOptions): Promise<TrustOutcome> {
  const { person, policy, skipUnapproved, leavesOutPrograms = false } = options;
  const lock = options.openLock();
  const interactive = person !== undefined;
  let review = await reviewContent(found, lock, policy);
  const programs = { mayRun: mayRun(lock, options), asksAboutPrograms: !leavesOutPrograms };
  let decision = decideTrust({ review, interactive, skipUnapproved, ...programs });
  if (person !== undefined && decision.ask.length > 0) {
    const { withheld, ask } = decision;
    person.conversation.show(renderTrustScreen(ask, { ...options, withheld, unusable: review.unusable }));
    const asking = { ...options, ...person, lock };
    const { approved } = await askPending(await askTogether(ask, asking), asking);
    await askAboutPrograms(approved, { ...asking, mayRun: programs.mayRun });
    review = await reviewContent(found, lock, policy);
    // Content that the user did not decide on is skipped.
    decision = decideTrust({ review, interactive, skipUnapproved: true, ...programs });
  }
  const { load, refuse } = decision;
  const told = [
    ...(await tellOwn(review.own, lock, options)),
    ...(await tellWords(review.minorChanges, lock, options)),
  ];
  const notes = [...told, ...notesOn(review, decision, options)];
  return { load, notes, ...(refuse !== undefined && { refuse }) };
}

const SHOWN_LINES = 12;

/** Shows each version of the user's own hooks once. */
async function tellOwn(
  own: readonly PendingItem[],
  lock: ApprovedLock,
  { owner, now, width }: PassOptions,
): Promise<readonly string[]> {
  const by = own.length > 0 ? owner?.() : undefined;
  if (by?.identity !== "human") return [];
  await keep(own, { lock, by, now });
  return own.flatMap((one) => {
    const title = `Your ${labelOf(one.item.kind)} ${shown(nameOf(one.item))}`;
    if (one.state === "new") return [`${title} is new. It runs without an approval, because the file is yours.`];
    const [, ...diff] = renderDiff(one, { color: false, width, maxLines: SHOWN_LINES }).split("\n");
    return [`${title} changed, and runs as it is now:`, ...diff.map((line) => `  ${line}`)];
  });
}

/** Shows what changed in words only, once for each version if its reader is a person. */
async function tellWords(
  changes: readonly PendingItem[],
  lock: ApprovedLock,
  { owner, now, width }: PassOptions,
): Promise<readonly string[]> {
  const prose = changes.filter(({ change }) => change === "prose");
  const by = prose.length > 0 ? owner?.() : undefined;
  if (by?.identity === "human") await keep(prose, { lock, by: { ...by, name: `${by.name} (words, shown)` }, now });
  return prose.flatMap((one) => {
    const [, ...diff] = renderDiff(one, { color: false, width }).split("\n");
    return [
      `${shown(nameOf(one.item))} changed in words since it was approved, and is used as it is now:`,
      ...diff.map((line) => `  ${line}`),
    ];
  });
}

/** Keeps the decision; where it cannot be kept, the next start shows it again. */
async function keep(
  items: readonly PendingItem[],
  place: { readonly lock: ApprovedLock; readonly by: Approver; readonly now: () => Date },
): Promise<void> {
  for (const one of items) await decide(one, "approved", place).catch(() => {});
}

function notesOn(
  { minorChanges, unusable, pending }: Review,
  { withheld }: TrustDecision,
  { asksLater, leavesOutPrograms }: Pick<PassOptions, "asksLater" | "leavesOutPrograms">,
): readonly string[] {
  const isShownLater = (item: ContentItem) => asksLater === true && pending.some((each) => each.item === item);
  const shownNow = leavesOutPrograms ? [] : withheld.filter(({ item }) => !isShownLater(item));
  const off = namesWithheld(shownNow, "project programs are off");
  const open = asksLater ? [] : namesWithheld(withheld, "not approved");
  return [
    ...minorChanges
      .filter(({ change }) => change !== "prose")
      .map(({ item }) => `${shown(nameOf(item))} changed in white space or labels since it was approved.`),
    ...(off.length > 0
      ? [
          `${count(off.length, "program")} of this project ${off.length === 1 ? "is" : "are"} off: ${firstOf(off)}. 'oxbow sources allow' runs approved ones from now on, --allow-project-hooks once.`,
        ]
      : []),
    ...(open.length > 0 ? [`Skipped because it is not approved: ${firstOf(open)}`] : []),
    ...unusable.map(({ path, problem }) => `${shown(path)} ${shown(problem)}; skipped.`),
  ];
}

const MAX_NAMED = 10;

function firstOf(names: readonly string[]): string {
  const rest = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function namesWithheld(withheld: readonly Withheld[], why: Withheld["why"]): readonly string[] {
  return withheld.filter((one) => one.why === why).map(({ item }) => shown(nameOf(item)));
}
