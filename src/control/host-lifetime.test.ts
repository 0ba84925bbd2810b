/** Shows how sessions end: idle, with the engine, and with faults of their own. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type HostedEngine, hostEngine } from "../../test/support/hosted-engine.js";
import { temporaryFolder } from "../../test/support/program.js";
import { until as untilTrue } from "../../test/support/waiting.js";
import { verifies } from "../../test/verifies.js";
import { ManualClock } from "../base/clock.js";
import { text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { SessionId } from "../protocol/ids.js";
import type { CreatePart } from "../runtime/part.js";
import { type MockModel, reply, script, startMockModel } from "../testkit/index.js";
import type { ClientOptions, HostClient } from "./connected-client.js";

const MINUTE = 60_000;

const open: { readonly mock: MockModel; readonly hosted: HostedEngine }[] = [];
afterEach(async () => {
  for (const { mock, hosted } of open.splice(0)) {
    await hosted.engine.close();
    await mock.close();
  }
});

async function engineWith(
  replies: readonly ReturnType<typeof reply>[],
  options: {
    readonly clock?: ManualClock;
    readonly parts?: readonly CreatePart[];
    readonly flags?: readonly string[];
  } = {},
) {
  const rest = reply().text("More.").times(Number.POSITIVE_INFINITY);
  const mock = await startMockModel({ script: script([...replies, rest]) });
  const hosted = await hostEngine(await temporaryFolder(), mock, options);
  open.push({ mock, hosted });
  const { engine, root } = hosted;
  const connect = (more: Partial<ClientOptions> = {}) =>
    engine.host.connect({ id: engine.newClientId(), identity: "human", canAnswer: true, transport: "test", ...more });
  return { engine, connect, mock, root };
}

async function created(client: HostClient, payload = {}): Promise<SessionId> {
  const made = await client.send("CreateSession", payload);
  if (!made.ok || made.session === undefined) throw new Error(JSON.stringify(made));
  return made.session;
}

/** Collects what a client gets from now on, with a way to wait for a kind. */
function watch(client: HostClient) {
  const events: Envelope[] = [];
  const waiting = new Set<() => void>();
  client.subscribe((event) => {
    events.push(event);
    for (const look of waiting) look();
  });
  const until = (kind: string, session?: SessionId) =>
    new Promise<Envelope>((resolve) => {
      const look = () => {
        const found = events.find(
          (event) => event.kind === kind && (session === undefined || event.session === session),
        );
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { events, until };
}

const send = (client: HostClient, session: SessionId, input = "go") =>
  client.send("SendInput", { content: [text(input)], queue: true }, session);

/** Until a session is closed. */
async function untilClosed(client: HostClient, session: SessionId): Promise<void> {
  await untilTrue(async () => !(await client.query("GetStatus", {}, session)).ok);
}

describe("a session whose last turn failed because of a bug", () => {
  it("ends with the reason error, whatever ends it", async () => {
    const fails: CreatePart = () => ({
      name: "broken",
      hooks: { assemble: [{ name: "45-break", run: () => Promise.reject(new Error("broken on purpose")) }] },
    });
    const { connect } = await engineWith([], { parts: [fails] });
    const client = connect();
    const session = await created(client);
    const { until } = watch(client);
    await send(client, session);
    expect(await until("TurnEnded")).toMatchObject({ payload: { failure: { reason: "Internal" } } });
    await client.send("EndSession", {}, session);
    expect(await until("SessionEnded")).toMatchObject({ payload: { reason: "error" } });
  });
});

describe("a session without clients", () => {
  verifies(["O3"], "ends after 30 minutes, keeps its log, and opens again for the next client", async () => {
    const clock = new ManualClock();
    const { connect } = await engineWith([reply().text("First.")], { clock });
    const client = connect();
    const session = await created(client);
    const { until } = watch(client);
    await send(client, session);
    await until("TurnEnded");
    clock.advance(90 * MINUTE);
    expect(await client.query("GetStatus", {}, session)).toMatchObject({ ok: true });
    await client.send("DetachSession", {}, session);
    clock.advance(29 * MINUTE);
    // A command counts as use.
    await client.send("CancelTurn", {}, session);
    clock.advance(29 * MINUTE);
    expect(await client.query("GetStatus", {}, session)).toMatchObject({ ok: true });
    clock.advance(1 * MINUTE);
    await untilClosed(client, session);
    const again = connect();
    const seen = watch(again);
    expect(await again.send("AttachSession", { after: 0 }, session)).toEqual({ ok: true });
    expect(await seen.until("SessionEnded")).toMatchObject({ payload: { reason: "idle" } });
    expect(clock.pending).toBe(0);
  });

  verifies(["O3"], "stays while its turn runs, and while it is pinned", async () => {
    const clock = new ManualClock();
    const { connect } = await engineWith([reply().text("First."), reply().text("Wait.").hang()], { clock });
    const client = connect();
    const session = await created(client);
    const { until } = watch(client);
    await send(client, session);
    await until("TurnEnded");
    const pin = { namespace: "slash", verb: "sessions:pin", payload: { line: session } };
    expect(await client.send("CustomCommand", pin, session)).toMatchObject({ ok: true });
    await client.send("DetachSession", {}, session);
    clock.advance(31 * MINUTE);
    for (let i = 0; i < 50; i++) await new Promise(setImmediate);
    expect(await client.query("GetStatus", {}, session)).toMatchObject({ ok: true });
    const other = await created(client);
    await send(client, other);
    await client.send("DetachSession", {}, other);
    clock.advance(31 * MINUTE);
    for (let i = 0; i < 50; i++) await new Promise(setImmediate);
    expect(await client.query("GetStatus", {}, other)).toMatchObject({ ok: true, answer: { busy: true } });
    await client.send("CancelTurn", {}, other);
  });
});

describe("the end of the engine", () => {
  verifies(["O4"], "ends every session in order: the turn, SessionEnded, and only then the connections", async () => {
    const { engine, connect } = await engineWith([reply().text("Wait.").hang()]);
    const client = connect();
    const { events, until } = watch(client);
    const [busy, idle] = [await created(client), await created(client)];
    await send(client, busy);
    await until("TextDelta");
    await send(client, idle);
    await until("TurnEnded", idle);
    const before = events.length;
    const closing = engine.close();
    expect(await send(client, idle)).toMatchObject({ failure: { reason: "ShuttingDown" } });
    expect(await client.query("GetStatus", {}, idle)).toBeDefined();
    await closing;
    const published = events.slice(before);
    const kinds = (session: SessionId) =>
      published.filter((event) => event.session === session).map(({ kind }) => kind);
    expect(kinds(idle)).toEqual(["SessionEnded"]);
    expect(kinds(busy).slice(-2)).toEqual(["TurnEnded", "SessionEnded"]);
    expect(published.find(({ kind }) => kind === "TurnEnded")).toMatchObject({ payload: { outcome: "cancelled" } });
    expect(await send(client, idle)).toMatchObject({ ok: false });
  });
});

describe("a session that does not end", () => {
  verifies(["O4"], "keeps the engine from ending for half a minute at most", async () => {
    const clock = new ManualClock();
    let stuck: SessionId | undefined;
    const part: CreatePart = ({ session }) => ({
      name: "stuck",
      close: () => (session === stuck ? new Promise(() => {}) : undefined),
    });
    const { engine, connect } = await engineWith([], { clock, parts: [part] });
    const client = connect();
    const { events, until } = watch(client);
    stuck = await created(client);
    const other = await created(client);
    let isClosed = false;
    const closing = engine.close().then(() => {
      isClosed = true;
    });
    await until("SessionEnded", other);
    clock.advance(29_999);
    await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    clock.advance(1);
    await closing;
    expect(events.map(({ kind, session }) => [kind, session])).toEqual([
      ["SessionEnded", other],
      ["SessionEnded", stuck],
    ]);
  });
});

describe("a session with a fault", () => {
  verifies(["L14", "C3"], "touches no other: hooks, subscribers, tools, readers and its end may fail", async () => {
    const faulty = new Set<SessionId>();
    const fails = (session: SessionId, what: string) => {
      if (faulty.has(session)) throw new Error(`${what} failed`);
    };
    const part: CreatePart = ({ session }) => ({
      name: "faults",
      hooks: {
        assemble: [
          {
            name: "50-faults",
            run: async () => {
              fails(session, "the hook");
              return undefined;
            },
          },
        ],
      },
      subscribers: [{ name: "90-faults", run: () => fails(session, "the subscriber") }],
      close: () => fails(session, "the end"),
    });
    const { engine, connect, root } = await engineWith([], { parts: [part] });
    await mkdir(join(root, "other"));
    const client = connect();
    const [bad, good] = [await created(client), await created(client)];
    faulty.add(bad);
    // A reader that throws is a fault of that reader alone.
    const broken = connect();
    broken.subscribe(() => {
      throw new Error("the reader failed");
    });
    for (const session of [bad, good]) await broken.send("AttachSession", {}, session);
    const { until, events } = watch(client);
    await Promise.all([send(client, bad), send(client, good)]);
    expect(await until("TurnEnded", bad)).toMatchObject({ payload: { outcome: "failed" } });
    expect(await until("TurnEnded", good)).toMatchObject({ payload: { outcome: "answered", text: "More." } });
    // The session itself takes the next input, too.
    faulty.delete(bad);
    events.length = 0;
    await send(client, bad);
    expect(await until("TurnEnded", bad)).toMatchObject({ payload: { outcome: "answered" } });
    faulty.add(bad);
    expect(await client.send("EndSession", {}, bad)).toEqual({ ok: true });
    events.length = 0;
    await send(client, good);
    expect(await until("TurnEnded", good)).toMatchObject({ payload: { outcome: "answered" } });
    await engine.close();
    expect(events.at(-1)).toMatchObject({ kind: "SessionEnded", session: good });
  });

  it("that cannot be opened is refused, and the next one opens", async () => {
    let isBroken = true;
    const part: CreatePart = () => {
      if (isBroken) throw new Error("no part today");
      return { name: "parts" };
    };
    const { connect } = await engineWith([], { parts: [part] });
    const client = connect();
    expect(await client.send("CreateSession", {})).toMatchObject({
      failure: { reason: "Internal", message: expect.stringContaining("no part today") },
    });
    isBroken = false;
    await created(client);
  });
});

describe("a question", () => {
  verifies(
    ["P4"],
    "of an agent's turn waits for a person who may still come, and is denied when none does",
    async () => {
      const clock = new ManualClock();
      const call = reply().tool("bash", { command: "touch made" });
      const { connect } = await engineWith([call, reply().text("Denied."), call], {
        clock,
        flags: ["--permission-mode", "ask"],
      });
      const agent = connect({ identity: "agent", canAnswer: false });
      const session = await created(agent);
      const { until, events } = watch(agent);
      await send(agent, session);
      await until("PermissionRequested");
      clock.advance(59_000);
      expect(events.some(({ kind }) => kind === "PermissionResolved")).toBe(false);
      clock.advance(1_000);
      expect(await until("PermissionResolved")).toMatchObject({
        payload: { decision: "deny", decided_by: "permission_timeout (60 s)" },
      });
      expect(await until("ToolResult")).toMatchObject({
        payload: { status: "denied", details: { failure: { reason: "PermissionTimeout" } } },
      });
      await until("TurnEnded");
      // A person who comes in time gets the question and answers it.
      events.length = 0;
      await send(agent, session);
      const asked = await until("PermissionRequested");
      if (asked.kind !== "PermissionRequested") throw new Error("no question");
      const person = connect();
      const seen = watch(person);
      await person.send("AttachSession", {}, session);
      expect(await seen.until("PermissionRequested")).toEqual(asked);
      const answer = { call: asked.payload.call, decision: "deny" } as const;
      expect(await agent.send("AnswerPermission", answer, session)).toMatchObject({ ok: false });
      expect(await person.send("AnswerPermission", answer, session)).toEqual({ ok: true });
      expect(await until("PermissionResolved")).toMatchObject({ payload: { decided_by: person.id } });
    },
  );
});

describe("inputs", () => {
  verifies(["C3", "L10"], "of many clients start turns in the order in which they arrived", async () => {
    const { connect } = await engineWith([]);
    const clients = Array.from({ length: 8 }, () => connect({ attachOnCreate: false }));
    const [first] = clients;
    const session = await created(first as HostClient);
    const reader = connect();
    const { events } = watch(reader);
    await reader.send("AttachSession", {}, session);
    const replies = await Promise.all(
      clients.flatMap((client, index) => [0, 1, 2].map((n) => send(client, session, `${index}-${n}`))),
    );
    expect(replies.filter(({ ok }) => !ok)).toEqual([]);
    const started = () => events.filter(({ kind }) => kind === "TurnEnded").length;
    await untilTrue(() => started() >= 24);
    const inputs = events.flatMap((event) => (event.kind === "TurnStarted" ? [event] : []));
    const expected = clients.flatMap((client, index) => [0, 1, 2].map((n) => [`${index}-${n}`, client.id]));
    expect(inputs.map(({ payload, originator }) => [(payload.input[0] as { text: string }).text, originator])).toEqual(
      expected,
    );
  });
});
