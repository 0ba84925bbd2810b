/** Who else is there, in words. */
import type { EngineClient } from "../../protocol/client.js";
import type { SessionId } from "../../protocol/ids.js";
import type { ClientInfo } from "../../protocol/queries.js";

/** The other clients of a session, or of the engine. */
export async function othersOf(client: EngineClient, session?: SessionId): Promise<readonly ClientInfo[]> {
  const reply = await client.query("ListClients", {}, session);
  return reply.ok ? reply.answer.clients.filter(({ id }) => id !== client.id) : [];
}

export function clientWords({ name, id, identity }: Pick<ClientInfo, "name" | "id" | "identity">): string {
  return `${name ?? id}${identity === "agent" ? " (agent)" : ""}`;
}
