/**
 * Servers with one fault each, to show that the suite finds it. Each stands before a good server and spoils what passes.
 * The name of a fault is the name of the scenario that must fail.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import type { ConformanceConnection, ConformanceReply, ConformanceTransport } from "./transport.js";

type Spoiled = Partial<ConformanceConnection>;

interface Place {
  readonly good: ConformanceConnection;
  readonly identity: string;
  /** A second connection to the good server, as a human. */
  readonly human: () => Promise<ConformanceConnection>;
}

export interface BrokenServer {
  readonly scenario: string;
  readonly fault: string;
  readonly spoil: (place: Place) => Spoiled;
}

export function broken(good: ConformanceTransport, { spoil, fault }: BrokenServer): ConformanceTransport {
  const human = async () => {
    const connection = await good.connect("human");
    await connection.handshake({ protocol_version: "0.1.0" });
    return connection;
  };
  return {
    name: `${good.name}: ${fault}`,
    abilities: good.abilities,
    connect: async (identity) => {
      const connection = await good.connect(identity);
      return { ...connection, ...spoil({ good: connection, identity, human }) };
    },
    close: () => good.close(),
  };
}

/** Changes each event on its way: several, one or none come out. */
function events(change: (event: JsonObject, earlier: JsonObject[]) => readonly JsonObject[]) {
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
function replies(kind: string, change: (reply: ConformanceReply) => ConformanceReply) {
  const changed = (ask: (body: JsonObject) => Promise<ConformanceReply>) => async (body: JsonObject) => {
    const reply = await ask(body);
    return body.kind === kind ? change(reply) : reply;
  };
  return ({ good }: Place): Spoiled => ({ command: changed(good.command), query: changed(good.query) });
}

/** Changes commands before the server gets them. */
function commands(change: (body: JsonObject) => JsonObject) {
  return ({ good }: Place): Spoiled => ({ command: (body) => good.command(change(body)) });
}

function handshakes(change: (handshake: JsonObject) => JsonObject) {
  return ({ good }: Place): Spoiled => ({
    handshake: async (hello) => {
      const reply = await good.handshake(hello);
      return isJsonObject(reply.handshake) ? { ...reply, handshake: change(reply.handshake) } : reply;
    },
  });
}

/** A human answers for the agent. */
const APPROVING = ({ good, identity, human }: Place): Spoiled => ({
  command: async (body) => {
    if (identity !== "agent" || body.kind !== "AnswerPermission") return good.command(body);
    return (await human()).command(body);
  },
});

/** Shakes hands before anyone asks. */
const EAGER = ({ good }: Place): Spoiled => {
  const shaken = good.handshake({ protocol_version: "0.1.0" });
  const after = (ask: (body: JsonObject) => Promise<ConformanceReply>) => async (body: JsonObject) => {
    await shaken;
    return ask(body);
  };
  return { command: after(good.command), query: after(good.query) };
};

/** Cancels the turn when a connection goes. */
const STOPPING =
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

function without(value: JsonValue | undefined, name: string): JsonObject {
  const { [name]: _left, ...rest } = isJsonObject(value) ? value : {};
  return rest;
}

const INVALID: ConformanceReply = { ok: false, failure: { reason: "InvalidInput", message: "no" } };
const isDelta = ({ kind }: JsonObject) => kind === "TextDelta";
const hasNone = (earlier: readonly JsonObject[], kind: string) => !earlier.some((event) => event.kind === kind);

export const BROKEN_SERVERS: readonly BrokenServer[] = [
  { scenario: "handshake-required", fault: "accepts commands before the handshake", spoil: EAGER },
  {
    scenario: "handshake-fields",
    fault: "does not say the id of the client",
    spoil: handshakes((handshake) => without(handshake, "client")),
  },
  {
    scenario: "handshake-every-kind",
    fault: "leaves a command out of the handshake",
    spoil: handshakes((handshake) => ({ ...handshake, command_kinds: ["SendInput"] })),
  },
  {
    scenario: "version-other-major",
    fault: "accepts every version",
    spoil: ({ good }) => ({ handshake: (hello) => good.handshake({ ...hello, protocol_version: "0.1.0" }) }),
  },
  {
    scenario: "version-older-minor",
    fault: "refuses older clients",
    spoil: ({ good }) => ({
      handshake: async (hello) =>
        hello.protocol_version === "0.1.0"
          ? { ok: false, failure: { reason: "HandshakeVersionMismatch", message: "too old" } }
          : good.handshake(hello),
    }),
  },
  {
    scenario: "version-newer-minor",
    fault: "says the version of the client",
    spoil: ({ good }) => ({
      handshake: async (hello) => {
        const reply = await good.handshake(hello);
        const own = isJsonObject(reply.handshake) ? reply.handshake : {};
        return { ...reply, handshake: { ...own, protocol_version: hello.protocol_version } };
      },
    }),
  },
  {
    scenario: "unknown-command-refused",
    fault: "accepts commands it does not know",
    spoil: ({ good }) => ({
      command: async (body) => (body.kind === "MakeCoffee" ? { ok: true } : good.command(body)),
    }),
  },
  {
    scenario: "unknown-fields-ignored",
    fault: "refuses fields it does not know",
    spoil: ({ good }) => ({
      command: async (body) => {
        const isStrange = isJsonObject(body.payload) && "x_color" in body.payload;
        return isStrange ? INVALID : good.command(body);
      },
    }),
  },
  {
    scenario: "unknown-fields-not-kept",
    fault: "repeats fields it does not know",
    spoil: events((event) => {
      const isFirst = event.kind === "TurnStarted" && isJsonObject(event.payload);
      const input = [{ type: "text", text: "conformance: speak", x_color: "red" }];
      return [isFirst ? { ...event, payload: { ...(event.payload as JsonObject), input } } : event];
    }),
  },
  {
    scenario: "wrong-types-refused",
    fault: "takes text for content",
    spoil: ({ good }) => ({
      command: async (body) => {
        const content = isJsonObject(body.payload) ? body.payload.content : undefined;
        return typeof content === "string" ? { ok: true } : good.command(body);
      },
    }),
  },
  {
    scenario: "send",
    fault: "loses the beginning of the answer",
    spoil: events((event, earlier) => {
      const isFirst = isDelta(event) && hasNone(earlier, "TextDelta");
      return [isFirst ? { ...event, payload: { text: "" } } : event];
    }),
  },
  {
    scenario: "event-lost",
    fault: "drops an event",
    spoil: events((event, earlier) => (isDelta(event) && hasNone(earlier, "TextDelta") ? [] : [event])),
  },
  {
    scenario: "event-doubled",
    fault: "sends an event twice",
    spoil: events((event) => (isDelta(event) ? [event, event] : [event])),
  },
  {
    scenario: "event-order",
    fault: "swaps two events",
    spoil: ({ good }) => ({
      follow: (request) => {
        let held: JsonObject | undefined;
        return good.follow({
          ...request,
          onEvent: (event) => {
            if (event.kind === "TurnStarted") held = event;
            else request.onEvent(event);
            if (held !== undefined && held !== event) {
              request.onEvent(held);
              held = undefined;
            }
          },
        });
      },
    }),
  },
  { scenario: "envelope", fault: "leaves the time out", spoil: events((event) => [without(event, "ts")]) },
  {
    scenario: "event-kinds",
    fault: "sends kinds that it does not announce",
    spoil: handshakes((handshake) => ({ ...handshake, event_kinds: ["TurnStarted", "TurnEnded"] })),
  },
  {
    scenario: "originator",
    fault: "loses the originator",
    spoil: events((event) => [{ ...event, originator: "cli_01ARZ3NDEKTSV4RRFFQ69G5FAV" }]),
  },
  {
    scenario: "turn-in-progress",
    fault: "does not say whose turn runs",
    spoil: replies("SendInput", (reply) => ({
      ...reply,
      ...(reply.failure !== undefined && { failure: without(reply.failure, "originator") }),
    })),
  },
  {
    scenario: "cancel",
    fault: "ignores CancelTurn",
    spoil: commands((body) => (body.kind === "CancelTurn" ? { ...body, kind: "TakeBackInput" } : body)),
  },
  {
    scenario: "queue",
    fault: "steers with what should wait",
    spoil: commands((body) => {
      const isQueued = isJsonObject(body.payload) && body.payload.queue === true;
      return isQueued ? { ...body, payload: { ...(body.payload as JsonObject), steer: true } } : body;
    }),
  },
  {
    scenario: "steer",
    fault: "queues what should steer",
    spoil: commands((body) => {
      const isSteering = isJsonObject(body.payload) && body.payload.steer === true;
      return isSteering ? { ...body, payload: { ...without(body.payload, "steer"), queue: true } } : body;
    }),
  },
  {
    scenario: "multi-attach",
    fault: "gives clients different events",
    spoil: ({ good }) => {
      const mark = `${Math.random()}`;
      return events((event) => [isDelta(event) ? { ...event, payload: { text: mark } } : event])({ good } as Place);
    },
  },
  {
    scenario: "resume-after-id",
    fault: "ignores the last event of a client",
    spoil: ({ good }) => ({
      follow: ({ after, ...request }) => good.follow({ ...request, ...(after !== undefined && { after: 0 }) }),
    }),
  },
  {
    scenario: "resume-from-start",
    fault: "has no history",
    spoil: ({ good }) => ({ follow: ({ after: _after, ...request }) => good.follow(request) }),
  },
  {
    scenario: "reconnect",
    fault: "resumes one event too late",
    spoil: ({ good }) => ({
      follow: (request) =>
        good.follow({ ...request, ...(request.after !== undefined && { after: request.after + 1 }) }),
    }),
  },
  { scenario: "disconnect-keeps-turn", fault: "stops the turn with the connection", spoil: STOPPING("drop") },
  {
    scenario: "detach-keeps-turn",
    fault: "goes on sending events",
    spoil: () => ({ unfollow: async () => {} }),
  },
  {
    scenario: "open-question",
    fault: "keeps open questions to itself",
    spoil: ({ good }) => ({
      follow: async (request) => {
        let isLive = false;
        const reply = await good.follow({ ...request, onEvent: (event) => void (isLive && request.onEvent(event)) });
        isLive = true;
        return reply;
      },
    }),
  },
  {
    scenario: "stream-gap",
    fault: "leaves gaps out silently",
    spoil: events((event) => (event.kind === "StreamGap" ? [] : [event])),
  },
  {
    scenario: "sessions-apart",
    fault: "mixes sessions",
    spoil: events((event) => [{ ...event, session: "sess_01ARZ3NDEKTSV4RRFFQ69G5FAV" }]),
  },
  {
    scenario: "end-session",
    fault: "does not say that the session ended",
    spoil: events((event) => (event.kind === "SessionEnded" ? [] : [event])),
  },
  {
    scenario: "stored-session",
    fault: "forgets ended sessions",
    spoil: ({ good }) => {
      let isEnded = false;
      return {
        command: (body) => {
          isEnded ||= body.kind === "EndSession";
          return good.command(body);
        },
        follow: (request) =>
          good.follow({
            ...request,
            session: isEnded || request.after === 0 ? "sess_01ARZ3NDEKTSV4RRFFQ69G5FAV" : request.session,
          }),
      };
    },
  },
  {
    scenario: "permission-allow",
    fault: "turns yes into no",
    spoil: commands((body) => {
      const isAnswer = body.kind === "AnswerPermission";
      return isAnswer ? { ...body, payload: { ...(body.payload as JsonObject), decision: "deny" } } : body;
    }),
  },
  {
    scenario: "permission-first-wins",
    fault: "accepts a second answer",
    spoil: replies("AnswerPermission", () => ({ ok: true })),
  },
  { scenario: "agent-approves-itself", fault: "lets an agent approve its own turn", spoil: APPROVING },
  { scenario: "agent-approves", fault: "lets an agent approve", spoil: APPROVING },
  {
    scenario: "agent-widens",
    fault: "lets an agent change the mode",
    spoil: ({ good, identity, human }) => ({
      command: async (body) =>
        identity === "agent" && body.kind === "SetMode" ? (await human()).command(body) : good.command(body),
    }),
  },
];
