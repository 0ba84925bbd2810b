/** What happens from an input to the end of its turn. */
import type { Scenario, Step } from "../scenario.js";
import { answer, asked, command, expecting, input, joined, opened, query, refused, SESSION, wait } from "./steps.js";

const ENDED = wait("a", "TurnEnded", { outcome: "answered" });

const SPOKEN_TURN: readonly Step[] = [...opened("a"), input("a", "speak"), ENDED];

function checked(that: (Step & { readonly do: "check" })["that"], value?: string): Step {
  return { do: "check", that, of: ["a"], ...(value !== undefined && { value }) };
}

export const TURNS: readonly Scenario[] = [
  {
    name: "send",
    rule: "An input starts a turn: TurnStarted with the input, deltas, and TurnEnded with the whole text.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      expecting(input("a", "speak"), { ok: true, value: { state: "started" } }),
      wait("a", "TurnStarted", { input: [{ type: "text", text: "conformance: speak" }] }, { turn: "payload.turn" }),
      wait("a", "TurnEnded", { turn: "$turn", outcome: "answered" }),
      checked("the answer is whole", "One two three four five six seven eight."),
    ],
  },
  {
    name: "event-lost",
    rule: "The ids of a session count up without a gap.",
    since: "0.1.0",
    steps: [...SPOKEN_TURN, checked("no event is missing"), { do: "check", that: "the answer is whole", of: ["a"] }],
  },
  {
    name: "event-doubled",
    rule: "A client gets each event once.",
    since: "0.1.0",
    steps: [...SPOKEN_TURN, checked("no event comes twice")],
  },
  {
    name: "event-order",
    rule: "A client gets the events in the order of their ids.",
    since: "0.1.0",
    steps: [...SPOKEN_TURN, checked("events come in order")],
  },
  {
    name: "event-first-id",
    rule: "The first event of a session has the id 1.",
    since: "0.1.0",
    steps: [...opened("a"), input("a", "speak"), { do: "wait", by: "a", event: { id: 1 } }],
  },
  {
    name: "envelope",
    rule: "Every event has the envelope: id, kind, session, originator, ts and payload.",
    since: "0.1.0",
    steps: [...SPOKEN_TURN, checked("events have the envelope")],
  },
  {
    name: "event-kinds",
    rule: "The handshake names the kinds of all events.",
    since: "0.1.0",
    steps: [...SPOKEN_TURN, checked("event kinds are announced")],
  },
  {
    name: "originator",
    rule: "Every event of a turn has the id of the client whose input started it.",
    since: "0.1.0",
    needs: ["many"],
    steps: [
      ...opened("a"),
      ...joined("b"),
      input("b", "speak"),
      ENDED,
      { do: "check", that: "events have the originator", of: ["a"], value: "$b" },
    ],
  },
  {
    name: "turn-in-progress",
    rule: "An input during a turn is refused with TurnInProgress, which names the originator of the turn.",
    since: "0.1.0",
    needs: ["many"],
    steps: [
      ...opened("a"),
      ...joined("b"),
      ...asked("a"),
      refused(input("b", "speak"), "TurnInProgress", { originator: "$a" }),
      refused(input("a", "speak"), "TurnInProgress", { originator: "$a" }),
      answer("a", "deny"),
      wait("a", "TurnEnded"),
      checked("one turn at a time"),
    ],
  },
  {
    name: "turn-race",
    rule: "Of inputs that arrive at once, one starts a turn, and the turns of a session never overlap.",
    since: "0.1.0",
    needs: ["many"],
    steps: [
      ...opened("a"),
      ...joined("b"),
      {
        do: "race",
        sends: ["a", "b", "a", "b"].map((by) => ({ by, body: input(by, "speak", { queue: true }).body })),
      },
      ...[1, 2, 3, 4].map(() => ENDED),
      checked("one turn at a time"),
      checked("events come in order"),
    ],
  },
  {
    name: "cancel",
    rule: "CancelTurn ends the running turn with the outcome cancelled, from any client.",
    since: "0.1.0",
    needs: ["many"],
    steps: [
      ...opened("a"),
      ...joined("b"),
      input("a", "hang"),
      wait("a", "TextDelta"),
      command("b", "CancelTurn"),
      wait("a", "Cancelled", { by: "$b" }),
      wait("a", "TurnEnded", { outcome: "cancelled" }),
      wait("b", "TurnEnded", { outcome: "cancelled" }),
    ],
  },
  {
    name: "cancel-nothing",
    rule: "CancelTurn without a turn is accepted and does nothing.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      command("a", "CancelTurn"),
      input("a", "speak"),
      ENDED,
      { do: "check", that: "there is no event", of: ["a"], value: "Cancelled" },
    ],
  },
  {
    name: "queue",
    rule: "An input with queue waits for the end of the turn and then starts its own, with its own originator.",
    since: "0.1.0",
    feature: "queue",
    needs: ["many"],
    steps: [
      ...opened("a"),
      ...joined("b"),
      ...asked("a"),
      expecting(input("b", "speak", { queue: true }), { ok: true, value: { state: "queue" } }),
      wait("a", "InputQueued", { delivery: "queue", from: "$b" }),
      expecting(query("a", "GetStatus"), { ok: true, answer: { waiting: 1, busy: true } }),
      answer("a", "deny"),
      wait("a", "TurnEnded"),
      { do: "wait", by: "a", event: { kind: "TurnStarted", originator: "$b", payload: { queued: 1 } } },
      ENDED,
      checked("one turn at a time"),
    ],
  },
  {
    name: "queue-taken-back",
    rule: "TakeBackInput drops the waiting input of its sender, and of no other client.",
    since: "0.1.0",
    feature: "queue",
    needs: ["many"],
    steps: [
      ...opened("a"),
      ...joined("b"),
      ...asked("a"),
      input("b", "speak", { queue: true }),
      input("a", "steer", { queue: true }),
      command("b", "TakeBackInput"),
      wait("a", "InputDropped", { by: "$b", inputs: [[{ text: "conformance: speak" }]] }),
      answer("a", "deny"),
      { do: "wait", by: "a", event: { kind: "TurnStarted", originator: "$a", payload: { queued: 1 } } },
      ENDED,
    ],
  },
  {
    name: "steer",
    rule: "An input with steer reaches the model within the running turn, after the results of its calls.",
    since: "0.1.0",
    feature: "steer",
    needs: ["many"],
    steps: [
      ...opened("a"),
      ...joined("b"),
      ...asked("a"),
      expecting(input("b", "steer", { steer: true }), { ok: true, value: { state: "steer" } }),
      answer("a", "allow_once"),
      wait("a", "InputSteered", { from: "$b" }),
      wait("a", "TurnEnded", { outcome: "answered", text: { $contains: "Steered." } }),
      checked("one turn at a time"),
    ],
  },
  {
    name: "failure-ends-turn-only",
    rule: "A turn that fails ends with the outcome failed; the session takes the next input.",
    since: "0.1.0",
    steps: [
      ...opened("a"),
      input("a", "fail"),
      wait("a", "TurnEnded", { outcome: "failed", failure: { reason: { $type: "string" } } }),
      input("a", "speak", { queue: true }),
      ENDED,
      checked("one turn at a time"),
    ],
  },
  {
    name: "plan-mode",
    rule: "EnterPlanMode and ExitPlanMode switch plan mode, which the status shows.",
    since: "0.1.0",
    feature: "plan_mode",
    steps: [
      ...opened("a"),
      command("a", "EnterPlanMode"),
      expecting(query("a", "GetStatus"), { ok: true, answer: { session: SESSION, place: { mode: "plan" } } }),
      command("a", "ExitPlanMode", { approve: true }),
      expecting(query("a", "GetStatus"), { ok: true, answer: { place: { mode: { $not: "plan" } } } }),
    ],
  },
];
