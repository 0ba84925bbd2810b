import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { textWidth } from "../../../base/text-width.js";
import type { ClientId, SessionId } from "../../../protocol/ids.js";
import { HOSTILE } from "../dialogs/samples.testkit.js";
import { firstState, type State } from "../state.js";
import { createTheme, plainTheme } from "../themes.js";
import { composeFrame } from "./frame.js";
import { queueLines } from "./queue.js";
import { statusLine } from "./status-line.js";
import { workingLine } from "./working-line.js";

const WIDTHS = [40, 80, 120, 200];
const VERSES = ["The Owl and the Pussy-cat went to sea", "In a beautiful pea-green boat"];

const IDLE: State = {
  ...firstState({ client: "cli_1" as ClientId, session: "sess_1" as SessionId, model: "anthropic:claude-sonnet-4-5" }),
  title: "fix the tests",
  place: {
    cwd: "/home/me/project",
    mode: "auto",
    effort: "high",
    branch: "main",
    sandbox: "bubblewrap",
    context_window: 200_000,
    instructions: ["AGENTS.md"],
  },
};
const SPENT = { usd: 0.07, known: true, byProvider: { zai: 0.02, openrouter: 0.05 } };
const COSTLY: State = { ...IDLE, costs: { turn: SPENT, session: { ...SPENT, usd: 1.25 }, contextUsed: 150_000 } };
const RUNNING: State = {
  ...IDLE,
  turn: { startedAt: 0, text: "do it", answered: false, cancelling: false },
};
const turn = RUNNING.turn as NonNullable<State["turn"]>;
const QUEUE: State["queue"] = [
  { text: "and the docs\nplease", images: 1, delivery: "steer", own: true },
  { text: HOSTILE, images: 0, delivery: "queue", own: false },
  ...["three", "four", "five"].map((text) => ({ text, images: 0, delivery: "queue" as const, own: true })),
];

type Lines = (width: number) => readonly string[];

const status =
  (state: State, theme = plainTheme): Lines =>
  (width) => [statusLine(state, { width, theme })];
const working =
  (state: State, now: number, still = false): Lines =>
  (width) => [workingLine(state, { width, theme: plainTheme, now, verses: VERSES, still }) ?? "(nothing)"];

const VIEWS: Readonly<Record<string, Lines>> = {
  "status: new": status(IDLE),
  "status: after a failover": status(COSTLY),
  "status: no sandbox, plan": status({
    ...IDLE,
    place: { ...(IDLE.place as NonNullable<State["place"]>), mode: "plan", sandbox: "none" },
  }),
  "status: hostile": status({
    ...IDLE,
    model: HOSTILE,
    title: HOSTILE,
    place: { ...(IDLE.place as NonNullable<State["place"]>), branch: HOSTILE, cwd: `/${HOSTILE}` },
  }),
  "status: hint": status({ ...COSTLY, hint: { text: "Press Ctrl-C again within 2 s to leave.", until: 0 } }),
  "status: profile and address": status({
    ...COSTLY,
    place: {
      ...(IDLE.place as NonNullable<State["place"]>),
      profile: "framework",
      addresses: ["http://127.0.0.1:8421"],
    },
  }),
  "status: in the background": status({
    ...COSTLY,
    place: { ...(IDLE.place as NonNullable<State["place"]>), background: 3 },
  }),
  "status: a line of the person": (width) =>
    statusLine(
      { ...COSTLY, place: { ...(IDLE.place as NonNullable<State["place"]>), sandbox: "none" } },
      { width, theme: plainTheme, own: "my own line, which is as long as it likes" },
    ).split("\n"),
  "working: nothing": working(IDLE, 0),
  "working: a verse": working(RUNNING, 500),
  "working: the next verse": working(RUNNING, 5000),
  "working: a retry": working({ ...RUNNING, turn: { ...turn, progress: "Overloaded. Next attempt in 8 s." } }, 1000),
  "working: stopping": working({ ...RUNNING, turn: { ...turn, cancelling: true } }, 1000),
  "working: screen reader": working(RUNNING, 1000, true),
  "working: shell": working({ ...IDLE, shell: { command: HOSTILE, output: "", startedAt: 0 } }, 1000),
  queue: (width) => queueLines({ ...IDLE, queue: QUEUE }, { width, theme: plainTheme, key: "alt+up" }),
  frame: (width) =>
    composeFrame(
      {
        live: ["an answer", "grows"],
        working: "working",
        queue: ["> more"],
        dialog: undefined,
        dialogHasFocus: false,
        composer: { lines: ["> hello"], cursor: { row: 0, column: 7 } },
        status: "auto",
      },
      { columns: width, rows: 12, theme: plainTheme },
    ).lines,
};

describe("the views", () => {
  it.each(WIDTHS)("show what they showed before in %i columns", async (width) => {
    const screens = Object.entries(VIEWS).map(([name, lines]) => `=== ${name}\n${lines(width).join("\n")}\n`);
    await expect(screens.join("\n")).toMatchFileSnapshot(`goldens/views-${width}.txt`);
  });

  verifies(["U2"], "show the end of the session's id, before the title is worth its room", () => {
    const session = "sess_01K00000000000000000ABCDEF" as State["session"];
    const line = (width: number) => statusLine({ ...COSTLY, session }, { width, theme: plainTheme });
    expect(line(200)).toMatch(/ · 00ABCDEF · fix the tests$/);
    for (let width = 200; width > 20; width--) {
      if (!line(width).includes("00ABCDEF")) expect(line(width)).not.toContain("fix the tests");
    }
  });

  verifies(["U1"], "are never wider than the screen, and let no control character through", () => {
    for (let width = 10; width <= 300; width += 7) {
      for (const [name, lines] of Object.entries(VIEWS)) {
        for (const line of lines(width)) {
          expect(textWidth(line), `${name}: ${line}`).toBeLessThanOrEqual(width);
          expect(line, name).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
        }
      }
    }
  });

  verifies(["U2"], "show the address of the engine as a link", () => {
    const place = { ...(IDLE.place as NonNullable<State["place"]>), addresses: ["http://127.0.0.1:8421"] };
    const theme = createTheme("dark", { colours: "none", links: true });
    const line = statusLine({ ...COSTLY, place }, { width: 120, theme });
    expect(line).toMatch(
      /\u001b]8;id=\w+;http:\/\/127\.0\.0\.1:8421\u001b\\http:\/\/127\.0\.0\.1:8421\u001b]8;;\u001b\\/,
    );
  });

  it("estimate the time of a turn, and not that of a person who has to answer", () => {
    const recent = [{ promptTokens: 10, replyTokens: 10, elapsedMs: 12_000 }];
    const questions = [{ call: "call_1", tool: "bash", args: {}, summary: "bash: make" } as State["questions"][number]];
    const line = (state: State) => working(state, 2000)(200).join();
    expect(line({ ...RUNNING, recent })).toContain("[2s / ~12s]");
    expect(line({ ...RUNNING, recent, questions })).toContain("[2s]");
  });

  it("keep the mode and the model when there is little room", () => {
    expect(statusLine(COSTLY, { width: 40, theme: plainTheme })).toMatch(/^auto · anthropic:/);
  });

  verifies(
    ["U2"],
    "the status line has the parts that a person chose, and always says that there is no sandbox",
    () => {
      const parts = ["title", "branch"] as const;
      const line = (state: State) => statusLine(state, { width: 120, theme: plainTheme, parts });
      expect(line(IDLE)).toBe("auto · fix the tests · project (main)");
      const place = { ...(IDLE.place as NonNullable<State["place"]>), sandbox: "none" };
      expect(line({ ...IDLE, place })).toBe("auto · fix the tests · project (main) · no sandbox");
    },
  );
});
