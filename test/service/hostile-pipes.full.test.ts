/** A program at the other end of a pipe sends anything: each line gets its answer or none, and the next sound request is answered. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { COMMAND_SCHEMAS, QUERY_SCHEMAS } from "../../src/control/door.js";
import { programPlace } from "../support/program-options.js";
import { BIN } from "../support/program-process.js";
import { times } from "../support/thorough.js";
import { until } from "../support/waiting.js";
import { verifies } from "../verifies.js";

const MB = 1024 * 1024;

interface Protocol {
  readonly args: readonly string[];
  readonly hello: readonly object[];
  readonly ask: (id: string) => object;
  readonly message: fc.Arbitrary<unknown>;
}

/** Ends of engines and sessions are left out: others must be answered afterwards. */
const kind = fc.constantFrom(
  ...[...Object.keys(COMMAND_SCHEMAS), ...Object.keys(QUERY_SCHEMAS)].filter((name) => name !== "EndSession"),
  ...["constructor", "__proto__", ""],
);
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom("sess_../../x", "\u0000", "/".repeat(5000), "x".repeat(100_000), -1, 1e308, Number.MAX_SAFE_INTEGER),
);
const fields = (...names: readonly string[]) =>
  fc.oneof(value, fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] }));
const id = fc.oneof(fc.nat(), fc.constantFrom(null, "x", -1, 1.5), fc.constant({}));

const frame = fc.record(
  {
    frame: fc.constantFrom("command", "query", "handshake", "event", 1),
    id,
    body: fc.oneof(
      value,
      fc.record({ kind, session: value, payload: fields("content", "model", "cwd"), request: fields("limit") }),
    ),
  },
  { requiredKeys: ["frame"] },
);

function rpc(methods: readonly string[], ...names: readonly string[]): fc.Arbitrary<unknown> {
  const method = fc.oneof(fc.constantFrom(...methods, "none", "__proto__"), value);
  return fc.record(
    { jsonrpc: fc.constantFrom("2.0", "2.0", "1.0", 2), id, method, params: fields(...names), result: value },
    { requiredKeys: ["jsonrpc", "method"] },
  );
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  "oxbow serve --stdio": {
    args: ["serve", "--stdio"],
    hello: [{ frame: "handshake", body: { protocol_version: "0.2.0" } }],
    ask: (asked) => ({ frame: "query", id: asked, body: { kind: "GetHealth", request: {} } }),
    message: frame,
  },
  "oxbow acp": {
    args: ["acp"],
    hello: [{ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } }],
    ask: (asked) => ({ jsonrpc: "2.0", id: asked, method: "session/list", params: {} }),
    message: rpc(
      [
        ...["initialize", "authenticate", "session/new", "session/load", "session/list", "session/prompt"],
        ...["session/cancel", "session/close", "session/set_mode", "session/set_config_option"],
      ],
      ...["sessionId", "cwd", "prompt", "mcpServers", "modeId", "cursor", "clientCapabilities"],
    ),
  },
  "oxbow mcp-server": {
    args: ["mcp-server"],
    hello: [
      {
        ...{ jsonrpc: "2.0", id: 0, method: "initialize" },
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } },
      },
      { jsonrpc: "2.0", method: "notifications/initialized" },
    ],
    ask: (asked) => ({ jsonrpc: "2.0", id: asked, method: "tools/list", params: {} }),
    message: rpc(
      [
        ...["ping", "tools/list", "resources/list", "resources/read", "resources/subscribe", "prompts/get"],
        ...["completion/complete", "logging/setLevel", "notifications/cancelled", "notifications/progress"],
      ],
      ...["name", "arguments", "uri", "ref", "argument", "cursor", "level", "requestId"],
    ),
  },
};

/** No JSON, or more of it than a message may have. */
const NO_MESSAGE: readonly (string | Buffer)[] = [
  ...["{", "null", "[]", "5", '"a"', '{"a":', "\ufeff{}", "\u0000", "[{},{}]", "{}{}", "[".repeat(20_000)],
  Buffer.from([0xff, 0xfe, 0x7b]),
];
const LARGE: readonly (() => string | Buffer)[] = [
  () => JSON.stringify({ jsonrpc: "2.0", frame: "query", id: 1, method: "ping", params: "x".repeat(12 * MB) }),
  () => `{"jsonrpc":"2.0","frame":"query","id":1,"method":"ping","params":[${"{},".repeat(3 * MB)}{}]}`,
  () => "[".repeat(8 * MB),
  () => `"${'\\"'.repeat(4 * MB)}"`,
  () => "x".repeat(70 * MB),
  () => Buffer.alloc(5 * MB, 0xff),
  () => "\n".repeat(MB),
];

class Pipe {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<number | null>;
  readonly #answered = new Set<unknown>();
  /** Holds what it wrote that is no message. */
  readonly stray: string[] = [];
  #count = 0;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once("close", resolve));
    child.stdin.on("error", () => {});
    child.stderr.resume();
    createInterface({ input: child.stdout }).on("line", (line) => {
      try {
        this.#answered.add(JSON.parse(line).id);
      } catch {
        this.stray.push(line.slice(0, 200));
      }
    });
  }

  send(line: string | Buffer): void {
    this.#child.stdin.write(Buffer.concat([Buffer.from(line), Buffer.from("\n")]));
  }

  /** Resolves when all that were sent together have an answer. */
  async answers(ask: Protocol["ask"], count = 1): Promise<void> {
    const ids = Array.from({ length: count }, () => `sound-${this.#count++}`);
    this.send(ids.map((each) => JSON.stringify(ask(each))).join("\n"));
    await until(() => this.#child.exitCode !== null || ids.every((each) => this.#answered.has(each)));
    expect(this.#child.exitCode, "the exit code of a program that must go on").toBe(null);
  }

  async end(): Promise<number | null> {
    this.#child.stdin.end();
    return this.#ended;
  }
}

async function open({ args, hello }: Protocol): Promise<Pipe> {
  const { cwd, env } = await programPlace({ env: { OXBOW_PROVIDER: "offline" } });
  const pipe = new Pipe(spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"] }));
  for (const message of hello) pipe.send(JSON.stringify(message));
  return pipe;
}

describe("a program at the other end of a pipe", () => {
  for (const [name, protocol] of Object.entries(PROTOCOLS)) {
    verifies(
      ["C5", "C7"],
      `may send anything to ${name}: sound requests are answered, many at once too`,
      async () => {
        const pipe = await open(protocol);
        await pipe.answers(protocol.ask);
        const line = fc.oneof(
          { weight: 6, arbitrary: protocol.message.map((message) => JSON.stringify(message) ?? "") },
          { weight: 1, arbitrary: fc.constantFrom(...NO_MESSAGE) },
        );
        const batch = fc.array(line, { minLength: 10, maxLength: 10 });
        await fc.assert(
          fc.asyncProperty(batch, async (lines) => {
            for (const each of lines) pipe.send(each);
            await pipe.answers(protocol.ask);
          }),
          { numRuns: times(30, 500), endOnFailure: true },
        );
        for (const make of LARGE) {
          pipe.send(make());
          await pipe.answers(protocol.ask);
        }
        await pipe.answers(protocol.ask, 1000);
        expect(pipe.stray).toEqual([]);
        expect(await pipe.end()).toBe(0);
      },
      times(120_000, 600_000),
    );
  }
});
