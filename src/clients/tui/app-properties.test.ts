import fc from "fast-check";
import { describe, expect } from "vitest";
import { FakeProcess } from "../../../test/support/fake-terminal-process.js";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import type { EngineClient } from "../../protocol/client.js";
import { text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventKind, EventPayloads } from "../../protocol/events.js";
import type { CallId, ClientId, SessionId, TurnId } from "../../protocol/ids.js";
import { TuiApp } from "./app.js";
import { openTerminal } from "./terminal/open-terminal.js";
import { plainTheme } from "./themes.js";

const SESSION = "sess_1" as SessionId;
const ME = "cli_1" as ClientId;
const TURN = "turn_1" as TurnId;

/** A client whose engine says what the test lets it say. */
class Scene {
  readonly process = new FakeProcess({ TERM: "xterm-256color", TERM_PROGRAM: "vscode" }, 80, 24);
  readonly ended: Promise<unknown>;
  #deliver: (event: Envelope) => void = () => {};
  #calls = 0;
  #open: CallId[] = [];
  readonly expected: string[] = [];

  constructor() {
    const client: EngineClient = {
      id: ME,
      identity: "human",
      send: async () => ({ ok: true }),
      query: async () => ({ ok: false, failure: { reason: "InvalidInput", message: "" } }) as never,
      subscribe: (listener) => {
        this.#deliver = listener;
        return () => {};
      },
    };
    this.ended = new TuiApp({
      client,
      session: SESSION,
      terminal: openTerminal(this.process.io),
      clock: this.process.clock,
      theme: plainTheme,
      model: "mock:m",
      greeting: [],
      showCost: false,
      verses: [],
      still: true,
      clientAction: () => undefined,
    }).run();
    this.event("TurnStarted", { turn: TURN, input: [text("go")], queued: 0 } as never);
  }

  event<K extends EventKind>(kind: K, payload: EventPayloads[K]): void {
    this.#deliver({
      id: 1,
      kind,
      session: SESSION,
      originator: ME,
      ts: "2026-01-01T00:00:00.000Z",
      payload,
    } as Envelope);
  }

  begin(asks: boolean): void {
    const call = `call_${this.#calls++}` as CallId;
    const args = { path: `file-${this.#calls}.txt`, content: "one\ntwo\n" };
    this.#open.push(call);
    this.event("ToolCallStarted", { call, tool: "write", args });
    if (asks) this.event("PermissionRequested", { call, tool: "write", args, summary: `write ${args.path}` });
    this.expected.push(`✓ write ${args.path}`);
  }

  finish(): void {
    const call = this.#open.shift();
    if (call === undefined) return;
    this.event("PermissionResolved", { call, tool: "write", decision: "allow_once", decided_by: ME });
    this.event("ToolResult", { call, tool: "write", status: "ok", content: [text("Wrote it.")] });
  }

  say(words: string): void {
    this.event("TextDelta", { text: words } as never);
  }
}

type Act = (scene: Scene) => void | Promise<void>;
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

const key =
  (bytes: string): Act =>
  (scene) =>
    scene.process.type(bytes);
const ACTS: fc.Arbitrary<readonly [string, Act]> = fc.oneof(
  ...[
    fc.constant(["begin", (scene: Scene) => scene.begin(false)] as const),
    fc.constant(["ask", (scene: Scene) => scene.begin(true)] as const),
    fc.constant(["finish", (scene: Scene) => scene.finish()] as const),
    fc.constant(["say", (scene: Scene) => scene.say("Some words of the answer.\n\n")] as const),
    fc
      .constantFrom("v", "a", "d", "\r", "\x1b", "q", "x", "\x0f", "?", "\t", "y")
      .map((bytes) => [`key ${JSON.stringify(bytes)}`, key(bytes)] as const),
    fc
      .constantFrom(10, 34, 600, 3000)
      .map((ms) => [`${ms} ms`, (scene: Scene) => scene.process.clock.advance(ms)] as const),
    fc.tuple(fc.constantFrom(40, 80, 100), fc.constantFrom(10, 24, 40)).map(
      ([columns, rows]) =>
        [
          `resize ${columns}x${rows}`,
          async (scene: Scene) => {
            await scene.process.shown();
            scene.process.resize(columns, rows);
          },
        ] as const,
    ),
    fc.constant(["settle", settle] as const),
    fc.constant([
      "slow",
      (scene: Scene) => {
        scene.process.isSlow = true;
      },
    ] as const),
    fc.constant(["drain", (scene: Scene) => scene.process.drain()] as const),
  ],
);

async function play(
  acts: readonly (readonly [string, Act])[],
): Promise<{ readonly lines: readonly string[]; readonly expected: readonly string[] }> {
  const scene = new Scene();
  await settle();
  for (const [, act] of acts) await act(scene);
  scene.process.drain();
  for (let each = 0; each < 40; each++) scene.finish();
  for (let each = 0; each < 4; each++) {
    await settle();
    scene.process.clock.advance(3000);
    scene.process.type("\x1b");
    scene.process.clock.advance(3000);
  }
  scene.process.drain();
  scene.event("TurnEnded", {
    turn: TURN,
    outcome: "answered",
    usage: { input: 1, output: 1, cache_read: 0, cache_write: 0 },
  } as never);
  await settle();
  scene.process.clock.advance(3000);
  scene.process.happen("lost");
  await scene.ended;
  return { lines: await scene.process.allLines(), expected: scene.expected };
}

describe("the client", () => {
  verifies(["U2"], "prints every finished call exactly once, whatever dialogs and sizes come between", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ACTS, { maxLength: 30 }), async (acts) => {
        const { lines, expected } = await play(acts);
        const rows = lines.flatMap((line) => /✓ write \S+/.exec(line)?.[0] ?? []);
        expect(rows, acts.map(([name]) => name).join(", ")).toEqual(expected);
      }),
      { numRuns: times(40, 3000) },
    );
  });
});
