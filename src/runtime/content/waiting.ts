/** Content of a folder that waits for a decision of the user. For clients that ask after they open. */
import type { ContentDecision } from "../../protocol/queries.js";
import { findAll } from "../../security/trust/ack-command.js";
import { decideTrust } from "../../security/trust/decide.js";
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
  const { allowProjectHooks } = options;
  const found = await findAll({ ...discoverOptions(options), kinds: ASKED_KINDS, importsOf, paths });
  if (found.items.length === 0) return [];
  const review = await reviewContent(found, lockOf(options));
  return decideTrust({ review, interactive: true, skipUnapproved: false, allowProjectHooks }).ask;
}

export async function decideContent(
  options: ProjectContentOptions,
  paths: readonly string[],
  decisions: readonly ContentDecision[],
): Promise<DecidedContent> {
  const pending = await waitingContent(options, paths);
  const by = approver(options.variables);
  return decideWaiting(pending, decisions, { lock: lockOf(options), by, now: () => new Date() });
}

function lockOf({ root, loaded, variables }: ProjectContentOptions) {
  return openApprovals(root, { roots: loaded.roots, variables });
}
