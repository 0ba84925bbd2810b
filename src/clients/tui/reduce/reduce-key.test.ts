import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { readTypedInput } from "../../../base/typed-input.js";
import type { ClientId, SessionId } from "../../../protocol/ids.js";
import { firstState, type State } from "../state.js";
import { afterKey, expire } from "./expire.js";
import { reduceKey } from "./reduce-key.js";
import { reduceSubmit } from "./reduce-submit.js";

const IDLE: State = {
  ...firstState({ client: "cli_1" as ClientId, session: "sess_1" as SessionId, model: "mock:m" }),
  place: { cwd: "/w", mode: "ask", instructions: [] },
};
const RUNNING: State = {
  ...IDLE,
  turn: { startedAt: 0, text: "do it", answered: false, cancelling: false },
};
const EMPTY = { now: 1000, draftIsEmpty: true };
const CANCEL = { do: "send", kind: "CancelTurn", payload: {} };

describe("the keys of the conversation", () => {
  verifies(["U2"], "cancel with the first Ctrl-C and leave with the second within two seconds", () => {
    const first = reduceKey(RUNNING, "ctrl+c", EMPTY);
    expect(first?.effects).toEqual([CANCEL]);
    expect(first?.state.hint?.text).toBe("Press Ctrl-C again within 2 s to leave.");
    const second = first && reduceKey(first.state, "ctrl+c", { ...EMPTY, now: 2900 });
    expect(second?.effects).toEqual([{ do: "exit" }]);
    const late = first && reduceKey(expire(first.state, 3000), "ctrl+c", { ...EMPTY, now: 3000 });
    expect(late?.effects).toEqual([CANCEL]);
  });

  verifies(["U2"], "count as two presses only without another key between them", () => {
    const first = reduceKey(IDLE, "ctrl+c", { now: 0, draftIsEmpty: false })?.state ?? IDLE;
    expect(afterKey(first, "ctrl+c")).toBe(first);
    const typed = afterKey(first, "a");
    expect([typed.leaveUntil, typed.hint]).toEqual([undefined, undefined]);
    expect(reduceKey(typed, "ctrl+c", { now: 500, draftIsEmpty: false })?.effects).toEqual([{ do: "clear draft" }]);
    const escaped = reduceKey(IDLE, "escape", EMPTY)?.state ?? IDLE;
    expect(afterKey(escaped, "escape")).toBe(escaped);
    expect(afterKey(escaped, "ctrl+c").escapeUntil).toBeUndefined();
    expect(afterKey(IDLE, "a")).toBe(IDLE);
  });

  verifies(["U2"], "clear a draft before they leave", () => {
    const first = reduceKey(IDLE, "ctrl+c", { now: 0, draftIsEmpty: false });
    expect(first?.effects).toEqual([{ do: "clear draft" }]);
    expect(reduceKey(IDLE, "ctrl+d", { now: 0, draftIsEmpty: false })).toBeUndefined();
    expect(reduceKey(IDLE, "ctrl+d", EMPTY)?.effects).toEqual([{ do: "exit" }]);
  });

  verifies(["U2"], "interrupt by Esc only what runs", () => {
    expect(reduceKey(RUNNING, "escape", EMPTY)?.effects).toEqual([CANCEL]);
    expect(reduceKey(IDLE, "escape", EMPTY)?.effects).toEqual([]);
  });

  verifies(["U2"], "clear the draft by a second Esc, or go back to an earlier prompt if there is none", () => {
    const first = reduceKey(IDLE, "escape", EMPTY);
    const state = first?.state ?? IDLE;
    expect(state.hint?.text).toBe("Press Esc again to go back to an earlier prompt.");
    expect(reduceKey(state, "escape", { ...EMPTY, now: 1500 })?.effects).toEqual([{ do: "open", dialog: "rewind" }]);
    const typed = { now: 1500, draftIsEmpty: false };
    expect(reduceKey(state, "escape", typed)?.effects).toEqual([{ do: "clear draft" }]);
    expect(reduceKey(expire(state, 2000), "escape", { ...EMPTY, now: 2000 })?.effects).toEqual([]);
  });

  verifies(["U2", "P2"], "go round auto, review edits and plan by Shift-Tab", () => {
    const seen: string[] = [];
    let state = IDLE;
    for (let press = 0; press < 4; press++) {
      const next = reduceKey(state, "shift+tab", EMPTY);
      if (next === undefined) throw new Error("not taken");
      state = next.state;
      seen.push(state.place?.mode ?? "");
      expect(next.effects.at(-1)).toEqual({ do: "send", kind: "SetMode", payload: { mode: state.place?.mode } });
    }
    expect(seen).toEqual(["auto", "review", "plan", "auto"]);
  });

  for (const [what, before, modes] of [
    ["auto, if the person only passed review", {}, ["auto", "plan"]],
    ["review, if a prompt was sent in it", { prompt: "work" }, ["plan"]],
  ] as const)
    verifies(["U2", "L16"], `come to plan from ${what}`, () => {
      const press = (state: State) => reduceKey(state, "shift+tab", EMPTY) ?? { state, effects: [] };
      const { state } = press(press(IDLE).state);
      expect(state.place?.mode).toBe("review");
      const sent = { sent: { kind: "prompt", text: "work" }, text: "work", images: [], when: "now" } as const;
      const now = "prompt" in before ? { ...reduceSubmit(state, sent, 0).state, turn: undefined } : state;
      expect(press(now as State).effects).toEqual(
        modes.map((mode) => ({ do: "send", kind: "SetMode", payload: { mode } })),
      );
    });

  verifies(["U2"], "take queued input back only when there is some of this person", () => {
    expect(reduceKey(RUNNING, "alt+up", EMPTY)).toBeUndefined();
    const queue = [{ text: "next", images: 0, delivery: "queue" as const, own: true }];
    expect(reduceKey({ ...RUNNING, queue }, "up", { now: 0, draftIsEmpty: false })).toBeUndefined();
    expect(reduceKey(RUNNING, "up", EMPTY)).toBeUndefined();
    expect(reduceKey({ ...RUNNING, queue }, "up", EMPTY)).toEqual(reduceKey({ ...RUNNING, queue }, "alt+up", EMPTY));
    expect(reduceKey({ ...RUNNING, queue }, "alt+up", EMPTY)?.effects).toEqual([
      { do: "send", kind: "TakeBackInput", payload: {} },
    ]);
  });
});

describe("what is sent", () => {
  const send = (state: State, text: string, when: "now" | "later" = "now") =>
    reduceSubmit(state, { text, sent: readTypedInput(text), images: [], when }, 5);

  verifies(["U2"], "starts a turn, steers one that runs, or waits for its end", () => {
    expect(send(IDLE, "hello").effects).toMatchObject([
      { kind: "SendInput", payload: { content: [{ text: "hello" }] } },
    ]);
    expect(send(RUNNING, "hello").effects).toMatchObject([{ payload: { steer: true } }]);
    expect(send(RUNNING, "hello", "later").effects).toMatchObject([{ payload: { queue: true } }]);
  });

  verifies(["U6", "U7"], "is a command, a command of the shell or a prompt by its first characters", () => {
    expect(send(IDLE, "/model opus").effects).toEqual([
      { do: "command", line: "/model opus", verb: "model", args: "opus" },
    ]);
    expect(send(IDLE, "/usr/bin/node crashes").effects).toMatchObject([{ kind: "SendInput" }]);
    expect(send(IDLE, "!ls -l").effects).toEqual([{ do: "shell", command: "ls -l", share: true }]);
    expect(send(IDLE, "!!ls").effects).toEqual([{ do: "shell", command: "ls", share: false }]);
    expect(send(RUNNING, "!ls").effects).toEqual([{ do: "restore", text: "!ls" }]);
  });

  verifies(["U7"], "brings the outputs that the person shared along, once", () => {
    const shared = { ...IDLE, context: ["a b"] };
    const sent = send(shared, "what is there?");
    expect(sent.effects).toMatchObject([{ payload: { content: [{ text: "what is there?" }, { text: "a b" }] } }]);
    expect(sent.state.context).toEqual([]);
  });
});
