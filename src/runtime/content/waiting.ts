/** Content of a folder that waits for a decision of the user. For clients that ask after they open. */
import type { CommandPayloads } from "../../protocol/commands.js";
import { findAll } from "../../security/trust/ack-command.js";
import { type ContentItem, needsProjectFlag, versionOf } from "../../security/trust/content.js";
import { decideTrust } from "../../security/trust/decide.js";
import { mayRun } from "../../security/trust/programs-of-project.js";
import { type PendingItem, reviewContent } from "../../security/trust/review.js";
import { type DecidedContent, decideWaiting } from "../../security/trust/waiting-content.js";
import { approver, openApprovals } from "./approvals.js";
import { ASKED_KINDS, discoverOptions, type ProjectContentOptions } from "./content-options.js";
import { importsOf } from "./instruction-imports.js";

/** `paths`: files that the session touched; instruction files beside and above them are included. */
export async function waitingContent(
  options: ProjectContentOptions,
  paths: readonly string[],
): Promise<readonly PendingItem[]> {
  const found = await findAll({ ...discoverOptions(options), kinds: ASKED_KINDS, importsOf, paths });
  if (found.items.length === 0) return [];
  const lock = lockOf(options);
  const review = await reviewContent(found, lock);
  const may = mayRun(lock, options);
  const asksAboutPrograms = options.leavesOutPrograms !== true;
  const { ask } = decideTrust({ review, interactive: true, skipUnapproved: false, mayRun: may, asksAboutPrograms });
  const isOff = (item: ContentItem) => needsProjectFlag(item) && !may(item);
  return ask.map((each) => (isOff(each.item) ? { ...each, isOff: true } : each));
}

export async function decideContent(
  options: ProjectContentOptions,
  paths: readonly string[],
  { decisions, run_programs: fromNowOn }: CommandPayloads["ApproveContent"],
): Promise<DecidedContent> {
  const pending = await waitingContent(options, paths);
  const by = approver(options.variables);
  const lock = lockOf(options);
  const decided = await decideWaiting(pending, decisions, { lock, by, now: () => new Date() });
  const programs = decided.approved.filter(({ isOff }) => isOff).map(({ item }) => item);
  if (!fromNowOn) for (const item of programs) options.granted?.add(versionOf(item));
  else
    for (const root of new Set(programs.map((item) => item.root)))
      lock.decidePrograms(root, "run", { by, at: new Date() });
  return decided;
}

function lockOf({ root, loaded, variables }: ProjectContentOptions) {
  return openApprovals(root, { roots: loaded.roots, variables });
}
