import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { text } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventKind, EventPayloads } from "../../../protocol/events.js";
import type { CallId, ClientId, SessionId, TurnId } from "../../../protocol/ids.js";
import { type Effect, firstState, type State } from "../state.js";
import { plainTheme } from "../themes.js";
import { statusLine } from "../views/status-line.js";
import { workingLine } from "../views/working-line.js";
import { reduceEvent } from "./reduce-event.js";

const SESSION = "sess_1" as SessionId;
const ME = "cli_1" as ClientId;
const TURN = "turn_1" as TurnId;
const A = "call_a" as CallId;
const B = "call_b" as CallId;
const USAGE = { input: 100, output: 10, cache_read: 0, cache_write: 0 };

const IDLE: State = {
  ...firstState({ client: ME, session: SESSION, model: "mock:m" }),
  place: { cwd: "/w", mode: "ask", instructions: [], context_window: 1000 },
};

function event<K extends EventKind>(kind: K, payload: EventPayloads[K]): Envelope {
  return { id: 1, kind, session: SESSION, originator: ME, ts: "2026-01-01T00:00:00.000Z", payload } as Envelope;
}

const started = (input = "do it") => event("TurnStarted", { turn: TURN, input: [text(input)], queued: 0 } as never);
const ended = (outcome: "answered" | "cancelled" | "failed", more: object = {}) =>
  event("TurnEnded", { turn: TURN, outcome, usage: USAGE, ...more } as never);
const call = (id: CallId, tool = "bash") => event("ToolCallStarted", { call: id, tool, args: {} });
const result = (id: CallId, status: "ok" | "denied" = "ok") =>
  event("ToolResult", { call: id, tool: "bash", status, content: [] });
const asked = (id: CallId) => event("PermissionRequested", { call: id, tool: "bash", args: {}, summary: `bash ${id}` });
const resolved = (id: CallId, by: string) =>
  event("PermissionResolved", { call: id, tool: "bash", decision: "deny", decided_by: by });

/** What was done, one short line each; 100 ms between two events. */
function play(events: readonly Envelope[], from: State = IDLE): { readonly state: State; readonly done: string[] } {
  let state = from;
  const done: string[] = [];
  for (const [index, each] of events.entries()) {
    const reduced = reduceEvent(state, each, index * 100);
    state = reduced.state;
    done.push(...reduced.effects.map(words));
  }
  return { state, done };
}

function words(effect: Effect): string {
  if (effect.do !== "print") return "text" in effect ? `${effect.do}: ${effect.text}` : effect.do;
  const { block } = effect;
  switch (block.kind) {
    case "prompt":
    case "thinking":
    case "notice":
      return `${block.kind}: ${block.text}`;
    case "tool":
      return `tool: ${block.call} ${block.result?.status ?? "open"}`;
    case "turn-end":
      return `turn-end: ${block.outcome}`;
    default:
      return block.kind;
  }
}

describe("a turn on the screen", () => {
  verifies(["U1"], "names the command whose output goes along with a prompt, and leaves the output out", () => {
    const output = '<untrusted-abc kind="shell-output" source="!echo &quot;hi&quot;">\nhi\n</untrusted-abc>';
    const input = [text("do it"), text(output)];
    const { state, done } = play([event("TurnStarted", { turn: TURN, input, queued: 0 } as never)]);
    expect(done).toEqual(['prompt: do it\n(with the output of !echo "hi")']);
    expect(state.turn?.text).toBe("do it");
  });

  verifies(["U1"], "prints the thought, the answer and parallel calls once each, in the model's order", () => {
    const { state, done } = play([
      started(),
      event("ThinkingDelta", { text: "Let me " }),
      event("ThinkingDelta", { text: "see." }),
      event("TextDelta", { text: "I look." }),
      call(A),
      call(B),
      event("ToolCallProgress", { call: B, text: "half" }),
      result(B),
      result(A),
      event("TextDelta", { text: "Done." }),
      ended("answered"),
    ]);
    expect(done).toEqual([
      "prompt: do it",
      "thinking: Let me see.",
      "answer: I look.",
      "end answer",
      "tool: call_a ok",
      "tool: call_b ok",
      "answer: Done.",
      "end answer",
      "turn-end: answered",
      "refresh",
    ]);
    expect(state).toMatchObject({ tools: [], answering: false, questions: [] });
    expect(state.turn).toBeUndefined();
    expect(state.recent).toHaveLength(1);
  });

  verifies(["P2"], "asks one question after the other, and says who was faster", () => {
    const both = play([started(), call(A), call(B), asked(A), asked(B)]);
    expect(both.state.questions.map((question) => question.call)).toEqual([A, B]);
    expect(both.done.filter((line) => line.startsWith("call person"))).toHaveLength(2);
    const own = play([resolved(A, ME)], both.state);
    expect([own.state.questions.map((question) => question.call), own.done]).toEqual([[B], []]);
    const other = play([resolved(B, "cli_2")], own.state);
    expect(other.done).toEqual(["notice: Already denied by cli_2."]);
    // The turn says it.
    for (const why of ["cancelled", "interrupted"]) expect(play([resolved(B, why)], own.state).done).toEqual([]);
    // A rule that decides without a question is no news.
    expect(play([resolved(A, "rule 1")], other.state).done).toEqual([]);
  });

  verifies(
    ["U2"],
    "gives the prompt back when it was cancelled before the model answered, and drops the question",
    () => {
      expect(play([started("my words"), ended("cancelled")]).done).toContain("restore: my words");
      const late = play([started(), event("TextDelta", { text: "I" }), call(A), asked(A), ended("cancelled")]);
      expect(late.done.some((line) => line.startsWith("restore"))).toBe(false);
      expect(late.state).toMatchObject({ questions: [], tools: [] });
      expect(late.state.recent).toEqual([]);
    },
  );

  verifies(["U2"], "puts queued text back into the editor when it is dropped, and only this person's", () => {
    const queue = (words: string, from: string, delivery: "queue" | "steer") =>
      event("InputQueued", { input: [text(words)], delivery, from } as never);
    const waiting = play([started(), queue("mine", ME, "steer"), queue("theirs", "cli_2", "queue")]);
    expect(waiting.state.queue.map(({ text: words, own }) => [words, own])).toEqual([
      ["mine", true],
      ["theirs", false],
    ]);
    const dropped = play(
      [event("InputDropped", { inputs: [[text("mine")], [text("theirs")]] } as never)],
      waiting.state,
    );
    expect(dropped.done).toEqual(["restore: mine", "notice: Not sent: theirs"]);
    expect(dropped.state.queue).toEqual([]);
    const cancelled = play([ended("cancelled")], waiting.state);
    expect(cancelled.done.filter((line) => line.startsWith("restore"))).toEqual([
      expect.stringMatching(/^restore: [^\n]+\n\nmine$/),
    ]);
    expect(cancelled.state.queue.map(({ text: words }) => words)).toEqual(["theirs"]);
    const steered = play([event("InputSteered", { turn: TURN, input: [text("mine")] } as never)], waiting.state);
    expect(steered.done).toEqual(["prompt: mine"]);
    expect(steered.state.queue.map(({ text: words }) => words)).toEqual(["theirs"]);
  });

  verifies(["M15"], "takes a retracted answer back with one sentence, and names the model that answers instead", () => {
    const { state, done } = play([
      started(),
      event("TextDelta", { text: "Half an ans" }),
      event("AnswerRetracted", { turn: TURN, reason: "ProviderUnavailable" } as never),
      event("FailedOver", {
        turn: TURN,
        route: "main",
        from: { provider: "zai", model: "a" },
        to: { provider: "openrouter", model: "b" },
        message: "zai is overloaded.",
      } as never),
      event("TextDelta", { text: "A whole answer." }),
      event("AnswerEnded", { turn: TURN, provider: "openrouter", model: "b" } as never),
      ended("answered"),
    ]);
    expect(done.slice(1, -2)).toEqual([
      "answer: Half an ans",
      "drop answer",
      "notice: The answer was interrupted. The model starts it again.",
      "notice: zai is overloaded. openrouter:b answers instead.",
      "answer: A whole answer.",
      "end answer",
    ]);
    expect(state.model).toBe("openrouter:b");
  });

  verifies(["M15"], "keeps and prints no amount where costs are hidden", () => {
    const first = { ...firstState({ client: ME, session: SESSION, model: "mock:m", hidesCost: true }) };
    const cost = { provider: "zai", model: "m", usage: USAGE, elapsed_ms: 5, cost: { usd: 0.02 } };
    const share = { provider: "zai", model: "m", usage: USAGE, cost: { usd: 0.02 } };
    const over = event("TurnEnded", {
      ...{ outcome: "answered", usage: USAGE, cost: { usd: 0.02 }, by_model: [share, share] },
    } as never);
    const { state, done } = play([started(), event("CostIncremented", cost as never), over], first);
    expect(state.costs.session.usd).toBe(0);
    expect(state.costs.contextUsed).toBe(110);
    expect(done.join("\n")).not.toContain("$");
    expect(JSON.stringify(state.recent)).not.toContain("usd");
  });

  verifies(["M15"], "counts the answer while it streams, at most four times a second, until its price is known", () => {
    const place = { cwd: "/w", mode: "ask" as const, instructions: [], price: { input: 1, output: 1_000_000 } };
    const line = (state: State) => statusLine(state, { width: 200, theme: plainTheme });
    const turnOf = (state: State) => /(≥ )?\$[\d.]+\/turn/.exec(line(state))?.[0];
    const begun = play([started()], { ...IDLE, place }).state;
    expect(turnOf(begun)).toBeUndefined();
    let state = begun;
    const shown = [0, 100, 200, 300, 400, 500, 600].map((now) => {
      state = reduceEvent(state, event("TextDelta", { text: " word" }), now).state;
      return turnOf(state);
    });
    expect(shown).toEqual([1, 1, 1, 4, 4, 4, 7].map((usd) => `≥ $${usd}.00/turn`));
    const cost = { provider: "mock", model: "m", usage: USAGE, elapsed_ms: 5, cost: { usd: 9 } };
    expect(turnOf(play([event("CostIncremented", cost as never)], state).state)).toBe("$9.00/turn");
    const hidden = play([started(), event("TextDelta", { text: " word" })], { ...IDLE, place, hidesCost: true });
    expect(line(hidden.state)).not.toContain("$");
    const unknown = play([started(), event("TextDelta", { text: " word" })]);
    expect(line(unknown.state)).not.toContain("$");
  });

  verifies(["M15"], "adds the costs by provider and measures the window by the last answer", () => {
    const cost = (provider: string, usd: number, more: object = {}) =>
      event("CostIncremented", { provider, model: "m", usage: USAGE, elapsed_ms: 5, cost: { usd }, ...more } as never);
    const { state } = play([started(), cost("zai", 0.02, { abandoned: true }), cost("openrouter", 0.05)]);
    expect(state.costs.turn).toEqual({ usd: 0.07, known: true, byProvider: { zai: 0.02, openrouter: 0.05 } });
    expect(state.costs.contextUsed).toBe(110);
    const next = play([ended("answered"), started()], state).state;
    expect([next.costs.turn.usd, next.costs.session.usd]).toEqual([0, 0.07]);
  });

  verifies(["L17"], "shows what a subagent does under its call, and adds its cost", () => {
    const name = { call: A, session: "sess_x", type: "explore" };
    const { state } = play([
      started(),
      call(A),
      event("SubagentStarted", { ...name, provider: "p", model: "m", description: "find it" } as never),
      event("SubagentProgress", { ...name, text: "grep TODO", elapsed_ms: 12_000, tokens: 3400 } as never),
      event("SubagentEnded", {
        ...name,
        outcome: "answered",
        elapsed_ms: 1,
        usage: USAGE,
        cost: { usd: 0.03 },
      } as never),
    ]);
    expect(state.tools[0]?.progress).toBe("grep TODO\n");
    expect(state.tools[0]?.agent).toMatchObject({ session: "sess_x", description: "find it", calls: 1, tokens: 110 });
    expect(state.costs.turn).toEqual({ usd: 0.03, known: true, byProvider: { subagents: 0.03 } });
    expect(state.costs.contextUsed).toBe(0);
  });

  verifies(["U1"], "shows a wait in the working line only, until the model answers", () => {
    const waiting = play([
      started(),
      event("Retrying", { message: "Overloaded. Retrying in 8 s…", wait_ms: 8000, attempt: 1 } as never),
    ]);
    expect(waiting.state.turn?.progress).toBe("Overloaded. Retrying in 8 s…");
    const begun = waiting.state.turn?.retryAt ?? 0;
    const lineAt = (now: number) => workingLine(waiting.state, { width: 80, theme: plainTheme, now, verses: [] });
    const waits = [8000, 2600, -500].map((left) => lineAt(begun - left)?.slice(2));
    expect(waits).toEqual(["8 s", "3 s", "1 s"].map((left) => `Overloaded. Retrying in ${left}… (esc interrupts)`));
    expect(waiting.done).toEqual(["prompt: do it"]);
    expect(play([event("TextDelta", { text: "x" })], waiting.state).state.turn?.progress).toBeUndefined();
  });

  verifies(["U1", "X6"], "shows how far a slash command is", () => {
    const running = { ...IDLE, command: { line: "/rag ingest docs", startedAt: 0 } };
    const progress = event("Notice", { level: "progress", message: "Reading 3 of 9" });
    expect(play([progress], running).state.command?.progress).toBe("Reading 3 of 9");
    expect(play([progress]).state.command).toBeUndefined();
  });

  verifies(["U1"], "shows the model's calls while a command of the person runs", () => {
    const shell = { ...IDLE, shell: { command: "ls", output: "a b\n", startedAt: 0 } };
    const { state } = play([call(A)], shell);
    expect([state.shell?.output, state.tools.length]).toEqual(["a b\n", 1]);
  });

  verifies(["P13"], "follows a mode that another client has set", () => {
    const changed = event("ModeChanged", { mode: "plan", by: "cli_2" as ClientId });
    expect(play([changed]).state.place?.mode).toBe("plan");
  });
});
