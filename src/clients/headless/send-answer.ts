/** Sends the answer to a question. */
import type { EngineClient } from "../../protocol/client.js";
import type { CallId, SessionId } from "../../protocol/ids.js";
import { isJsonObject } from "../../protocol/json.js";
import { promoteNewRules } from "../sdk/promote-new-rules.js";
import type { PermissionAnswer } from "./permission-prompt.js";

/** Returns what the engine says about rules that it wrote to the profile. */
export async function sendAnswer(
  client: EngineClient,
  { session, call }: { readonly session: SessionId | undefined; readonly call: CallId },
  { always, ...payload }: PermissionAnswer,
): Promise<readonly string[]> {
  const answer = () => client.send("AnswerPermission", { call, ...payload }, session);
  const said: string[] = [];
  const promote = async (rule: number) => {
    const command = { namespace: "slash", verb: "permissions", payload: { args: `promote ${rule}` } };
    const reply = await client.send("CustomCommand", command, session);
    const text = reply.ok ? isJsonObject(reply.value) && reply.value.text : reply.failure.message;
    if (typeof text === "string") said.push(text);
  };
  if (always) await promoteNewRules(client, session, { answer, promote });
  else await answer();
  return said;
}
