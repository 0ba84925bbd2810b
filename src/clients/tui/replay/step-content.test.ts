import { describe, expect, it } from "vitest";
import type { Envelope } from "../../../protocol/envelope.js";
import { EXPIRED } from "../../../protocol/events.js";
import { NO_USAGE } from "../../../protocol/usage.js";
import { type ContentOptions, type StepContent, StepReader } from "./step-content.js";
import { shownSections } from "./step-layout.js";
import { callId, SampleLog } from "./test-support/sample-log.js";

function read(log: SampleLog, options: Partial<ContentOptions> = {}): StepContent {
  const reader = new StepReader({ resultLines: 3, ...options });
  for (const event of log.events) reader.add(event);
  return reader.content();
}

const plain = (content: StepContent) => shownSections(content, false).map(({ text }) => text);
const detailed = (content: StepContent) => shownSections(content, true).map(({ text }) => text);

describe("[S6] StepReader", () => {
  it("joins the deltas of an answer; its thinking and its cost are details", () => {
    const content = read(new SampleLog().thought("I ", "think").answers("Hel", "lo", "\n").paid());
    expect(content.title).toBe("answer");
    expect(plain(content)).toEqual(["Hello"]);
    expect(detailed(content)).toEqual([
      "I think",
      "Hello",
      "model call: test:mock · 100 in · 10 out · 1.5 s\nevents 1–6 · 2026-01-31T12:00:00.000Z · over 40ms · cli_1",
    ]);
  });

  it("shows a call in one line, its arguments as people read them in the details", () => {
    const content = read(new SampleLog().called("a", "write", { path: "a.ts", content: "one\ntwo", mode: { x: 1 } }));
    expect(content.title).toBe("● write");
    expect(plain(content)).toEqual(['a.ts content=one⏎two mode={"x":1}']);
    expect(detailed(content)[0]).toBe('path: a.ts\ncontent:\n  one\n  two\nmode: {"x":1}');
    expect(detailed(read(new SampleLog().called("a", "todo", {})))[0]).toBe("(no arguments)");
  });

  it("cuts a long result short, and shows all of it in the details", () => {
    const content = read(new SampleLog().returned("a", "bash", "1\n2\n3\n4\n5\n"));
    expect(content.title).toBe("✓ bash: ok");
    expect(plain(content)).toEqual(["1\n2\n3\n… 2 more lines"]);
    expect(detailed(content)[0]).toBe("1\n2\n3\n4\n5");
    expect(plain(read(new SampleLog().returned("a", "bash", "1\n2\n3\n")))).toEqual(["1\n2\n3"]);
    expect(plain(read(new SampleLog().returned("a", "bash", "1\n2\n3\n4")))).toEqual(["1\n2\n3\n… 1 more line"]);
    expect(plain(read(new SampleLog().returned("a", "bash", "")))).toEqual(["(no output)"]);
    const endless = plain(read(new SampleLog().returned("a", "bash", "x".repeat(5000))))[0] ?? "";
    expect(endless).toBe(`${"x".repeat(480)}\n… 4,520 more characters`);
  });

  it("says how a call failed, and which one it was if known", () => {
    const log = new SampleLog().returned("a", "bash", "boom", "timeout");
    expect(read(log)).toMatchObject({ title: "✗ bash: timeout", style: "red" });
    const reader = new StepReader({ resultLines: 3 });
    reader.about({ call: callId("a"), tool: "bash", args: { command: "make\nall" } });
    reader.add(log.events[0] as Envelope);
    expect(plain(reader.content())).toEqual(["make⏎all", "boom"]);
  });

  it("shows images by their kind and size", () => {
    const image = { type: "image" as const, media_type: "image/png", data: "A".repeat(4096) };
    const log = new SampleLog().add("TurnStarted", { turn: "turn_1", input: [image, { type: "text", text: "look" }] });
    expect(plain(read(log))).toEqual(["[image/png, 3 KB]\nlook"]);
  });

  it("tells a decision and who took it", () => {
    const call = callId("a");
    const log = new SampleLog()
      .add("PermissionRequested", { call, tool: "bash", args: { command: "rm x" }, summary: "Run rm x" })
      .add("PermissionResolved", {
        call,
        tool: "bash",
        decision: "deny",
        decided_by: "rule bash(rm *)",
        message: "no",
      });
    expect(read(log)).toMatchObject({ title: "permission for bash: denied", style: "red" });
    expect(plain(read(log))).toEqual(["Run rm x", "decided by rule bash(rm *): no"]);
    const [question] = log.events;
    const reader = new StepReader({ resultLines: 3 });
    reader.add(question as Envelope);
    expect(reader.content().title).toBe("permission asked for bash");
  });

  it("tells how a turn ended and why", () => {
    const usage = { input: 1000, output: 5, cache_read: 200, cache_write: 0, reasoning: 0 };
    const failure = { reason: "IterationLimit" as const, message: "Stopped." };
    const base = { turn: "turn_1" as const, text: "", iterations: 3, usage };
    const log = new SampleLog()
      .add("TurnTiming", { turn: "turn_1", parts: { fast: 1, slow: 20.25 } })
      .add("TurnEnded", { ...base, outcome: "limit", failure, truncated: true });
    const content = read(log);
    expect(content).toMatchObject({ title: "turn ended: limit", style: "red" });
    expect(plain(content)).toEqual([
      "IterationLimit: Stopped.",
      "The answer was cut off at the model's output limit.",
      "3 model calls · 1,200 in · 5 out",
    ]);
    expect(detailed(content).at(-1)).toMatch(/^ +20\.3 ms {2}slow\n +1\.0 ms {2}fast\nevents 1–2/);
  });

  it("shows gaps, and the thinking of an interrupted turn", () => {
    const gap = read(new SampleLog().add("StreamGap", { from: 5, to: 9, reason: "slow client" }));
    expect([gap.title, ...plain(gap)]).toEqual(["gap in the log", "Events 5–9 are missing: slow client"]);
    const broken = read(new SampleLog().thought("hm"));
    expect([broken.title, detailed(broken)[0]]).toEqual(["unfinished: the log stops here", "hm"]);
  });

  it("has words for every kind of event", () => {
    const turn = "turn_1" as const;
    const helper = { call: callId("a"), session: "sess_2", type: "explore" } as const;
    const log = new SampleLog()
      .add("Error", { reason: "Internal", message: "fault" })
      .add("Cancelled", { turn, by: "cli_2" })
      .add("CompactionTriggered", { turn, reason: "too long", summary: "So far …" })
      .add("TokenExpiring", { jti: "tok_1", expires_at: "2026-01-01T00:00:00.000Z" })
      .add("HookTimeout", { event: "done", command: "lint", timeout_ms: 5000 })
      .add("HookError", { event: "done", command: "lint", exit_code: 3 })
      .add("MCPServerDown", { name: "db", reason: "gone", attempts: 2 })
      .add("SkillRegistryChanged", { added: ["a"], removed: ["b"] })
      .add("SessionEnded", { reason: "idle" })
      .add("CustomEvent", { namespace: "acme", kind: "ping", payload: { x: 1 } })
      .add("ModeChanged", { mode: "plan", by: "cli_2" })
      .add("ContextNearlyFull", { turn, model: "m", used: 9000, window: 10_000 })
      .add("SubagentStarted", { ...helper, provider: "p", model: "m", description: "look" })
      .add("SubagentProgress", { ...helper, text: "grep TODO", elapsed_ms: 12_000, tokens: 3400 })
      .add("SubagentEnded", { ...helper, outcome: "answered", elapsed_ms: 12_000, usage: NO_USAGE })
      .add("SessionContinued", { replaced: [] });
    const said = log.events.map((event) => {
      const content = read(Object.assign(new SampleLog(), { events: [event] }));
      return [content.title, ...plain(content)].join(" | ");
    });
    expect(said).toEqual([
      "error: Internal | fault",
      "cancelled | by cli_2",
      "conversation compacted | too long\n\nSo far …",
      "token expires soon | tok_1",
      "hook timed out: done | lint took longer than 5s.",
      "hook failed: done | lint ended with exit code 3.",
      "MCP server down: db | gone (after 2 attempts)",
      "skills changed | + a\n- b",
      "session ended: idle",
      'acme: ping | {"x":1}',
      "mode: plan",
      "context window almost full | 9,000 of 10,000 tokens of m",
      "subagent explore started | look",
      "subagent | explore: grep TODO (12s, 3.4k tokens)",
      "subagent explore: answered | after 12s",
      "continued after an interruption",
    ]);
  });

  it("marks expired content once, and knows a call that has lost its arguments", () => {
    expect(plain(read(new SampleLog().answers(EXPIRED, EXPIRED, EXPIRED)))).toEqual([EXPIRED]);
    expect(plain(read(new SampleLog().answers(EXPIRED, EXPIRED, "left")))).toEqual([`${EXPIRED}left`]);
    const call = new SampleLog().called("a", "bash", {});
    expect(plain(read(call, { expiredTo: 1 }))).toEqual([EXPIRED]);
    expect(plain(read(call))).toEqual([]);
  });

  it("makes all of it harmless, also over the borders of deltas", () => {
    const log = new SampleLog().answers("a\u001b", "[31mb\u001b]0;x\u0007\u202e");
    expect(plain(read(log))).toEqual(["ab␛]0;x␇<U+202E>"]);
    const evil = read(new SampleLog().called("a", "ba\u001b[2Jsh\n", { command: "x\u001b[2J" }));
    expect([evil.title, ...plain(evil)]).toEqual(["● bash␊", "x"]);
  });

  it("does not keep more of an endless answer than can be shown", () => {
    const log = new SampleLog().answers(..."abcde".split("").map((letter) => letter.repeat(100_000)));
    const [text = ""] = plain(read(log));
    expect(text.length).toBeLessThan(400_200);
    expect(text.slice(-120)).toMatch(/d\n\[… 100,000 more characters are not shown: export the session to see them\]$/);
  });
});
