/** `oxbow ack [--all] [--emit-lockfile FILE] [PATH…]`. */
import type { ContentDecision, WaitingContent } from "../../protocol/queries.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { type ApprovedLock, type Approver, portableLock } from "./approved-lock.js";
import { askPending, type Conversation, decide } from "./ask-pending.js";
import { type ContentItem, nameOf } from "./content.js";
import { renderDiff } from "./diff-view.js";
import { type DiscoverOptions, findAll } from "./discover.js";
import { projectTop } from "./folders.js";
import { type PendingItem, type Review, reviewContent, type TrustPolicy } from "./review.js";
import { count, type Look, shown } from "./shown.js";
import { renderTrustScreen } from "./trust-screen.js";
import { bulkProblem } from "./user-owned.js";
import { type DecidedContent, decideWaiting, describeWaiting } from "./waiting-content.js";

export interface CommandResult {
  readonly text: string;
  /** 0 all is approved, 4 only people may do this, 5 something is not approved. */
  readonly exitCode: 0 | 4 | 5;
}

export interface AckOptions extends DiscoverOptions, Look {
  readonly lock: ApprovedLock;
  readonly policy?: TrustPolicy;
  readonly by: Approver;
  readonly now: () => Date;
  /** Absent without a terminal. */
  readonly conversation?: Conversation;
  /** Shows all of it at once and returns the decisions, instead of asking line by line. */
  readonly review?: (items: readonly WaitingContent[]) => Promise<readonly ContentDecision[]>;
  /** Files or folders below the working folder whose instruction files to look for as well. */
  readonly paths?: readonly string[];
  /** `user-owned` is --all: one answer for everything in the user's own folder. */
  readonly which?: "one-by-one" | "user-owned";
  /** The file for a lock for other machines. */
  readonly emitTo?: string;
}

export async function ackCommand(options: AckOptions): Promise<CommandResult> {
  const { lock, emitTo } = options;
  const found = await findAll(options);
  const before = await reviewContent(found, lock, options.policy);
  const open = [...before.pending, ...before.minorChanges, ...before.refused];
  const refusal = open.length === 0 || emitTo !== undefined ? undefined : nobodyToAsk(options, open);
  if (refusal !== undefined) return refusal;
  const lines: string[] = [];
  if (open.length > 0 && mayAsk(options)) {
    lines.push(
      ...(options.which === "user-owned" ? await ackTogether(open, options) : await ackEach(open, before, options)),
    );
  }
  // Read again: what changed while the person read it is not approved.
  const now = await findAll(options);
  const after = await reviewContent(now, lock, options.policy);
  const left = [...after.pending, ...after.minorChanges];
  if (emitTo !== undefined) lines.push(await emit(emitTo, now.items, options));
  if (left.length > 0) lines.push(`Not approved: ${nameList(left.map(({ item }) => item))}`);
  else if (lines.length === 0) lines.push(nothingOpen(after));
  return { text: `${lines.join("\n")}\n`, exitCode: left.length > 0 ? 5 : 0 };
}

function mayAsk({ by, conversation }: AckOptions): boolean {
  return by.identity === "human" && conversation !== undefined;
}

function nobodyToAsk(options: AckOptions, open: readonly PendingItem[]): CommandResult | undefined {
  if (mayAsk(options)) return undefined;
  const isAgent = options.by.identity !== "human";
  const why = isAgent ? "Only a person can approve content, not an agent." : "Approving needs a terminal.";
  const names = nameList(open.map(({ item }) => item));
  return { text: `${why} Not approved: ${names}\n`, exitCode: isAgent ? 4 : 5 };
}

async function ackEach(open: readonly PendingItem[], review: Review, options: AckOptions): Promise<readonly string[]> {
  const { conversation } = options;
  if (conversation === undefined) return [];
  const { approved, refused } = options.review
    ? await ackOnScreen(open, review, { ...options, review: options.review })
    : await ackByLines(open, review, { ...options, conversation });
  return [
    ...(approved.length > 0 ? [`Approved: ${nameList(approved.map(({ item }) => item))}`] : []),
    ...(refused.length > 0 ? [`Refused: ${nameList(refused.map(({ item }) => item))}`] : []),
  ];
}

async function ackByLines(
  open: readonly PendingItem[],
  { unusable }: Review,
  options: AckOptions & { readonly conversation: Conversation },
): Promise<Pick<DecidedContent, "approved" | "refused">> {
  options.conversation.show(renderTrustScreen(open, { ...options, unusable }));
  return askPending(open, options);
}

/** The files may change while the person reads, so they are read again before a decision is written down. */
async function ackOnScreen(
  open: readonly PendingItem[],
  { unusable }: Review,
  options: AckOptions & Required<Pick<AckOptions, "review">>,
): Promise<Pick<DecidedContent, "approved" | "refused">> {
  for (const { path, problem } of unusable) options.conversation?.show(`${shown(path)} ${shown(problem)}; skipped.`);
  const decisions = await options.review(open.map((pending) => describeWaiting(pending, { diffs: true })));
  const now = await reviewContent(await findAll(options), options.lock, options.policy);
  return decideWaiting([...now.pending, ...now.minorChanges, ...now.refused], decisions, options);
}

/** One answer for what only the user can have put there; the rest is left, with the reason. */
async function ackTogether(open: readonly PendingItem[], options: AckOptions): Promise<readonly string[]> {
  const { conversation } = options;
  if (conversation === undefined) return [];
  const judged = open
    .filter(({ state }) => state !== "refused")
    .map((pending) => ({ pending, problem: bulkProblem(pending.item) }));
  const together = judged.filter(({ problem }) => problem === undefined).map(({ pending }) => pending);
  const lines = judged.flatMap(({ pending, problem }) =>
    problem === undefined ? [] : [`${shown(nameOf(pending.item))} is left out: ${shown(problem)}.`],
  );
  if (lines.length > 0) lines.push("'oxbow ack' shows and approves such files one by one.");
  if (together.length === 0) return lines;
  conversation.show(renderTrustScreen(together, { ...options, folder: options.home.config, listsAll: true }));
  if (!(await confirm(together, { ...options, conversation }))) return [...lines, "Nothing was approved."];
  for (const pending of together) await decide(pending, "approved", options);
  return [`Approved: ${nameList(together.map(({ item }) => item))}`, ...lines];
}

async function confirm(
  together: readonly PendingItem[],
  options: AckOptions & { readonly conversation: Conversation },
): Promise<boolean> {
  const { conversation } = options;
  for (;;) {
    const line = await conversation.ask(`Approve ${count(together.length, "file")} of yours? [y]es [N]o [d]iff: `);
    const answer = line?.trim().toLowerCase();
    if (answer !== "d" && answer !== "diff") return answer === "y" || answer === "yes";
    for (const pending of together) conversation.show(`\n${renderDiff(pending, options)}`);
  }
}

async function emit(file: string, items: readonly ContentItem[], options: AckOptions): Promise<string> {
  const root = projectTop(options.folder);
  const text = portableLock(
    items.filter((item) => item.owner === "project" && item.root === root),
    options.lock,
  );
  await writeFileAtomic(file, text, { mode: 0o644 });
  const decisions = text.split("\n").length - 1;
  return `${shown(file)} holds ${count(decisions, "decision")} on files of this project.`;
}

function nothingOpen({ approved, unusable }: Review): string {
  const broken = unusable.map(({ path, problem }) => `\n${shown(path)} ${shown(problem)}; skipped.`);
  if (approved.length === 0) return `There is nothing to approve here.${broken.join("")}`;
  return `${count(approved.length, "file is", "files are")} approved, none are pending.${broken.join("")}`;
}

function nameList(items: readonly ContentItem[]): string {
  return items.map((item) => shown(nameOf(item))).join(", ");
}
