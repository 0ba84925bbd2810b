/** Asks the user about content, one item at a time, each with its diff. */
import type { ApprovedLock, Approver, Decision } from "./approved-lock.js";
import { type ContentItem, type Effect, effectOf, labelOf, nameOf, needsProjectFlag, versionOf } from "./content.js";
import { renderDiff } from "./diff-view.js";
import type { PendingItem } from "./review.js";
import { type Look, shown } from "./shown.js";
import { bulkProblem } from "./user-owned.js";

/** The person in front of the screen. */
export interface Conversation {
  show(text: string): void;
  /** One line; undefined when the input has ended. */
  ask(question: string): Promise<string | undefined>;
}

export interface AskOptions extends Look {
  readonly lock: ApprovedLock;
  readonly conversation: Conversation;
  readonly by: Approver;
  readonly now: () => Date;
}

export interface Answers {
  readonly approved: readonly PendingItem[];
  readonly refused: readonly PendingItem[];
  /** Not decided; asked again the next time. */
  readonly skipped: readonly PendingItem[];
}

type Answer = Decision | "skip" | "quit";

/** Holds what is shown without being asked for. */
const PREVIEW_LINES = 40;
const ORDER: readonly Effect[] = ["runs", "configures", "informs"];

/** Programs first. Each answer is saved at once, so that an interruption loses none. */
export async function askPending(pending: readonly PendingItem[], options: AskOptions): Promise<Answers> {
  const ordered = ORDER.flatMap((effect) => pending.filter(({ item }) => effectOf(item) === effect));
  const approved: PendingItem[] = [];
  const refused: PendingItem[] = [];
  for (const [index, one] of ordered.entries()) {
    const answer = await askOne(one, `${index + 1}/${ordered.length}`, options);
    if (answer === "quit") break;
    if (answer === "skip") continue;
    await decide(one, answer, options);
    (answer === "approved" ? approved : refused).push(one);
  }
  const decided = new Set([...approved, ...refused]);
  return { approved, refused, skipped: ordered.filter((one) => !decided.has(one)) };
}

/**
 * One question for all files that only the user can have written. Returns what must be asked one by one: the rest, and these too if
 * the user wants to see each.
 */
export async function askTogether(
  pending: readonly PendingItem[],
  options: AskOptions,
): Promise<readonly PendingItem[]> {
  const own = pending.filter(({ item, state }) => state !== "refused" && bulkProblem(item) === undefined);
  if (own.length < 2) return pending;
  const rest = pending.filter((one) => !own.includes(one));
  const { conversation } = options;
  conversation.show(`Yours: ${own.map(({ item }) => shown(nameOf(item))).join(", ")}`);
  const question = `Approve all ${own.length} files that are yours? [y]es [s]kip [o]ne by one [d]iff: `;
  for (;;) {
    switch ((await conversation.ask(question))?.trim().toLowerCase()) {
      case "y":
      case "yes":
        for (const one of own) await decide(one, "approved", options);
        return rest;
      case undefined:
      case "s":
      case "skip":
        return rest;
      case "o":
      case "one":
        return pending;
      case "d":
      case "diff":
        for (const one of own) conversation.show(`\n${renderDiff(one, options)}`);
        break;
      default:
        conversation.show("y approves all of them, s skips them for now, o asks about each, d shows them.");
    }
  }
}

/** The first approved program of a project also asks whether such programs run from now on. */
export async function askAboutPrograms(
  approved: readonly PendingItem[],
  options: AskOptions & { readonly granted?: Set<string>; readonly mayRun: (item: ContentItem) => boolean },
): Promise<void> {
  const { lock, conversation, by, now, granted, mayRun } = options;
  const items = approved.map(({ item }) => item).filter((item) => needsProjectFlag(item) && !mayRun(item));
  if (items.length === 0) return;
  for (;;) {
    switch (
      (await conversation.ask(`${PROGRAMS_QUESTION} [y]es [o]nly until Oxbow ends [n]o: `))?.trim().toLowerCase()
    ) {
      case "y":
      case "yes":
        for (const root of new Set(items.map((item) => item.root))) lock.decidePrograms(root, "run", { by, at: now() });
        return;
      case "o":
      case "only":
        for (const item of items) granted?.add(versionOf(item));
        return;
      case undefined:
      case "n":
      case "no":
        return;
      default:
        conversation.show(
          "y runs approved programs here without a flag, until 'oxbow sources revoke'; o runs these until Oxbow ends; n runs none.",
        );
    }
  }
}

const PROGRAMS_QUESTION = "Run approved programs of this project from now on?";

export async function decide(
  { item, change, after }: PendingItem,
  decision: Decision,
  { lock, by, now }: Pick<AskOptions, "lock" | "by" | "now">,
): Promise<void> {
  await lock.record({ decision, item, change, bytes: after, by, at: now() });
}

async function askOne(pending: PendingItem, number: string, options: AskOptions): Promise<Answer> {
  const { conversation } = options;
  const { item } = pending;
  const whole = renderDiff(pending, options);
  const preview = renderDiff(pending, { ...options, maxLines: PREVIEW_LINES });
  let isShown = preview === whole;
  const showAll = () => {
    conversation.show(whole);
    isShown = true;
  };
  conversation.show(`\n${preview}`);
  const question = `[${number}] Approve ${labelOf(item.kind)} ${shown(nameOf(item))}? [y]es [n]o [d]iff in full [s]kip [q]uit: `;
  for (;;) {
    const line = await conversation.ask(question);
    if (line === undefined) return "quit";
    switch (line.trim().toLowerCase()) {
      case "y":
      case "yes":
        if (isShown) return "approved";
        conversation.show("There is more than you have seen. This is all of it:");
        showAll();
        break;
      case "n":
      case "no":
        return "refused";
      case "s":
      case "skip":
        return "skip";
      case "q":
      case "quit":
        return "quit";
      case "d":
      case "diff":
        showAll();
        break;
      default:
        conversation.show(
          "Type y to approve it, n to decline it, d to see all of it, s to decide later, or q to stop.",
        );
    }
  }
}
