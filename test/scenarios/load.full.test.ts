/**
 * Many sessions and readers in one engine. OXBOW_TEST_THOROUGH=1 takes 200 sessions and 1,000 readers, and prints its figures.
 */
import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect } from "vitest";
import type { HostClient } from "../../src/control/connected-client.js";
import { Outbox, TOO_SLOW } from "../../src/control/outbox.js";
import { wireText } from "../../src/control/wire-text.js";
import { text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { parseScript, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { serve } from "../support/served-engine.js";
import { isThorough, times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const SESSIONS = times(6, 200);
const READERS = times(60, 1000);
const MOST_IDLE_BYTES = 200 * 1024;

const SCRIPT = parseScript(`reply times=any when last-user contains "go" and tool-results not exists
  text size=7: I look at the folder before I answer, so that the answer is right.
  tool ls {"path": "."}
reply times=any
  text size=9: The folder has what it needs, and there is nothing more to say about it now.
`);

/** A reader as a connection has one: it takes text, and counts what comes. */
class CountingReader {
  readonly ids: number[] = [];
  readonly delays: number[] = [];
  readonly outbox: Outbox;
  cut: string | undefined;

  constructor(takes: boolean) {
    this.outbox = new Outbox({
      limitBytes: 64 * 1024,
      write: (line) => {
        if (takes) this.#take(JSON.parse(line));
        return takes;
      },
      cut: (reason) => {
        this.cut = reason;
      },
    });
  }

  deliver(event: Envelope): void {
    this.outbox.send(wireText(event));
  }

  #take({ id, ts }: Envelope): void {
    this.ids.push(id);
    this.delays.push(Date.now() - Date.parse(ts));
  }
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

async function usedBytes(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function turn(client: HostClient, session: SessionId): Promise<readonly Envelope[]> {
  const events: Envelope[] = [];
  let settle = () => {};
  const ended = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const followed = await client.follow(session, {
    deliver: (event) => {
      events.push(event);
      if (event.kind === "TurnEnded") settle();
    },
  });
  if (!followed.ok) throw new Error(JSON.stringify(followed));
  const sent = await client.send("SendInput", { content: [text("go")], queue: true }, session);
  if (!sent.ok) throw new Error(JSON.stringify(sent));
  await ended;
  followed.stop();
  return events;
}

interface Figures {
  readonly tookMs: number;
  readonly delivered: number;
  readonly p99Ms: number;
}

/** Opens sessions with readers, runs a turn in each at once, and checks what the readers got. */
async function load(
  { engine, root }: HostedEngine,
  { sessions: count, readers: readerCount }: { readonly sessions: number; readonly readers: number },
): Promise<Figures> {
  const connect = () =>
    engine.host.connect({
      ...{ id: engine.newClientId(), identity: "human" as const, canAnswer: true },
      ...{ transport: "test", attachOnCreate: false },
    });
  const client = connect();
  const sessions: SessionId[] = [];
  for (let i = 0; i < count; i++) {
    const cwd = join(root, `folder-${i % 4}`);
    await mkdir(cwd, { recursive: true });
    const made = await client.send("CreateSession", { cwd });
    if (!made.ok || made.session === undefined) throw new Error(JSON.stringify(made));
    sessions.push(made.session);
  }
  const readers = await Promise.all(
    Array.from({ length: readerCount }, async (_, index) => {
      const takes = index % 49 !== 7;
      const reader = new CountingReader(takes);
      const session = sessions[index % count] as SessionId;
      const follower = connect();
      const followed = await follower.follow(session, { deliver: (event) => reader.deliver(event) });
      expect(followed.ok).toBe(true);
      return { reader, session, follower, takes };
    }),
  );
  const started = Date.now();
  const turns = await Promise.all(sessions.map(async (session) => ({ session, events: await turn(client, session) })));
  const tookMs = Date.now() - started;
  const idsOf = new Map(turns.map(({ session, events }) => [session, events.map(({ id }) => id)]));
  for (const { session, events } of turns) {
    expect(events.at(-1)).toMatchObject({ session, payload: { outcome: "answered" } });
    expect(idsOf.get(session)).toEqual(events.map((_, index) => index + 1));
  }
  for (const { reader, session, takes, follower } of readers) {
    expect(reader.ids).toEqual(takes ? idsOf.get(session) : []);
    expect([undefined, TOO_SLOW]).toContain(reader.cut);
    follower.close();
  }
  client.close();
  const delays = readers.flatMap(({ reader }) => reader.delays).sort((a, b) => a - b);
  return { tookMs, delivered: delays.length, p99Ms: delays[Math.floor(delays.length * 0.99)] ?? 0 };
}

describe("an engine with many sessions and readers", () => {
  verifies(
    ["C3", "O3"],
    "loses and reorders nothing, keeps idle sessions small, and a reader that stops changes nothing for others",
    async () => {
      const mock = await startMockModel({ script: SCRIPT });
      const hosted = await hostEngine(await temporaryFolder(), mock);
      const forgetRequests = () => {
        (mock.requests as unknown[]).length = 0;
      };
      // What the first sessions load and compile is not theirs alone.
      if (isThorough) await load(hosted, { sessions: 60, readers: 100 });
      forgetRequests();
      const before = await usedBytes();
      const { tookMs, delivered, p99Ms } = await load(hosted, { sessions: SESSIONS, readers: READERS });
      forgetRequests();
      if (isThorough) {
        const each = Math.round(((await usedBytes()) - before) / SESSIONS);
        process.stderr.write(
          `${SESSIONS} sessions, ${READERS} readers: ${tookMs} ms for a turn each, ${delivered} events delivered, ` +
            `p99 delay ${p99Ms} ms, ${each} bytes an idle session\n`,
        );
        expect(each).toBeLessThan(MOST_IDLE_BYTES);
      }
      await hosted.engine.close();
      await mock.close();
    },
    isThorough ? 180_000 : 30_000,
  );

  verifies(
    ["C3", "C4"],
    "gives every event to readers in another process, over server-sent events",
    async () => {
      const served = await serve({ script: SCRIPT });
      const { engine } = served.hosted;
      const client = engine.host.connect({
        ...{ id: engine.newClientId(), identity: "human", canAnswer: true, transport: "test", attachOnCreate: false },
      });
      const sessions: SessionId[] = [];
      for (let i = 0; i < SESSIONS; i++) {
        const made = await client.send("CreateSession", {});
        if (made.ok && made.session !== undefined) sessions.push(made.session);
      }
      const program = fileURLToPath(new URL("../support/sse-readers.mjs", import.meta.url));
      const args = [program, served.socket, served.token, String(READERS), "some", ...sessions];
      const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      expect((await lines.next()).value).toBe("ready");
      const turns = await Promise.all(sessions.map((session) => turn(client, session)));
      expect((await lines.next()).value).toBe("ended");
      child.stdin.end();
      const report = JSON.parse((await lines.next()).value as string);
      await served.close();
      if (isThorough) process.stderr.write(`${JSON.stringify({ ...report, last: undefined })}\n`);
      expect(report).toMatchObject({ wrong: 0, unfinished: 0 });
      for (const events of turns) {
        const end = events.at(-1);
        expect(report.last[end?.session ?? ""]).toBe(end?.id);
      }
    },
    isThorough ? 180_000 : 30_000,
  );
});
