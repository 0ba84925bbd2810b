/** A connection to a running engine. */
import type { CommandPayloads } from "../../protocol/commands.js";
import type { Handshake } from "../../protocol/handshake.js";
import type { ClientId, SessionId } from "../../protocol/ids.js";
import type { Queries, QueryKind } from "../../protocol/queries.js";
import { RefusedError } from "./connection-error.js";
import { answerOf, Session } from "./session.js";
import type { WireClient } from "./wire-client.js";

export class Connection {
  /** The protocol itself. The terminal client of Oxbow uses only this. */
  readonly client: WireClient;

  constructor(client: WireClient) {
    this.client = client;
  }

  get id(): ClientId {
    return this.client.id;
  }

  get handshake(): Handshake {
    return this.client.handshake;
  }

  /** A new session, or with `resume` a stored one. `cwd` is a folder of the machine that the engine runs on. */
  async createSession(request: CommandPayloads["CreateSession"] = {}): Promise<Session> {
    const reply = await this.client.send("CreateSession", request);
    if (!reply.ok) throw new RefusedError(reply.failure);
    if (reply.session === undefined) throw new Error("the engine did not name a session");
    return new Session(this.client, reply.session);
  }

  /** Follows a session that is open or stored: from now on, or from after an event (`after_ts` is the time of that event). */
  async attach(session: SessionId, place: CommandPayloads["AttachSession"] = {}): Promise<Session> {
    const attached = new Session(this.client, session);
    await attached.send("AttachSession", place);
    return attached;
  }

  /** A query about the engine. Throws a RefusedError when it is refused. */
  async query<K extends QueryKind>(kind: K, request: Queries[K]["request"]): Promise<Queries[K]["answer"]> {
    return answerOf(await this.client.query(kind, request));
  }

  /** Sessions and their turns continue. Resolves when the engine knows that this client has left. */
  close(): Promise<void> {
    return this.client.close();
  }
}
