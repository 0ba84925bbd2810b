/** Sends the answer to a question. */
import type { EngineClient } from "../../protocol/client.js";
import type { CallId, SessionId } from "../../protocol/ids.js";
import { promoteNewRules } from "../sdk/promote-new-rules.js";
import type { PermissionAnswer } from "./permission-prompt.js";

export async function sendAnswer(
  client: EngineClient,
  { session, call }: { readonly session: SessionId | undefined; readonly call: CallId },
  { given, promote }: { readonly given: PermissionAnswer; readonly promote: (rule: number) => Promise<unknown> },
): Promise<void> {
  const { always, ...payload } = given;
  const answer = () => client.send("AnswerPermission", { call, ...payload }, session);
  if (always) await promoteNewRules(client, session, { answer, promote });
  else await answer();
}
