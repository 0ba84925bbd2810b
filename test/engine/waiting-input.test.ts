import { afterEach, describe, expect } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { createIdSource } from "../../src/base/ulid.js";
import { buildChains } from "../../src/chain/build.js";
import { Host } from "../../src/control/host.js";
import { PermissionPrompts } from "../../src/control/permission-prompts.js";
import { Run } from "../../src/control/run.js";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import { Bus } from "../../src/engine/bus.js";
import type { Tool } from "../../src/engine/ports.js";
import type { CommandPayloads } from "../../src/protocol/commands.js";
import { plainText, text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { PermissionGate } from "../../src/security/permissions/gate.js";
import { ConversationBuilder } from "../../src/sessions/conversation.js";
import { call, calls, ok, type Part, says, scriptedModel, tool } from "../support/engine.js";
import { verifies } from "../verifies.js";

const ids = createIdSource({ wall: Date.now, random: (bytes) => crypto.getRandomValues(bytes) });
const hosts: Host[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
});

/** A host with one session, whose tool `work` waits until the test lets it end. */
async function hosted(parts: readonly Part[], resumed: readonly Envelope[] = []) {
  const model = scriptedModel(parts);
  let release: () => void = () => {};
  let onStart: () => void = () => {};
  const working = new Promise<void>((resolve) => {
    onStart = resolve;
  });
  const work = tool("work", async (_args, { signal }) => {
    onStart();
    await new Promise<void>((resolve) => {
      release = resolve;
      signal.addEventListener("abort", () => resolve());
    });
    return ok("worked");
  });
  const events: Envelope[] = [];
  const run = openRun(model, work, { events, resumed });
  const host = new Host({
    openRun: async () => run,
    setModel: async () => ({ model }),
    refuseAnswer: () => undefined,
    custom: async () => ({ ok: true }),
  });
  hosts.push(host);
  const client = connectInProcess(host, { id: ids.next("cli"), identity: "human", canAnswer: true });
  const other = connectInProcess(host, { id: ids.next("cli"), identity: "human", canAnswer: true });
  const agent = connectInProcess(host, { id: ids.next("cli"), identity: "agent", canAnswer: false });
  const created = await client.send("CreateSession", {});
  const session = created.ok ? (created.session as SessionId) : undefined;
  const send = (words: string, flags: Partial<CommandPayloads["SendInput"]> = {}, from = client) =>
    from.send("SendInput", { content: [text(words)], ...flags }, session);
  const ended = (count: number) => until(events, count);
  return { run, model, events, client, other, agent, session, send, working, release: () => release(), ended };
}

function openRun(
  model: ReturnType<typeof scriptedModel>,
  work: Tool,
  log: { events: Envelope[]; resumed: readonly Envelope[] },
) {
  const bus = new Bus({ session: ids.next("sess"), originator: ids.next("cli"), clock: systemClock });
  bus.subscribe((event) => log.events.push(event));
  const registry = { list: () => [work], find: (name: string) => (name === "work" ? work : undefined) };
  const permissionPrompts = new PermissionPrompts(bus, () => false);
  const services = {
    tools: registry,
    gate: new PermissionGate("allow"),
    person: permissionPrompts,
    log: () => {},
    systemPrompt: () => "",
  };
  const chains = buildChains(services);
  const { messages, waiting } = rebuild(log.resumed);
  return new Run({
    session: bus.session,
    bus,
    permissionPrompts,
    model,
    stages: chains.stages,
    conversation: messages,
    waiting,
    ports: {
      clock: systemClock,
      ids,
      tools: registry,
      requestLinks: chains.requestLinks,
      toolLinks: chains.toolLinks,
      mayStartEarly: () => true,
      toolExecution: "batched",
      maxIterations: 10,
    },
  });
}

/** Looks after each turn of the event loop, so that a test can act between two events. What never happens ends the test by its time limit. */
async function soon(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((next) => setImmediate(next));
}

async function until(events: readonly Envelope[], turns: number): Promise<void> {
  await soon(() => events.filter(({ kind }) => kind === "TurnEnded").length >= turns);
  await new Promise((next) => setImmediate(next));
}

function rebuild(events: readonly Envelope[]) {
  const builder = new ConversationBuilder();
  for (const event of events) builder.take(event);
  return builder.end();
}

const inputs = (events: readonly Envelope[]) =>
  events.flatMap((event) => (event.kind === "TurnStarted" ? [plainText(event.payload.input)] : []));
const WORK = calls(call("work"));

describe("input while a turn runs", () => {
  verifies(["L10"], "is refused, naming who works on it, unless it may wait", async () => {
    const { send, client, other, working, release, ended } = await hosted([WORK, says("done")]);
    await send("go");
    await working;
    const reply = await send("me too", {}, other);
    expect(reply).toMatchObject({ ok: false, failure: { reason: "TurnInProgress" } });
    expect(!reply.ok && reply.failure.message).toContain(client.id);
    release();
    await ended(1);
  });

  verifies(["L10"], "with queue it becomes the next turn, in order, each with its own sender", async () => {
    const { send, other, events, run, working, release, ended } = await hosted([
      WORK,
      says("one"),
      says("two"),
      says("three"),
    ]);
    expect(await send("first")).toMatchObject({ ok: true, value: { state: "started" } });
    await working;
    expect(await send("second", { queue: true })).toMatchObject({ ok: true, value: { state: "queue" } });
    expect(await send("third", { queue: true }, other)).toMatchObject({ ok: true });
    release();
    await ended(3);
    expect(inputs(events)).toEqual(["first", "second", "third"]);
    const thirdTurn = events.filter(({ kind }) => kind === "TurnStarted").at(-1);
    expect(thirdTurn).toMatchObject({ originator: other.id, payload: { queued: 1 } });
    expect(rebuild(events)).toMatchObject({ messages: run.conversation, waiting: [] });
    expect(run.busy).toBe(false);
  });

  verifies(["L10", "L11"], "with steer it goes to the model with the results of the calls that ran", async () => {
    const { send, model, events, run, working, release, ended } = await hosted([WORK, says("as you wish")]);
    await send("go");
    await working;
    expect(await send("in blue, please", { steer: true })).toMatchObject({ ok: true, value: { state: "steer" } });
    release();
    await ended(1);
    expect(model.requests).toHaveLength(2);
    expect(model.requests[1]?.messages.slice(-2)).toMatchObject([
      { role: "user", content: [{ type: "tool_result" }] },
      { role: "user", content: [text("in blue, please")] },
    ]);
    const kinds = events.map(({ kind }) => kind).filter((kind) => /Input|ToolResult|TurnEnded/.test(kind));
    expect(kinds).toEqual(["InputQueued", "ToolResult", "InputSteered", "TurnEnded"]);
    expect(rebuild(events)).toMatchObject({ messages: run.conversation, waiting: [] });
  });

  verifies(["L10"], "with steer and no more calls to come, it is the next turn", async () => {
    const { send, events, working, release, ended } = await hosted([WORK, says("done"), says("also")]);
    await send("go");
    await working;
    release();
    // The results are on their way to the model when this arrives.
    await soon(() => events.some(({ kind }) => kind === "ToolResult"));
    await send("one more thing", { steer: true });
    await ended(2);
    expect(inputs(events)).toEqual(["go", "one more thing"]);
  });

  verifies(["L10", "L9"], "is dropped when the turn is cancelled, and an event reports it", async () => {
    const { send, client, session, events, working, ended, run } = await hosted([WORK, says("never")]);
    await send("go");
    await working;
    await send("later", { queue: true });
    await client.send("CancelTurn", {}, session);
    await ended(1);
    expect(events.at(-1)).toMatchObject({
      kind: "InputDropped",
      payload: { inputs: [[text("later")]], by: client.id },
    });
    expect(inputs(events)).toEqual(["go"]);
    expect(run.busy).toBe(false);
  });

  verifies(["L10", "S6"], "survives a stop of the program: it goes along with the next input", async () => {
    const { send, events, working } = await hosted([WORK, says("never")]);
    await send("go");
    await working;
    await send("in blue", { steer: true });
    await send("then tidy up", { queue: true });
    const log = events.slice();
    const interrupted = { kind: "TurnEnded", payload: { failure: { reason: "Interrupted" } } } as Envelope;
    for (const end of [log, [...log, interrupted]]) {
      const left = rebuild(end).waiting;
      expect(left.map(({ input }) => input)).toEqual([[text("in blue")], [text("then tidy up")]]);
    }
    const again = await hosted([says("all of it")], [...log, interrupted]);
    await again.send("go on");
    await again.ended(1);
    expect(again.events[0]).toMatchObject({
      payload: { queued: 2, input: [text("in blue"), text("then tidy up"), text("go on")] },
    });
    expect(rebuild([...log, interrupted, ...again.events]).waiting).toEqual([]);
  });
});

/** Every accepted input is part of a turn, was given up, or waits. */
function unaccounted(events: readonly Envelope[]): string[] {
  const words = (content: Parameters<typeof plainText>[0]) => plainText(content);
  const known = events.flatMap((event) => {
    if (event.kind === "TurnStarted" || event.kind === "InputSteered")
      return event.payload.input.map((part) => words([part]));
    return event.kind === "InputDropped" ? event.payload.inputs.map(words) : [];
  });
  known.push(...rebuild(events).waiting.map(({ input }) => words(input)));
  const accepted = events.flatMap((event) => (event.kind === "InputQueued" ? [words(event.payload.input)] : []));
  return accepted.filter((input) => known.filter((each) => each === input).length !== 1);
}

describe("a program that is stopped while inputs wait", () => {
  verifies(["L10", "S6"], "after any event loses none of them, also when it is stopped again", async () => {
    const { send, events, working, release, ended } = await hosted([WORK, says("1"), says("2"), says("3"), says("4")]);
    await send("go");
    await working;
    for (const words of ["one", "two"]) await send(words, { queue: true });
    await send("three", { steer: true });
    await send("four", { queue: true });
    release();
    await ended(4);
    expect(inputs(events)).toEqual(["go", "one", "two", "four"]);
    const interrupted = { kind: "TurnEnded", payload: { failure: { reason: "Interrupted" } } } as Envelope;
    for (let length = 1; length <= events.length; length++) {
      const log = events.slice(0, length);
      expect(unaccounted(log)).toEqual([]);
      const { unfinished, waiting } = rebuild(log);
      const left = unfinished === undefined ? log : [...log, interrupted];
      const again = await hosted([says("again")], left);
      await again.send("go on");
      await again.ended(1);
      for (let more = 1; more <= again.events.length; more++) {
        expect(unaccounted([...left, ...again.events.slice(0, more)])).toEqual([]);
      }
      expect(again.events[0]).toMatchObject({
        payload: { input: [...waiting.flatMap(({ input }) => input), text("go on")] },
      });
    }
  });

  verifies(
    ["L10", "P4", "C3"],
    "gives input of agents and of people turns of their own, each with its sender",
    async () => {
      const first = await hosted([WORK, says("1")]);
      await first.send("go");
      await first.working;
      await first.send("from a person", { queue: true });
      await first.send("from an agent", { queue: true }, first.agent);
      await first.send("and more", { steer: true }, first.agent);
      await first.send("from the person again", { queue: true });
      const interrupted = { kind: "TurnEnded", payload: { failure: { reason: "Interrupted" } } } as Envelope;
      const log = [...first.events, interrupted];
      for (const sender of ["client", "agent"] as const) {
        const again = await hosted([says("1"), says("2"), says("3"), says("4")], log);
        const identities: string[] = [];
        again.client.subscribe(({ kind }) => kind === "TurnStarted" && identities.push(again.run.originator.identity));
        const reply = await again.send("now", {}, again[sender]);
        expect(reply).toMatchObject({ ok: true, value: { state: "queue" } });
        await again.ended(sender === "client" ? 3 : 4);
        const turns = again.events.flatMap((event) => (event.kind === "TurnStarted" ? [event] : []));
        const own = sender === "client" ? [] : ["now"];
        expect(inputs(again.events)).toEqual([
          "from a person",
          "from an agentand more",
          `from the person again${sender === "client" ? "now" : ""}`,
          ...own,
        ]);
        expect(turns.map(({ originator }) => originator)).toEqual([
          ...[first.client.id, first.agent.id],
          ...(sender === "client" ? [again.client.id] : [first.client.id, again.agent.id]),
        ]);
        expect(identities).toEqual(["human", "agent", "human", ...own.map(() => "agent")]);
        for (let more = 0; more <= again.events.length; more++) {
          expect(unaccounted([...log, ...again.events.slice(0, more)])).toEqual([]);
        }
      }
    },
  );

  verifies(["L10", "P4"], "takes input of unknown senders of an older log as an agent's", async () => {
    const input = [text("who?")];
    const queued = {
      kind: "InputQueued",
      payload: { input, delivery: "queue", from: "cli_old" },
    } as unknown as Envelope;
    const again = await hosted([says("1"), says("2")], [queued]);
    await again.send("now");
    await again.ended(2);
    expect(inputs(again.events)).toEqual(["who?", "now"]);
    expect(again.events.find(({ kind }) => kind === "TurnStarted")?.originator).toBe("cli_old");
  });

  verifies(
    ["L10", "S6"],
    "knows what waited while it worked between two turns, or was given up after one",
    async () => {
      const { run, client, session, send, events, working, ended } = await hosted([WORK, says("after")]);
      await send("go");
      await working;
      await send("given up", { queue: true });
      await client.send("CancelTurn", {}, session);
      await ended(1);
      expect(rebuild(events).waiting).toEqual([]);
      let finish: () => void = () => {};
      const between = run.between(
        () =>
          new Promise<void>((resolve) => {
            finish = resolve;
          }),
      );
      await new Promise((next) => setImmediate(next));
      await send("later", { queue: true });
      expect(rebuild(events).waiting).toMatchObject([{ input: [text("later")] }]);
      finish();
      await between;
      await ended(2);
      expect(rebuild(events).waiting).toEqual([]);
    },
  );

  verifies(["L10", "S6"], "takes what an earlier run left before what waited for work between two turns", async () => {
    const first = await hosted([WORK]);
    await first.send("go");
    await first.working;
    await first.send("left", { queue: true });
    const interrupted = { kind: "TurnEnded", payload: { failure: { reason: "Interrupted" } } } as Envelope;
    const log = [...first.events, interrupted];
    const { run, send, events, ended } = await hosted([says("done")], log);
    let finish: () => void = () => {};
    const between = run.between(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    await new Promise((next) => setImmediate(next));
    await send("new", { queue: true });
    expect(unaccounted([...log, ...events])).toEqual([]);
    finish();
    await between;
    await ended(1);
    expect(unaccounted([...log, ...events])).toEqual([]);
    expect(events.find(({ kind }) => kind === "TurnStarted")).toMatchObject({ payload: { queued: 2 } });
  });
});

describe("work on the conversation between two turns", () => {
  verifies(
    ["L10", "X7"],
    "keeps turns away like a turn does: input is refused or waits, and a cancel reaches it",
    async () => {
      const { run, client, session, send, events, ended } = await hosted([says("after"), says("again")]);
      let finish: () => void = () => {};
      const working = run.between(async ({ signal }) => {
        await new Promise<void>((resolve) => {
          finish = resolve;
          signal.addEventListener("abort", () => resolve());
        });
        return { cancelled: signal.aborted };
      });
      await new Promise((next) => setImmediate(next));
      expect(await send("now")).toMatchObject({ ok: false, failure: { reason: "TurnInProgress" } });
      expect(await run.between(async () => "twice")).toMatchObject({ failure: { reason: "TurnInProgress" } });
      expect(await send("later", { queue: true })).toMatchObject({ ok: true });
      finish();
      expect(await working).toEqual({ cancelled: false });
      await ended(1);
      expect(events.flatMap((event) => (event.kind === "TurnEnded" ? [event.payload.text] : []))).toEqual(["after"]);
      const cancelled = run.between(async ({ signal }) => {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        return signal.aborted;
      });
      await new Promise((next) => setImmediate(next));
      await client.send("CancelTurn", {}, session);
      expect(await cancelled).toBe(true);
      expect(run.busy).toBe(false);
    },
  );
});
