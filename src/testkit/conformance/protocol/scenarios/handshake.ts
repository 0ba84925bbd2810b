/** Describes how a client and a server meet, and how they get along with what they do not know. */
import type { Scenario } from "../scenario.js";
import { command, connect, expecting, input, opened, query, refused, SESSION, wait } from "./steps.js";

const STRINGS = { $type: "list" } as const;
const HELLO_ONLY = { $type: "string" } as const;

export const HANDSHAKE: readonly Scenario[] = [
  {
    name: "handshake-required",
    rule: "Commands before the handshake are refused with HandshakeRequired, and work after it.",
    since: "0.1.0",
    steps: [
      { do: "connect", as: "a", hello: null },
      {
        do: "command",
        by: "a",
        body: { kind: "CreateSession", payload: {} },
        expect: { ok: false, failure: { reason: "HandshakeRequired" } },
      },
      { do: "handshake", by: "a", hello: { protocol_version: "0.1.0" }, expect: { ok: true } },
      { do: "query", by: "a", body: { kind: "ListSessions", request: {} } },
    ],
  },
  {
    name: "handshake-fields",
    rule: "The handshake names versions, kinds, features, what is deprecated, and the id of the client.",
    since: "0.2.0",
    steps: [
      {
        do: "connect",
        as: "a",
        expect: {
          ok: true,
          handshake: {
            protocol_version: { $matches: "^\\d+\\.\\d+\\.\\d+" },
            canonical_form_version: { $type: "number" },
            schema_version_token_claim: { $type: "number" },
            schema_version_profile: { $type: "number" },
            schema_version_session_log: { $type: "number" },
            command_kinds: { $contains: "SendInput" },
            event_kinds: { $contains: "TurnEnded" },
            features: STRINGS,
            deprecated: STRINGS,
            resource_uri_scheme: HELLO_ONLY,
            client: { $matches: "^cli_[0-7][0-9A-HJKMNP-TV-Z]{25}$" },
          },
        },
      },
    ],
  },
  {
    name: "handshake-every-kind",
    rule: "The handshake names every command of the protocol that the server accepts.",
    since: "0.1.0",
    steps: [
      ...[
        "CancelTurn",
        "AnswerPermission",
        "CreateSession",
        "AttachSession",
        "DetachSession",
        "SetModel",
        "EnterPlanMode",
        "ExitPlanMode",
        "CustomCommand",
      ].map((kind, index) => ({
        do: "connect" as const,
        as: `client ${index}`,
        expect: { ok: true, handshake: { command_kinds: { $contains: kind } } },
      })),
    ],
  },
  {
    name: "version-other-major",
    rule: "A client of another major version is refused with HandshakeVersionMismatch and stays without a handshake.",
    since: "0.1.0",
    steps: [
      { do: "connect", as: "a", hello: null },
      {
        do: "handshake",
        by: "a",
        hello: { protocol_version: "99.0.0" },
        expect: { ok: false, failure: { reason: "HandshakeVersionMismatch", message: { $contains: "99.0.0" } } },
      },
      {
        do: "command",
        by: "a",
        body: { kind: "CreateSession", payload: {} },
        expect: { ok: false, failure: { reason: "HandshakeRequired" } },
      },
    ],
  },
  {
    name: "version-older-minor",
    rule: "A client of an older minor version is accepted.",
    since: "0.1.0",
    steps: [{ do: "connect", as: "a", hello: { protocol_version: "0.1.0" } }],
  },
  {
    name: "version-newer-minor",
    rule: "A client of a newer minor version is accepted, and the server says which version it has itself.",
    since: "0.1.0",
    steps: [
      {
        do: "connect",
        as: "a",
        hello: { protocol_version: "0.999.3", client: { name: "newer", x_more: 1 }, wanted: ["things"] },
        expect: { ok: true, handshake: { protocol_version: { $not: "0.999.3" } } },
      },
    ],
  },
  {
    name: "version-not-a-version",
    rule: "A handshake with something else than a version is refused with InvalidInput.",
    since: "0.1.0",
    steps: [
      { do: "connect", as: "a", hello: null },
      {
        do: "handshake",
        by: "a",
        hello: { protocol_version: "the newest" },
        expect: { ok: false, failure: { reason: "InvalidInput" } },
      },
    ],
  },
  {
    name: "unknown-command-refused",
    rule: "A command that the server does not know is refused with InvalidInput, and the connection goes on.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      refused(command("a", "MakeCoffee"), "InvalidInput"),
      refused(command("a", "x_brew", { x_beans: 3 }), "InvalidInput"),
      refused(command("a", "__proto__"), "InvalidInput"),
      query("a", "GetStatus"),
    ],
  },
  {
    name: "unknown-query-refused",
    rule: "A query that the server does not know is refused with InvalidInput.",
    since: "0.1.0",
    steps: [...opened("a"), refused(query("a", "GetWeather"), "InvalidInput"), query("a", "GetStatus")],
  },
  {
    name: "unknown-fields-ignored",
    rule: "Fields that the server does not know are ignored, in commands and queries, and with the names x_* and _*.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      input("a", "speak", { x_color: "red", _trace: { a: 1 }, priority: 9 }),
      wait("a", "TurnEnded", { outcome: "answered" }),
      query("a", "GetStatus", { x_color: "red", detail: "all" }),
    ],
  },
  {
    name: "unknown-fields-not-kept",
    rule: "Fields that the server does not know do not appear in events.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      {
        do: "command",
        by: "a",
        body: {
          kind: "SendInput",
          session: SESSION,
          payload: { content: [{ type: "text", text: "conformance: speak", x_color: "red", own: true }] },
        },
      },
      {
        do: "wait",
        by: "a",
        event: { kind: "TurnStarted", payload: { input: [{ x_color: { $absent: true }, own: { $absent: true } }] } },
      },
    ],
  },
  {
    name: "wrong-types-refused",
    rule: "Known fields with a wrong type are refused with InvalidInput, and nothing happens.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      refused(command("a", "SendInput", { content: "conformance: speak" }), "InvalidInput"),
      refused(command("a", "SendInput", { content: [{ type: "text" }] }), "InvalidInput"),
      refused(command("a", "SendInput", {}), "InvalidInput"),
      refused(command("a", "AnswerPermission", { call: "call_1", decision: "perhaps" }), "InvalidInput"),
      expecting(query("a", "GetStatus"), { ok: true, answer: { busy: false, last_event: 0 } }),
    ],
  },
  {
    name: "custom-command-unknown",
    rule: "A CustomCommand of a namespace that the server does not have is refused with InvalidInput.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      refused(command("a", "CustomCommand", { namespace: "x-none", verb: "v", payload: null }), "InvalidInput"),
    ],
  },
  {
    name: "failure-fields",
    rule: "A failure has a reason and a message of one line.",
    since: "0.1.0",
    steps: [
      connect("a"),
      {
        do: "command",
        by: "a",
        body: { kind: "SendInput", session: "sess_01ARZ3NDEKTSV4RRFFQ69G5FAV", payload: { content: [] } },
        expect: { ok: false, failure: { reason: "SessionNotFound", message: { $matches: "^[^\\n]+$" } } },
      },
    ],
  },
];
