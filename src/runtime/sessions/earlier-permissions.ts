/** The permissions that a session had before an earlier prompt. */
import type { RunRequest } from "../../control/host.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { OpenedRun } from "../opening.js";
import type { EarlierPermissions } from "../parts/permissions.js";
import type { SessionStores } from "./session-stores.js";

/** Undefined if the request does not go back. */
export async function earlierPermissions(
  { until, resume }: Pick<RunRequest, "until" | "resume">,
  before: OpenedRun | undefined,
  { sessions }: { readonly sessions: Pick<SessionStores, "open"> },
): Promise<EarlierPermissions | { readonly failure: Failure } | undefined> {
  if (until === undefined || before === undefined) return undefined;
  await before.journal.saved();
  const store = await sessions.open();
  for await (const event of store?.events(before.run.session, { after: until - 1, limit: 1 }) ?? []) {
    if (event.kind !== "TurnStarted" || event.id !== until) break;
    const { mode, plan = false } = event.payload;
    return { until, mode, plan, keepsIds: resume !== undefined };
  }
  return { failure: failure("InvalidInput", { detail: '"until" must be the id of a stored TurnStarted event.' }) };
}
