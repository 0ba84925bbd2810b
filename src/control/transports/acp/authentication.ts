/** Describes how the user gives Oxbow a model: in a terminal, because keys never pass through the editor. */
import type { AuthenticateResponse, AuthMethod } from "@agentclientprotocol/sdk";
import type { EngineClient } from "../../../protocol/client.js";
import { failure } from "../../../protocol/errors.js";
import { invalid, requestError } from "./errors.js";

const METHOD = {
  id: "oxbow-auth",
  name: "Set up a model in a terminal",
  description: "Run 'oxbow auth set PROVIDER' in a terminal, for example 'oxbow auth set anthropic'. Then try again.",
};

/** An editor that can open a terminal starts the command itself. */
export function authMethods(canOpenTerminal: boolean): AuthMethod[] {
  return [canOpenTerminal ? { ...METHOD, type: "terminal", args: ["auth", "set"] } : METHOD];
}

export async function authenticate(client: EngineClient, method: string): Promise<AuthenticateResponse> {
  if (method !== METHOD.id) throw invalid(`There is no sign-in method ${method}.`);
  const reply = await client.query("ListModels", {});
  if (!reply.ok) throw requestError(reply.failure);
  if (reply.answer.models.length > 0) return {};
  throw requestError(failure("NoModel", { detail: METHOD.description }));
}
