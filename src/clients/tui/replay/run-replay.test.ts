import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../base/clock.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { type ReplayOptions, runReplay } from "./run-replay.js";
import type { EventSource } from "./step-stream.js";
import { FakeTerminal } from "./test-support/fake-terminal.js";
import { longLog, SampleLog, sampleLog, sourceOf } from "./test-support/sample-log.js";

const ESC = "\u001b";

function open(log: SampleLog, options: Partial<ReplayOptions> & { terminal?: FakeTerminal } = {}) {
  const terminal = options.terminal ?? new FakeTerminal();
  const clock = new ManualClock();
  const base = { lastEvent: log.events.length, title: "sess_1", timeZone: "UTC", model: "test:first" };
  const output = { color: true, terminal, write() {} };
  const done = runReplay({ events: sourceOf(log.events), clock, ...base, output, ...options });
  return { terminal, clock, done };
}

describe("[S6] runReplay on a terminal", () => {
  it("steps through a session and gives the screen back", async () => {
    const { terminal, done } = open(sampleLog());
    expect(await terminal.shows("List the files")).toBe(
      [
        "▌ you",
        "List the files",
        ...Array.from({ length: 8 }, () => ""),
        "step 1/10 · turn 1/2 · 2026-01-31 · 12:00:00 · test:mock",
        "sess_1 · replay: nothing is executed · ? help",
      ].join("\n"),
    );
    expect(terminal.isFull).toBe(true);
    terminal.type(" ");
    await terminal.shows("Let me look.");
    terminal.type(`${ESC}[C`);
    await terminal.shows("▌ ● bash");
    terminal.type("jj");
    expect(await terminal.shows("▌ ✓ bash: ok")).toContain("ls -la\n\none.txt\ntwo.txt");
    terminal.type("b");
    await terminal.shows("allowed once");
    terminal.type("q");
    await done;
    expect([terminal.isFull, terminal.closed, terminal.listeners]).toEqual([false, 1, 0]);
  });

  it("leaves with Ctrl-C, with Esc, and when it is stopped", async () => {
    const interrupted = open(sampleLog());
    interrupted.terminal.type("\u0003");
    await interrupted.done;

    const escaped = open(sampleLog());
    await escaped.terminal.shows("List the files");
    escaped.terminal.type(ESC);
    await escaped.done;
    expect(escaped.clock.pending).toBe(0);

    const stop = new AbortController();
    const stopped = open(sampleLog(), { signal: stop.signal });
    await stopped.terminal.shows("List the files");
    stop.abort();
    await stopped.done;
    expect(stopped.terminal.isFull).toBe(false);
    await open(sampleLog(), { signal: stop.signal }).done;
  });

  it("draws again when the terminal changes its size, down to 20 by 5", async () => {
    const { terminal, done } = open(sampleLog());
    await terminal.shows("List the files");
    terminal.resize(20, 5);
    expect(await terminal.shows("step 1/10")).toBe("▌ you\nList the files\n\n\nstep 1/10 · turn 1/2");
    for (const [columns, rows] of [
      [1, 1],
      [2, 2],
      [300, 90],
    ] as const) {
      terminal.resize(columns, rows);
      expect(terminal.screen.split("\n")).toHaveLength(rows);
    }
    terminal.type("q");
    await done;
  });

  it("searches contents that are not in memory, over the end and back", async () => {
    const { terminal, done } = open(longLog(60));
    await terminal.shows("Question 1");
    terminal.type("/answer 40, in two\r");
    expect(await terminal.shows("▌ answer")).toContain("Answer 40, in two parts.");
    terminal.type("/QUESTION 3\r");
    await terminal.shows("“QUESTION 3” was not found.");
    terminal.type("/Question 3\r");
    expect(await terminal.shows("continued from the beginning")).toContain("Question 3\n");
    terminal.type("q");
    await done;
  });

  it("plays at the recorded speed", async () => {
    const log = new SampleLog().started("one").add("Cancelled", { turn: "turn_1", by: "two" }, 700);
    const { terminal, clock, done } = open(log.add("Cancelled", { turn: "turn_1", by: "three" }, 60_000));
    await terminal.shows("one");
    terminal.type("a");
    await terminal.shows("▶ you");
    clock.advance(699);
    expect(terminal.screen).toContain("▶ you");
    clock.advance(1);
    await terminal.shows("by two");
    clock.advance(2000);
    expect(await terminal.shows("by three")).toContain("The end.");
    terminal.type("q");
    await done;
  });

  it("says that it reads when a step takes long", async () => {
    const { events } = sampleLog();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: EventSource = async function* (range) {
      if (range.limit !== undefined) await held;
      yield* sourceOf(events)(range);
    };
    const { terminal, clock, done } = open(sampleLog(), { events: slow });
    await new Promise((resolve) => setImmediate(resolve));
    expect(terminal.screen).toBe("");
    clock.advance(60);
    expect(terminal.screen).toContain("Reading …");
    release();
    await terminal.shows("List the files");
    terminal.type("q");
    await done;
  });

  it("shows what can be read of a damaged log, says why the rest is missing, and ends with the error", async () => {
    const { events } = sampleLog();
    const damaged: EventSource = async function* ({ after = 0, limit = 99 }) {
      yield* events.slice(after, Math.min(after + limit, 12));
      if (after + limit > 12) throw new Error("Event 13 is not what was written.");
    };
    const { terminal, done } = open(sampleLog(), { events: damaged });
    const failed = expect(done).rejects.toThrow("Event 13 is not what was written.");
    await terminal.shows("Event 13 is not what was written.");
    terminal.type(`${ESC}[F`);
    await terminal.shows("There are");
    terminal.type("q");
    await failed;
    expect(terminal.isFull).toBe(false);
    expect(terminal.closed).toBe(1);
  });

  it("shows that a step cannot be read, and continues", async () => {
    const { events } = sampleLog();
    const holed: EventSource = async function* (range) {
      if (range.after === 1 && range.limit !== undefined) throw new Error("The blob is gone.");
      yield* sourceOf(events)(range);
    };
    const { terminal, done } = open(sampleLog(), { events: holed });
    await terminal.shows("List the files");
    terminal.type("j");
    await terminal.shows(/Oxbow cannot read this step\nThe blob is gone\./);
    terminal.type("j");
    await terminal.shows("● bash");
    terminal.type("q");
    await done;
  });

  it("skips steps while keys come faster than the log", async () => {
    const { terminal, done } = open(longLog(30));
    await terminal.shows("Question 1");
    terminal.type("jjjjnnn");
    await terminal.shows(/Question 4\n[\s\S]*step 16\/150 · turn 4\/30/);
    terminal.type("q");
    await done;
  });

  it("opens a session of 100,000 events at once and keeps only the index", async () => {
    const log = longLog(12_500);
    const source = sourceOf(log.events);
    const { terminal, done } = open(log, { events: source });
    await terminal.shows("Question 1");
    expect(source.reads.events).toBeLessThan(5000);
    terminal.type(`${ESC}[F`);
    await terminal.shows("step 62500/62500 ");
    await terminal.shows("turn ended");
    terminal.type("12000\r");
    await terminal.shows("Question 12000");
    terminal.type("q");
    await done;
  });
});

describe("[S6] runReplay without a terminal", () => {
  it("prints the steps, and waits for the reader", async () => {
    let written = "";
    let waiting = 0;
    const write = async (text: string) => {
      expect(waiting).toBe(0);
      waiting++;
      written += text;
      await Promise.resolve();
      waiting--;
    };
    await open(sampleLog(), { output: { color: true, write } }).done;
    expect(written).toMatch(/^sess_1 — replay: nothing is executed\n/);
    expect(written).toContain("step 10 · turn 2");
    expect(written).not.toContain(ESC);
  });

  it("ends with the error of the log", async () => {
    let written = "";
    const broken: EventSource = async function* () {
      yield* sampleLog().events.slice(0, 2) as Envelope[];
      throw new Error("damaged");
    };
    const write = (text: string) => {
      written += text;
    };
    await expect(open(sampleLog(), { output: { color: true, write }, events: broken }).done).rejects.toThrow("damaged");
    expect(written).toContain("List the files");
  });
});
