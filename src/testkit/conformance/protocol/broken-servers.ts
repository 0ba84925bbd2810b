/**
 * Servers with one fault each, to show that the suite finds it. Each names the scenario that must fail.
 */
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";
import {
  APPROVING,
  type BrokenServer,
  commands,
  EAGER,
  events,
  handshakes,
  hasNone,
  INVALID,
  isDelta,
  type Place,
  replies,
  STOPPING,
  without,
} from "./spoil-server.js";

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
  {
    scenario: "agent-alone",
    fault: "lets an agent add MCP servers",
    spoil: ({ good }) => ({
      command: async (body) => {
        const adds = isJsonObject(body.payload) && body.payload.mcp_servers !== undefined;
        return adds ? { ok: true } : good.command(body);
      },
    }),
  },
  {
    scenario: "agent-input-waits",
    fault: "lets an agent steer the turn of a human",
    spoil: replies("SendInput", (reply) => ({ ...reply, value: { state: "steer" } })),
  },
  {
    scenario: "resume-with-time",
    fault: "does not look at the time of the last event",
    spoil: ({ good }) => ({ follow: ({ at: _at, ...request }) => good.follow(request) }),
  },
  {
    scenario: "resume-alone",
    fault: "has no history for the same client",
    spoil: ({ good }) => ({ follow: ({ after: _after, ...request }) => good.follow(request) }),
  },
  {
    scenario: "detach-alone",
    fault: "goes on sending events to its only client",
    spoil: () => ({ unfollow: async () => {} }),
  },
  {
    scenario: "turn-race-alone",
    fault: "loses an input of several",
    spoil: ({ good }) => {
      let inputs = 0;
      return {
        command: async (body) => {
          const isLost = body.kind === "SendInput" && ++inputs === 2;
          return isLost ? { ok: true, value: { state: "queue" } } : good.command(body);
        },
      };
    },
  },
  {
    scenario: "end-session-alone",
    fault: "ends nothing",
    spoil: commands((body) => (body.kind === "EndSession" ? { ...body, kind: "CancelTurn" } : body)),
  },
  {
    scenario: "list-clients-alone",
    fault: "names no clients",
    spoil: replies("ListClients", (reply) => ({ ...reply, answer: { clients: [] } })),
  },
  {
    scenario: "list-sessions",
    fault: "does not say where a session works",
    spoil: replies("ListSessions", (reply) => ({ ...reply, answer: { sessions: [{ id: "$session", live: true }] } })),
  },
  {
    scenario: "look-back",
    fault: "does not say where a turn ends",
    spoil: replies("ListTurns", (reply) => ({ ...reply, answer: { turns: [{ number: 1, outcome: "answered" }] } })),
  },
  {
    scenario: "health",
    fault: "does not say which process it is",
    spoil: replies("GetHealth", (reply) => ({ ...reply, answer: without(reply.answer, "pid") })),
  },
];

/** Against a server that has tokens. */
export const UNGUARDED_SERVERS: readonly BrokenServer[] = (["forged", "missing"] as const).map((token) => ({
  scenario: `token-${token}`,
  fault: token === "forged" ? "takes a token that it did not sign" : "takes a client without a token",
  spoil: () => ({}),
  admitsAll: true,
}));
