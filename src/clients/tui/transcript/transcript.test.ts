import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import type { EngineClient } from "../../../protocol/client.js";
import { text } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { SessionId } from "../../../protocol/ids.js";
import { key } from "../dialogs/samples.testkit.js";
import { transcriptDialog } from "../dialogs/transcript.js";
import { plainTheme } from "../themes.js";
import { History } from "./history.js";
import { Remembered } from "./remembered.js";

const SESSION = "sess_1" as SessionId;
const TURNS = 4000;
const USAGE = { input: 1, output: 1, cache_read: 0, cache_write: 0 };

/** A log of many turns of three events each. */
const LOG = Array.from({ length: TURNS }, (_, turn) => {
  const bodies = [
    ["TurnStarted", { turn: `turn_${turn}`, input: [text(`prompt ${turn}`)] }],
    ["TextDelta", { text: `Answer ${turn}.` }],
    ["TurnEnded", { turn: `turn_${turn}`, outcome: "answered", usage: USAGE }],
  ] as const;
  return bodies.map(([kind, payload], index) => {
    return { id: turn * 3 + index + 1, kind, payload, session: SESSION, ts: "2026-01-01T00:00:00.000Z" };
  });
}).flat() as unknown as readonly Envelope[];

function historyBefore(before: number) {
  let changed: () => void = () => {};
  const client = {
    query: async (_kind: string, { before: end, limit }: { before: number; limit: number }) => ({
      ok: true,
      answer: { events: LOG.slice(Math.max(0, end - 1 - limit), end - 1) },
    }),
  } as unknown as EngineClient;
  const history = new History({ client, session: SESSION, blocks: [], before, onChange: () => changed() });
  const load = () =>
    new Promise<void>((resolve) => {
      changed = resolve;
      history.loadEarlier();
    });
  return { history, load };
}

describe("the history", () => {
  verifies(["U2"], "comes page by page, each event once, from the newest turn to the first", async () => {
    const { history, load } = historyBefore(LOG.length);
    while (history.state === "more") await load();
    expect(history.state).toBe("complete");
    const blocks = history.pages.toReversed().flat();
    const prompts = blocks.flatMap((block) => (block.kind === "prompt" ? [block.text] : []));
    expect(prompts).toEqual(Array.from({ length: TURNS }, (_, turn) => `prompt ${turn}`));
    expect(history.pages.length).toBe(4);
  });

  verifies(["U2"], "keeps the lines that a person reads where they are when an earlier page comes", async () => {
    const { history, load } = historyBefore(LOG.length);
    await load();
    const dialog = transcriptDialog(history);
    const size = { columns: 60, rows: 10 };
    dialog.view(dialog.first, size, plainTheme);
    const step = dialog.onKey(dialog.first, key("g"));
    const state = "state" in step ? step.state : dialog.first;
    const before = dialog.view(state, size, plainTheme).lines.slice(0, 9);
    while (history.state === "loading") await new Promise(setImmediate);
    const after = dialog.view(state, size, plainTheme).lines;
    expect(after.slice(0, 9)).toEqual(before);
    const up = dialog.onKey(state, key("pageUp"));
    const earlier = dialog.view("state" in up ? up.state : state, size, plainTheme).lines;
    expect(earlier[8]).toBe(before[0]);
  });

  it("says why it cannot continue", async () => {
    const client = { query: async () => ({ ok: false, failure: { message: "No store." } }) } as unknown as EngineClient;
    const history = new History({ client, session: SESSION, blocks: [], before: 9, onChange: () => {} });
    history.loadEarlier();
    await new Promise(setImmediate);
    expect(history.state).toEqual({ problem: "No store." });
  });
});

describe("what the client remembers", () => {
  it("is bounded, and knows where the log continues", () => {
    const remembered = new Remembered();
    remembered.see(1);
    const words = "x".repeat(400_000);
    for (const event of [3, 3, 5, 8, 8]) remembered.add({ kind: "answer", markdown: words }, event);
    expect(remembered.blocks.length).toBe(2);
    expect(remembered.before).toBe(5);
    remembered.add({ kind: "answer", markdown: words.repeat(5) }, 9);
    expect(remembered.blocks.length).toBe(1);
    remembered.restart();
    expect(remembered.before).toBeUndefined();
  });
});
