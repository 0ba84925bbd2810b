import { createHash } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { createIdSource } from "../../base/ulid.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventBody } from "../../protocol/events.js";
import type { SessionStore } from "../store.js";
import { openSqliteStore } from "./sqlite-store.js";

const SHELL_TURNS = 50;
/** The file may grow by this much for every byte of the conversation. */
const MOST = 3;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-growth-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Writes turns as the engine does, and counts the bytes of what was said. */
class Conversation {
  readonly #store: SessionStore;
  readonly #session: string;
  #random = 1;
  #now = Date.UTC(2026, 0, 31);
  #event = 0;
  bytes = 0;
  readonly #ids = createIdSource({
    wall: () => this.#now,
    random: (bytes) => {
      for (let i = 0; i < bytes.length; i++) bytes[i] = this.#below(256);
    },
  });
  readonly #client = this.#ids.next("cli");

  constructor(store: SessionStore) {
    this.#store = store;
    this.#session = this.#ids.next("sess");
  }

  async begin(): Promise<void> {
    const id = this.#session as `sess_${string}`;
    const fixed = { cwd: "/home/somebody/project", provider: "anthropic", model: "claude-sonnet-4-5" };
    await this.#store.create({ id, log: this.#ids.next("log"), ...fixed, created_at: this.#time() });
  }

  /** A prompt, a command with its output, and an answer. */
  async turn(outputBytes: number): Promise<void> {
    const turn = this.#ids.next("turn");
    const input = [{ type: "text", text: this.#said(60) }] as const;
    await this.#append("sync", { kind: "TurnStarted", payload: { turn, input } });
    await this.#answer(turn, this.#said(40));
    await this.#command(outputBytes);
    const text = this.#said(80);
    await this.#answer(turn, text);
    const parts = Object.fromEntries(
      ["start/10-input", "assemble/20-tools", "send/50-model", "provider/total", "tool/bash", "done/20-permission"].map(
        (name) => [name, this.#below(90_000) / 1000],
      ),
    );
    await this.#append("group", { kind: "TurnTiming", payload: { turn, parts } });
    const usage = this.#usage();
    await this.#append("sync", {
      kind: "TurnEnded",
      payload: { turn, outcome: "answered", text, iterations: 2, usage },
    });
  }

  async #answer(turn: `turn_${string}`, text: string): Promise<void> {
    await this.#append("group", { kind: "TextDelta", payload: { text: text.slice(0, 3) } });
    await this.#append("group", { kind: "TextDelta", payload: { text: text.slice(3) } });
    const model = { provider: "anthropic", model: "claude-sonnet-4-5" };
    const payload = { turn, ...model, usage: this.#usage(), elapsed_ms: this.#below(9000) };
    await this.#append("group", { kind: "CostIncremented", payload });
  }

  async #command(outputBytes: number): Promise<void> {
    const call = this.#ids.next("call");
    const session = this.#session as `sess_${string}`;
    const args = { command: this.#said(30) };
    const args_hash = createHash("sha256").update(args.command).digest("hex");
    this.bytes += JSON.stringify(args).length - args.command.length;
    await this.#append("group", { kind: "ToolCallStarted", payload: { call, tool: "bash", args } });
    await this.#store.intend({ call, session, tool: "bash", args_hash, mutating: true, started_at: this.#time() });
    const content = [{ type: "text", text: this.#said(outputBytes) }] as const;
    const details = { exit_code: 0, signal: null, duration_ms: this.#below(900), truncated: false, output_file: null };
    await this.#append("group", {
      kind: "ToolResult",
      payload: { call, tool: "bash", status: "ok", content, details, decided_by: "quiet preset" },
    });
    await this.#store.conclude(call, { outcome: "ok", completed_at: this.#time(), result_event: this.#event });
  }

  async #append(durability: "group" | "sync", body: EventBody): Promise<void> {
    const frame = { id: ++this.#event, session: this.#session, originator: this.#client, ts: this.#time() };
    await this.#store.append(frame.session as `sess_${string}`, [{ ...frame, ...body } as Envelope], durability);
  }

  /** Words and numbers that do not repeat much. */
  #said(bytes: number): string {
    let text = "";
    while (text.length < bytes) {
      const word = this.#below(36 ** 6).toString(36);
      text += `${text === "" ? "" : " "}${this.#below(3) === 0 ? word : WORDS[this.#below(WORDS.length)]}`;
    }
    this.bytes += bytes;
    return text.slice(0, bytes);
  }

  #usage() {
    const [input, output, cache_read] = [this.#below(90), this.#below(900), this.#below(90_000)];
    return { input, output, cache_read, cache_write: this.#below(900), reasoning: 0 };
  }

  #time(): string {
    this.#now += 1 + this.#below(700);
    return new Date(this.#now).toISOString();
  }

  #below(limit: number): number {
    this.#random = (Math.imul(this.#random, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#random / 2 ** 32) * limit);
  }
}

const WORDS =
  "parser returns early when token stream ends before closing bracket so caller sees half of tree and goes on reading".split(
    " ",
  );

/** Finds what a closed database with so many turns weighs, and what was said in them. */
async function grow(turns: number, outputBytes: number): Promise<{ readonly file: number; readonly said: number }> {
  const path = join(folder, `${turns}-${outputBytes}.db`);
  const store = await openSqliteStore({ path, key: new Uint8Array(32).fill(1), groupDelayMs: 0 });
  const conversation = new Conversation(store);
  await conversation.begin();
  for (let i = 0; i < turns; i++) await conversation.turn(outputBytes);
  await store.close();
  return { file: (await stat(path)).size, said: conversation.bytes };
}

describe("the size of the log", () => {
  verifies(["S1"], "grows by less than three bytes per byte of text, with the ledger", async () => {
    for (const outputBytes of [200, 2000]) {
      const one = await grow(1, outputBytes);
      const many = await grow(1 + SHELL_TURNS, outputBytes);
      const ratio = (many.file - one.file) / (many.said - one.said);
      expect(ratio, `at ${outputBytes} bytes of output`).toBeLessThan(outputBytes === 200 ? MOST : 1.5);
      expect(ratio).toBeGreaterThan(0.3);
    }
  });
});
