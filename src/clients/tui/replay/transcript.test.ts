import { describe, expect, it } from "vitest";
import { textWidth } from "../../../base/text-width.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { longLog, SampleLog, sampleLog, sourceOf } from "./test-support/sample-log.js";
import { printReplay, showTranscript, type TranscriptOptions } from "./transcript.js";

const OPTIONS: TranscriptOptions = { color: false, details: false, timeZone: "UTC" };

async function show(log: SampleLog, options: Partial<TranscriptOptions> = {}): Promise<string> {
  return collect(showTranscript(sourceOf(log.events)({}), { ...OPTIONS, ...options }));
}

async function collect(pieces: AsyncIterable<string>): Promise<string> {
  let all = "";
  for await (const piece of pieces) all += piece;
  return all;
}

describe("[S10] showTranscript", () => {
  it("tells a session turn by turn", async () => {
    expect(await show(sampleLog(), { price: ({ usage }) => usage.input / 1e5 })).toBe(`
── Turn 1 · 2026-01-31 12:00:00 ────────────────────────────────────────

> List the files

Let me look.

● bash ls -la
■ permission for bash: allowed once
  Run ls -la

  decided by person
✓ bash: ok
  one.txt
  two.txt

There are two files.

■ turn ended: answered
  1 model call · 100 in · 10 out
  test:mock · $0.0020 · 3.0 s

── Turn 2 · 2026-01-31 12:00:06 ────────────────────────────────────────

> Thanks

You are welcome.

■ turn ended: answered
  1 model call · 100 in · 10 out
  test:other · $0.0020 · 1.5 s
`);
  });

  it("shows thinking, arguments, timings and ids on request", async () => {
    const shown = await show(sampleLog(), { details: true });
    expect(shown).toContain("── thinking\nI should use ls.\n\nLet me look.");
    expect(shown).toContain("● bash\n  command: ls -la\n");
    expect(shown).toContain("  ── while it ran\n  one.txt\n");
    expect(shown).toContain("1234.5 ms  provider/total");
    expect(shown).toContain("event 11 · 2026-01-31T12:00:05.040Z");
  });

  it("shows the requested turns, and reads no further", async () => {
    const source = sourceOf(longLog(50).events);
    const shown = await collect(showTranscript(source({}), { ...OPTIONS, turns: { from: 2, to: 3 } }));
    expect(shown.match(/Question \d+/g)).toEqual(["Question 2", "Question 3"]);
    expect(shown).toMatch(/^\n── Turn 2 /);
    expect(source.reads.events).toBeLessThan(40);
  });

  it("names the call again when results come together", async () => {
    const log = new SampleLog().started("x").called("a", "read", { path: "a" }).called("b", "read", { path: "b" });
    log.returned("a", "read", "A").returned("b", "read", "B");
    expect(await show(log)).toContain("● read a\n\n● read b\n✓ read: ok\n  a\n\n  A\n✓ read: ok\n  b\n\n  B\n");
  });

  it("shows the events before the first turn, and a turn without an end", async () => {
    const log = new SampleLog()
      .add("SkillRegistryChanged", { added: ["x"], removed: [] })
      .started("hi")
      .thought("hm");
    const shown = await show(log);
    expect(shown).toContain("── Before the first turn ·");
    expect(shown).toMatch(/> hi\n■ unfinished: the log stops here\n$/);
  });

  it("breaks lines for a terminal, and never makes one too wide", async () => {
    const log = new SampleLog()
      .started("word ".repeat(30))
      .answers("世界".repeat(40))
      .called("a", "bash", { command: "echo ".repeat(40) })
      .returned("a", "bash", "x".repeat(300));
    log.paid("a-model-with-a-very-long-name-indeed").ended();
    const shown = await show(log, { width: 30 });
    for (const line of shown.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(30);
    expect(await show(log)).toContain("世界".repeat(40));
  });

  it("is harmless whatever the log holds", async () => {
    const log = new SampleLog().started("\u001b]0;x\u0007").called("a", "\u001b[2Jt", { a: "\u001b[2J\r" });
    log.returned("a", "t", "\u009b2J\u202e").paid("m\u001b[2J").ended();
    expect(await show(log)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  it("reads at most one event ahead of its output", async () => {
    const source = sourceOf(longLog(200).events);
    for await (const piece of showTranscript(source({}), OPTIONS)) {
      const turn = /Question (\d+)/.exec(piece)?.[1];
      // The step is complete when the next event arrives: the second of its turn.
      if (turn !== undefined) expect(source.reads.events).toBe((Number(turn) - 1) * 8 + 2);
    }
    expect(source.reads.events).toBe(1600);
  });

  it("passes on that the log could not be read", async () => {
    async function* broken(): AsyncIterable<Envelope> {
      yield* sampleLog().events.slice(0, 3);
      throw new Error("Event 4 is damaged.");
    }
    await expect(collect(showTranscript(broken(), OPTIONS))).rejects.toThrow("Event 4 is damaged.");
  });
});

describe("[S6] printReplay", () => {
  it("prints every step with its number and says that nothing runs", async () => {
    const log = sampleLog();
    const shown = await collect(
      printReplay({ events: sourceOf(log.events), title: "sess_1\u001b[2J", timeZone: "UTC" }),
    );
    expect(shown).toMatch(
      /^sess_1 — replay: nothing is executed\n\nstep 1 · turn 1 · 2026-01-31 12:00:00 · you\n {2}List/,
    );
    expect(shown).toContain("\nstep 3 · turn 1 · 2026-01-31 12:00:01 · ● bash\n  ls -la\n");
    expect(shown.match(/^step /gm)).toHaveLength(10);
  });
});
