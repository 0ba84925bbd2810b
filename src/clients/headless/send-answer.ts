/** Sends the answer to a question. */
import type { EngineClient } from "../../protocol/client.js";
import type { CallId, SessionId } from "../../protocol/ids.js";
import { isJsonObject } from "../../protocol/json.js";
import type { PermissionAnswer } from "../sdk/permission-choices.js";

/** Returns what the engine says about rules that it wrote to the profile. */
export async function sendAnswer(
  client: EngineClient,
  { session, call }: { readonly session: SessionId | undefined; readonly call: CallId },
  { always, ...payload }: PermissionAnswer,
): Promise<readonly string[]> {
  await client.send("AnswerPermission", { call, ...payload }, session);
  if (always === undefined) return [];
  const command = { namespace: "slash", verb: "permissions", payload: { args: `promote ${call} ${always}` } };
  const reply = await client.send("CustomCommand", command, session);
  const text = reply.ok ? isJsonObject(reply.value) && reply.value.text : reply.failure.message;
  return typeof text === "string" ? [text] : [];
}
