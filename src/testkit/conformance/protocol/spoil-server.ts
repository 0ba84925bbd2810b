/** Describes how a server with a fault is made: it stands before a good server and spoils what passes. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import type { ConformanceConnection, ConformanceReply, ConformanceTransport } from "./transport.js";

type Spoiled = Partial<ConformanceConnection>;

export interface Place {
  readonly good: ConformanceConnection;
  readonly identity: string;
  /** A second connection to the good server, as a human. */
  readonly human: () => Promise<ConformanceConnection>;
}

export interface BrokenServer {
  readonly scenario: string;
  readonly fault: string;
  readonly spoil: (place: Place) => Spoiled;
  /** It does not look at tokens. */
  readonly admitsAll?: true;
}

export function broken(good: ConformanceTransport, { spoil, fault, admitsAll }: BrokenServer): ConformanceTransport {
  const human = async () => {
    const connection = await good.connect("human");
    await connection.handshake({ protocol_version: "0.1.0" });
    return connection;
  };
  return {
    name: `${good.name}: ${fault}`,
    abilities: good.abilities,
    connect: async (identity, token) => {
      const connection = await good.connect(identity, admitsAll ? undefined : token);
      return { ...connection, ...spoil({ good: connection, identity, human }) };
    },
    close: () => good.close(),
  };
}

/** Changes each event on its way: several, one or none come out. */
export function events(change: (event: JsonObject, earlier: JsonObject[]) => readonly JsonObject[]) {
  return ({ good }: Place): Spoiled => ({
    follow: (request) => {
      const earlier: JsonObject[] = [];
      return good.follow({
        ...request,
        onEvent: (event) => {
          for (const each of change(event, earlier)) request.onEvent(each);
          earlier.push(event);
        },
      });
    },
  });
}

/** Changes the reply to commands and queries of one kind. */
export function replies(kind: string, change: (reply: ConformanceReply) => ConformanceReply) {
  const changed = (ask: (body: JsonObject) => Promise<ConformanceReply>) => async (body: JsonObject) => {
    const reply = await ask(body);
    return body.kind === kind ? change(reply) : reply;
  };
  return ({ good }: Place): Spoiled => ({ command: changed(good.command), query: changed(good.query) });
}

/** Changes commands before the server gets them. */
export function commands(change: (body: JsonObject) => JsonObject) {
  return ({ good }: Place): Spoiled => ({ command: (body) => good.command(change(body)) });
}

export function handshakes(change: (handshake: JsonObject) => JsonObject) {
  return ({ good }: Place): Spoiled => ({
    handshake: async (hello) => {
      const reply = await good.handshake(hello);
      return isJsonObject(reply.handshake) ? { ...reply, handshake: change(reply.handshake) } : reply;
    },
  });
}

/** A human answers for the agent. */
export const APPROVING = ({ good, identity, human }: Place): Spoiled => ({
  command: async (body) => {
    if (identity !== "agent" || body.kind !== "AnswerPermission") return good.command(body);
    return (await human()).command(body);
  },
});

/** Shakes hands before anyone asks. */
export const EAGER = ({ good }: Place): Spoiled => {
  const shaken = good.handshake({ protocol_version: "0.1.0" });
  const after = (ask: (body: JsonObject) => Promise<ConformanceReply>) => async (body: JsonObject) => {
    await shaken;
    return ask(body);
  };
  return { command: after(good.command), query: after(good.query) };
};

/** Cancels the turn when a connection goes. */
export const STOPPING =
  (when: "drop" | "unfollow") =>
  ({ good }: Place): Spoiled => {
    const followed = new Set<string>();
    const cancel = async () => {
      for (const session of followed) await good.command({ kind: "CancelTurn", session, payload: {} });
    };
    return {
      follow: (request) => {
        followed.add(request.session);
        return good.follow(request);
      },
      drop: async () => {
        if (when === "drop") await cancel();
        await good.drop();
      },
      unfollow: async (session) => {
        if (when === "unfollow") await cancel();
        await good.unfollow(session);
      },
    };
  };

export function without(value: JsonValue | undefined, name: string): JsonObject {
  const { [name]: _left, ...rest } = isJsonObject(value) ? value : {};
  return rest;
}

export const INVALID: ConformanceReply = { ok: false, failure: { reason: "InvalidInput", message: "no" } };
export const isDelta = ({ kind }: JsonObject) => kind === "TextDelta";
export const hasNone = (earlier: readonly JsonObject[], kind: string) => !earlier.some((event) => event.kind === kind);
