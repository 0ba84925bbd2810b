/** The rules that one client can show by itself: all that a transport with one client has, such as standard input and output. */
import type { Scenario, Step } from "../scenario.js";
import {
  answer,
  asked,
  command,
  connect,
  expecting,
  follow,
  input,
  opened,
  query,
  refused,
  SESSION,
  wait,
} from "./steps.js";

const ENDED = wait("a", "TurnEnded", { outcome: "answered" });
const LEAVE: Step = { do: "unfollow", by: "a", session: SESSION };

const SPOKEN: readonly Step[] = [
  ...opened("a"),
  input("a", "speak"),
  { do: "wait", by: "a", event: { kind: "TurnStarted" }, save: { first: "id", time: "ts" } },
  { do: "wait", by: "a", event: { kind: "TurnEnded" }, save: { last: "id" } },
];

const absent = (kind: string): Step => ({ do: "check", that: "there is no event", of: ["a"], value: kind });

export const ALONE: readonly Scenario[] = [
  {
    name: "resume-alone",
    rule: "A client that stops following and follows again after an event gets what comes after that event.",
    since: "0.1.0",
    steps: [...SPOKEN, LEAVE, follow("a", 0), wait("a", "TurnStarted"), ENDED, absent("StreamGap")],
  },
  {
    name: "resume-with-time",
    rule: "A client that resumes and says when its last event happened continues if the log has that event, and gets a StreamGap if not.",
    since: "0.2.0",
    feature: "resume_time",
    steps: [
      ...SPOKEN,
      LEAVE,
      { do: "follow", by: "a", session: SESSION, after: "$first", at: "$time" },
      ENDED,
      absent("StreamGap"),
      LEAVE,
      { do: "follow", by: "a", session: SESSION, after: "$first", at: "2001-02-03T04:05:06.789Z" },
      wait("a", "StreamGap", { to: "$first", reason: "lost" }),
      wait("a", "TurnStarted"),
      ENDED,
    ],
  },
  {
    name: "stream-gap-alone",
    rule: "A client that follows again after an event that the session does not have gets a StreamGap.",
    since: "0.2.0",
    feature: "stream_gap",
    steps: [
      ...SPOKEN,
      LEAVE,
      follow("a", 5_000),
      { do: "wait", by: "a", event: { id: "$last", kind: "StreamGap", payload: { to: 5_000, reason: "lost" } } },
    ],
  },
  {
    name: "detach-alone",
    rule: "A client that stopped following a session gets none of its events.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      LEAVE,
      input("a", "speak"),
      expecting(query("a", "GetStatus"), { ok: true }),
      absent("TurnEnded"),
      absent("TurnStarted"),
    ],
  },
  {
    name: "originator-alone",
    rule: "Every event of a turn has the id that the handshake gave to the client.",
    since: "0.1.0",
    steps: [...SPOKEN, { do: "check", that: "events have the originator", of: ["a"], value: "$a" }],
  },
  {
    name: "turn-in-progress-alone",
    rule: "A second input of the same client during its turn is refused with TurnInProgress.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      ...asked("a"),
      refused(input("a", "speak"), "TurnInProgress", { originator: "$a" }),
      answer("a", "deny"),
      wait("a", "TurnEnded"),
    ],
  },
  {
    name: "turn-race-alone",
    rule: "Inputs that one client sends at once become turns that do not overlap, none lost.",
    since: "0.1.0",
    feature: "queue",
    steps: [
      ...opened("a"),
      { do: "race", sends: [1, 2, 3].map(() => ({ by: "a", body: input("a", "speak", { queue: true }).body })) },
      ...[1, 2, 3].map(() => ENDED),
      { do: "check", that: "one turn at a time", of: ["a"] },
      { do: "check", that: "events come in order", of: ["a"] },
    ],
  },
  {
    name: "cancel-alone",
    rule: "A client cancels its own turn.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      input("a", "hang"),
      wait("a", "TextDelta"),
      command("a", "CancelTurn"),
      wait("a", "Cancelled", { by: "$a" }),
      wait("a", "TurnEnded", { outcome: "cancelled" }),
    ],
  },
  {
    name: "queue-alone",
    rule: "A client may let its next input wait for the end of its turn, and take it back.",
    since: "0.1.0",
    feature: "queue",
    steps: [
      ...opened("a"),
      ...asked("a"),
      expecting(input("a", "steer", { queue: true }), { ok: true, value: { state: "queue" } }),
      command("a", "TakeBackInput"),
      wait("a", "InputDropped", { by: "$a", inputs: [[{ text: "conformance: steer" }]] }),
      expecting(input("a", "speak", { queue: true }), { ok: true, value: { state: "queue" } }),
      expecting(query("a", "GetStatus"), { ok: true, answer: { waiting: 1, busy: true } }),
      answer("a", "deny"),
      wait("a", "TurnEnded"),
      wait("a", "TurnStarted", { queued: 1 }),
      ENDED,
    ],
  },
  {
    name: "steer-alone",
    rule: "A client steers its own turn.",
    since: "0.1.0",
    feature: "steer",
    steps: [
      ...opened("a"),
      ...asked("a"),
      expecting(input("a", "steer", { steer: true }), { ok: true, value: { state: "steer" } }),
      answer("a", "allow_once"),
      wait("a", "InputSteered", { from: "$a" }),
      wait("a", "TurnEnded", { outcome: "answered", text: { $contains: "Steered." } }),
    ],
  },
  {
    name: "sessions-apart-alone",
    rule: "A turn that fails in one session changes nothing in another session of the same client.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      { do: "command", by: "a", body: { kind: "CreateSession", payload: {} }, save: { other: "session" } },
      { do: "follow", by: "a", session: "$other" },
      {
        do: "command",
        by: "a",
        body: {
          kind: "SendInput",
          session: "$other",
          payload: { content: [{ type: "text", text: "conformance: fail" }] },
        },
      },
      { do: "wait", by: "a", event: { kind: "TurnEnded", session: "$other", payload: { outcome: "failed" } } },
      input("a", "speak"),
      { do: "wait", by: "a", event: { id: 1, kind: "TurnStarted", session: SESSION } },
      { do: "wait", by: "a", event: { kind: "TurnEnded", session: SESSION, payload: { outcome: "answered" } } },
    ],
  },
  {
    name: "end-session-alone",
    rule: "EndSession ends the session with SessionEnded, and following it again opens the same log.",
    since: "0.2.0",
    feature: "stored_attach",
    steps: [
      ...SPOKEN,
      command("a", "EndSession"),
      wait("a", "SessionEnded", { reason: "user" }),
      refused(query("a", "GetStatus"), "SessionNotFound"),
      follow("a", 0),
      { do: "wait", by: "a", event: { id: 1, kind: "TurnStarted" } },
      wait("a", "SessionEnded"),
      input("a", "speak"),
      ENDED,
    ],
  },
  {
    name: "list-clients-alone",
    rule: "ListClients names the client that asks, with its identity and the sessions that it follows.",
    since: "0.2.0",
    steps: [
      ...opened("a"),
      expecting(query("a", "ListClients"), {
        ok: true,
        answer: { clients: { $contains: { id: "$a", identity: "human", sessions: { $contains: SESSION } } } },
      }),
    ],
  },
  {
    name: "list-sessions",
    rule: "ListSessions names an open session with its folder, also before its first input if the client asks for that.",
    since: "0.2.0",
    steps: [
      ...opened("a"),
      {
        do: "query",
        by: "a",
        body: { kind: "ListSessions", request: { empty: true } },
        expect: {
          ok: true,
          answer: { sessions: { $contains: { id: SESSION, live: true, cwd: { $type: "string" } } } },
        },
      },
    ],
  },
  {
    name: "health",
    rule: "GetHealth names the version, the protocol, the process, and how many sessions and clients there are.",
    since: "0.2.0",
    steps: [
      ...opened("a"),
      {
        do: "query",
        by: "a",
        body: { kind: "GetHealth", request: {} },
        expect: {
          ok: true,
          answer: {
            version: { $type: "string" },
            protocol_version: { $matches: "^\\d+\\.\\d+\\.\\d+$" },
            pid: { $type: "number" },
            sessions: { $type: "number" },
            clients: { $type: "number" },
          },
        },
      },
    ],
  },
  {
    name: "agent-alone",
    rule: "An agent opens a session and cannot approve its own call, choose the mode or the profile, or add MCP servers.",
    since: "0.1.0",
    needs: ["agent"],
    steps: [
      ...opened("a", "agent"),
      ...["ask", "auto", "review", "allow", "deny"].map((mode) => ({
        ...command("a", "SetMode", { mode }),
        expect: { ok: false },
      })),
      ...[{ profile: "default" }, { mcp_servers: [{ name: "x", command: "true", args: [] }] }].map(
        (payload): Step => ({
          do: "command",
          by: "a",
          body: { kind: "CreateSession", payload },
          expect: { ok: false },
        }),
      ),
      ...asked("a"),
      { ...answer("a", "allow_once"), expect: { ok: false } },
      command("a", "CancelTurn"),
      wait("a", "PermissionResolved", { call: "$call", decision: "deny" }),
      wait("a", "TurnEnded", { outcome: "cancelled" }),
    ],
  },
];

export const TOKENS: readonly Scenario[] = (["forged", "missing"] as const).map((token) => ({
  name: `token-${token}`,
  rule: `A client ${token === "forged" ? "with a token that the server did not sign" : "without a token"} can do nothing.`,
  since: "0.1.0",
  needs: ["tokens"],
  steps: [
    { do: "connect", as: "a", token, expect: { ok: false, failure: { reason: "Unauthorized" } } },
    {
      do: "command",
      by: "a",
      body: { kind: "CreateSession", payload: {} },
      expect: { ok: false, session: { $absent: true } },
    },
    connect("b"),
    { do: "query", by: "b", body: { kind: "GetHealth", request: {} } },
  ],
}));
