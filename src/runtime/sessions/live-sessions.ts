/** The open sessions of an engine: what they do, and who is in them. */
import { safeLine } from "../../base/terminal-text.js";
import type { Host } from "../../control/host.js";
import type { SessionId } from "../../protocol/ids.js";

export interface LiveSession {
  /** A turn runs, a question waits for the user, or neither. */
  readonly state: "running" | "waiting" | "idle";
  /** Names of the clients that are attached. */
  readonly clients: readonly string[];
}

export type LiveSessions = () => Promise<ReadonlyMap<SessionId, LiveSession>>;

export async function liveSessions(host: Pick<Host, "query">): Promise<ReadonlyMap<SessionId, LiveSession>> {
  const [listed, connected] = await Promise.all([
    host.query({ kind: "ListSessions", request: { empty: true, subagents: true } }),
    host.query({ kind: "ListClients", request: {} }),
  ]);
  const sessions = listed.ok ? listed.answer.sessions.filter(({ live }) => live) : [];
  const clients = connected.ok ? connected.answer.clients : [];
  const found = await Promise.all(
    sessions.map(async ({ id }) => {
      const inside = clients.filter((client) => client.sessions.includes(id));
      const names = inside.map(({ name, id: client }) => safeLine(name ?? client));
      return [id, { state: await stateOf(host, id), clients: names }] as const;
    }),
  );
  return new Map(found);
}

async function stateOf(host: Pick<Host, "query">, session: SessionId): Promise<LiveSession["state"]> {
  const [questions, status] = await Promise.all([
    host.query({ kind: "ListQuestions", request: {}, session }),
    host.query({ kind: "GetStatus", request: {}, session }),
  ]);
  if (questions.ok && questions.answer.questions.length > 0) return "waiting";
  return status.ok && status.answer.busy ? "running" : "idle";
}
