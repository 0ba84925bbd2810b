/** The SDK against a real engine that listens, over HTTP and WebSocket, with connections that drop. */
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { ConnectionError, RefusedError, type WebSocketConstructor } from "../../src/clients/sdk/index.js";
import { Session } from "../../src/clients/sdk/session.js";
import { type Connection, connect } from "../../src/clients/sdk-node/index.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import { handshake, PROTOCOL_VERSION } from "../../src/protocol/handshake.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { parseScript } from "../../src/testkit/index.js";
import { cutter, hastyClock } from "../support/cutter.js";
import { type Served, serve } from "../support/served-engine.js";
import { isThorough, times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

let base: string;
let engine: Served;

async function start(script: string, flags: readonly string[] = []): Promise<void> {
  engine = await serve({ script: parseScript(script), flags });
}

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "oxbow-test-")));
});

afterEach(async () => {
  await engine.close();
  await rm(base, { recursive: true, force: true });
});

type Wire = "http" | "ws" | "socket";

async function open(wire: Wire, name = "test"): Promise<Connection> {
  const { url, token, socket } = engine;
  const options = { token, name, clock: hastyClock, WebSocket: WebSocket as unknown as WebSocketConstructor };
  const place = wire === "socket" ? { socket } : { url: wire === "ws" ? url.replace("http", "ws") : url };
  const connection = await connect({ ...options, ...place });
  onTestFinished(() => connection.close());
  return connection;
}

/** Collects until an event of this kind. */
async function until(events: AsyncIterable<Envelope>, kind: Envelope["kind"]): Promise<Envelope[]> {
  const seen: Envelope[] = [];
  for await (const event of events) {
    seen.push(event);
    if (event.kind === kind) break;
  }
  return seen;
}

describe.each(["socket", "ws"] as const)("a connection over %s", (wire) => {
  verifies(["U5"], "sends prompts, follows events and asks queries", async () => {
    await start("reply\n  text: Hello there.\nloop\n");
    const connection = await open(wire, "my bot");
    const session = await connection.createSession();
    const events = session.events();
    const pieces: string[] = [];
    const result = await session.prompt("Hi", { onText: (text) => pieces.push(text) });
    expect(result).toMatchObject({ text: "Hello there.", outcome: "answered" });
    expect(result.usage.input).toBeGreaterThan(0);
    expect(pieces.join("")).toBe("Hello there.");
    const seen = await until(events, "TurnEnded");
    expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1));
    const { clients } = await connection.query("ListClients", {});
    expect(clients).toContainEqual(expect.objectContaining({ id: connection.id, name: "my bot", identity: "human" }));
    expect((await session.query("GetStatus", {})).session).toBe(session.id);
    const ended = until(session.events(), "SessionEnded");
    await session.end();
    expect((await ended).at(-1)?.kind).toBe("SessionEnded");
  });
});

describe.each(["http", "ws"] as const)("a client over %s that leaves a session for a new one", (wire) => {
  verifies(["C3", "U5"], "hears of no end, and gets the new session from its first event on", async () => {
    await start("reply\n  text: Hello there.\nloop\n");
    const { client } = await open(wire);
    const detached: string[] = [];
    client.onDetached((ended) => detached.push(ended));
    const seen: Envelope[] = [];
    client.subscribe((event) => seen.push(event));
    let session: SessionId | undefined;
    for (const carry of ["It began well.", "So far so good."]) {
      const after = session === undefined ? {} : { after: session };
      const reply = await client.send("CreateSession", { carry, ...after });
      if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
      session = reply.session;
      await new Session(client, session).prompt("Hi");
      const kinds = seen.filter((event) => event.session === session).map(({ id, kind }) => `${id} ${kind}`);
      expect(kinds.slice(0, 2)).toEqual(["1 CompactionTriggered", "2 TurnStarted"]);
    }
    expect(detached).toEqual([]);
  });
});

describe("a connection", () => {
  verifies(
    ["U5"],
    "asks the callback about permissions, and takes a question back that another client answers",
    async () => {
      await start('reply\n  tool write {"path": "a.txt", "content": "a"}\nreply\n  text: Done.\nloop\n', [
        "--permission-mode",
        "ask",
      ]);
      const [first, second] = [await open("ws"), await open("http")];
      const session = await first.createSession();
      const other = await second.attach(session.id);
      const taken = new Promise<void>((resolve) => {
        other.onPermission(
          (_question, signal) =>
            new Promise((answer) => {
              signal.addEventListener("abort", () => {
                resolve();
                answer(undefined);
              });
            }),
        );
      });
      const asked: string[] = [];
      session.onPermission(({ tool }) => {
        asked.push(tool);
        return { decision: "deny", message: "not now" };
      });
      await session.prompt("Write it");
      await taken;
      expect(asked).toEqual(["write"]);
      expect(JSON.stringify(engine.mock.requests.at(-1))).toContain("not now");
    },
  );

  verifies(["U5"], "cancels a turn with a signal, queues prompts, and refuses one during a turn", async () => {
    await start("reply\n  text: One.\n  delay 20s\nreply\n  text: Two.\nloop\n");
    const session = await (await open("socket")).createSession();
    const stop = new AbortController();
    const started = new Promise<void>((resolve) => {
      session.subscribe(({ kind }) => kind === "TextDelta" && resolve());
    });
    const first = session.prompt("slow", { signal: stop.signal });
    await started;
    await expect(session.prompt("at once")).rejects.toThrow(RefusedError);
    const waiting = session.prompt("later", { queue: true });
    stop.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    await expect(waiting).rejects.toThrow("dropped");
    expect(await session.prompt("again")).toMatchObject({ text: "Two." });
  });

  verifies(["C10", "U5"], "works in the folder that the client names", async () => {
    await start('reply\n  tool ls {"path": "."}\nreply\n  text: Done.\nloop\n');
    const [one, two] = [join(base, "one"), join(base, "two")];
    await mkdir(join(one, "only-in-one"), { recursive: true });
    await mkdir(join(two, "only-in-two"), { recursive: true });
    const results: string[] = [];
    for (const cwd of [one, two]) {
      const session = await (await open("socket")).createSession({ cwd });
      const events = session.events();
      await session.prompt("List it");
      results.push(JSON.stringify(await until(events, "ToolResult")));
    }
    expect(results.map((text) => [text.includes("only-in-one"), text.includes("only-in-two")])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  verifies(["C10"], "leaves a session to the others when it begins a new one after it", async () => {
    await start("reply\n  text: Hi.\nloop\n");
    const [first, second] = [await open("socket"), await open("http")];
    const shared = await first.createSession();
    await second.attach(shared.id);
    const own = await second.createSession({ after: shared.id });
    expect(await shared.prompt("still here?")).toMatchObject({ outcome: "answered" });
    await second.createSession({ after: own.id });
    expect((await second.query("ListSessions", { empty: true })).sessions.filter(({ live }) => live)).toHaveLength(2);
  });

  verifies(["U5"], "follows a resumed session past the ends in its log, to its own end", async () => {
    await start("reply\n  text: Hi.\nloop\n");
    const first = await (await open("socket")).createSession();
    await first.prompt("one");
    await first.end();
    const again = await (await open("socket")).createSession({ resume: first.id });
    const readers = [await open("http"), await open("ws")];
    const read = readers.map(async (reader) => {
      const events = (await reader.attach(first.id, { after: 0 })).events();
      const seen: Envelope[] = [];
      for await (const event of events) seen.push(event);
      return seen;
    });
    await again.prompt("two");
    const left = until(again.events(), "SessionEnded");
    await again.end();
    await left;
    for (const seen of await Promise.all(read)) {
      expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1));
      expect(seen.filter(({ kind }) => kind === "SessionEnded")).toHaveLength(2);
    }
    // A prompt opens it again.
    expect(await again.prompt("three")).toMatchObject({ outcome: "answered" });
  });

  verifies(["U5"], "tells a missing engine, a wrong token and another major version", async () => {
    await start("reply\n  text: Hi.\nloop\n");
    await expect(connect({ socket: join(base, "none"), token: "x" })).rejects.toThrow(/Could not reach the engine/);
    const wrong = connect({ url: engine.url, token: `${engine.token.slice(0, -4)}AAAA` });
    await expect(wrong).rejects.toThrow(ConnectionError);
    const other = createServer((_request, response) => {
      const client = { id: "cli_01M7HAQWS0RSQZMZ702Z032C8F", identity: "human" } as const;
      response.end(JSON.stringify({ ...handshake([], client), protocol_version: version }));
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    let version = "7.0.0";
    await expect(connect({ url, token: "x" })).rejects.toThrow(
      `Client speaks protocol ${PROTOCOL_VERSION}; server speaks 7.0.0. Upgrade the client.`,
    );
    const [major] = PROTOCOL_VERSION.split(".");
    version = `${major}.999.0`;
    expect((await connect({ url, token: "x" })).handshake.protocol_version).toBe(version);
  });

  verifies(["U5"], "gives up when it is stopped, and rejects waiting calls", async () => {
    await start("reply\n  text: Hi.\n  delay 20s\nloop\n");
    const { token, socket } = engine;
    const proxy = await cutter(base, { target: socket, next: () => undefined });
    const states: string[] = [];
    const connection = await connect({
      ...{ socket: proxy.path, token, clock: hastyClock },
      retry: () => false,
      onState: (state) => states.push(state),
    });
    const session = await connection.createSession();
    const events = session.events();
    const prompted = session.prompt("Hi");
    await until(session.events(), "TextDelta");
    await proxy.close();
    await expect(prompted).rejects.toThrow(/Could not reach the engine/);
    await expect(until(events, "SessionEnded")).rejects.toThrow(/Could not reach the engine/);
    expect(states.at(-1)).toBe("closed");
  });
});

describe("a connection that drops", () => {
  /** The same drops in every run. */
  function random(seed: number): () => number {
    let state = seed;
    return () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state / 2 ** 31;
    };
  }

  for (const wire of ["http", "ws"] as const) {
    verifies(
      ["U5", "C3"],
      `loses no event and doubles none over ${wire}`,
      async () => {
        await start(
          `reply\n  text: ${"a few words of text, ".repeat(40)}\n  tool ls {"path": "."}\nreply\n  text: Done.\nloop\n`,
        );
        // Over WebSocket about as many follow while the reader catches up.
        const drops = times(1, wire === "ws" ? 550 : 1000);
        const next = random(drops);
        const { token, socket, url } = engine;
        const proxy = await cutter(base, { target: socket, next: () => 2500 + Math.floor(next() * 3000) });
        onTestFinished(() => proxy.close());
        class OverSocket extends WebSocket {
          constructor(_url: string, protocols?: string | string[]) {
            super(`ws+unix://${proxy.path}:/v1/ws`, protocols ?? []);
          }
        }
        const options = { token, clock: hastyClock, WebSocket: OverSocket as unknown as WebSocketConstructor };
        const reader = await connect({
          ...options,
          ...(wire === "ws" ? { url: url.replace("http", "ws") } : { socket: proxy.path }),
        });
        onTestFinished(() => reader.close());
        const writer = await (await open("socket")).createSession();
        const events = (await reader.attach(writer.id, { after: 0 })).events();
        let turns = 0;
        for (; turns < 3 || proxy.cuts < drops; turns++) await writer.prompt(`turn ${turns}`);
        await writer.end();
        const ids = (await until(events, "SessionEnded")).map(({ id }) => id);
        expect(ids).toEqual(ids.map((_, index) => index + 1));
        expect(ids.length).toBeGreaterThan(turns * 8);
        if (isThorough) process.stderr.write(`${wire}: ${proxy.cuts} drops in ${turns} turns\n`);
      },
      times(30_000, 600_000),
    );
  }
});
