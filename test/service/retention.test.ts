/** Retention of an engine that listens: who gets the notice, through which client, and what that changes. */
import { afterEach, beforeEach, describe, expect, type MockInstance, vi } from "vitest";
import { ManualClock, systemClock } from "../../src/base/clock.js";
import { connect } from "../../src/clients/sdk-node/index.js";
import type { Host } from "../../src/control/host.js";
import { parseFlags } from "../../src/feature/flags.js";
import { text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { slashRequest } from "../../src/protocol/slash-command.js";
import { SessionStores } from "../../src/runtime/sessions/session-stores.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import type { SessionStore } from "../../src/sessions/store.js";
import { ids } from "../support/engine.js";
import { type Served, StreamReader, serve } from "../support/served-engine.js";
import { TuiClient } from "../support/tui-client.js";
import { until } from "../support/waiting.js";
import { verifies } from "../verifies.js";

const DAY = 24 * 60 * 60 * 1000;
let clock: ManualClock;
let served: Served;
let stores: SessionStores;
let store: SessionStore;
let old: SessionId;
let announced: MockInstance<Host["announce"]>;
const streams: StreamReader[] = [];

beforeEach(async () => {
  clock = new ManualClock(Date.now());
  served = await serve({ engineClock: clock, clock: systemClock });
  announced = vi.spyOn(served.hosted.engine.host, "announce");
  const variables = { OXBOW_HOME: served.home };
  const { settings, roots } = await loadSettings(parseFlags([], [], ""), variables);
  const none = () => {};
  stores = new SessionStores({ settings, roots, variables, root: served.home, notify: none, hint: none });
  const opened = await stores.open();
  if (opened === undefined) throw new Error("no store");
  store = opened;
  old = await oldSession(40);
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await stores.close();
  await served.close();
});

async function oldSession(days: number): Promise<SessionId> {
  const session = ids.next("sess");
  const ts = new Date(clock.wall() - days * DAY).toISOString();
  const row = { id: session, log: ids.next("log"), cwd: served.home, provider: "p", model: "m", created_at: ts };
  await store.create({ ...row, title: "Old" });
  const payload = { turn: ids.next("turn"), input: [text("a word")] };
  const event: Envelope = { id: 1, kind: "TurnStarted", session, originator: ids.next("cli"), ts, payload };
  await store.append(session, [event], "sync");
  return session;
}

/** Lets this many looks of the engine happen, a day apart; each ends with an announcement. */
async function looks(count: number): Promise<void> {
  for (let left = count; left > 0; left--) {
    const before = announced.mock.calls.length;
    clock.advance(before === 0 ? 1000 : DAY);
    await until(() => announced.mock.calls.length > before);
  }
  clock.advance(1000);
}

async function follow(session: SessionId, token = served.token): Promise<StreamReader> {
  await served.ask("/v1/handshake", { token });
  const stream = await StreamReader.open(served, `/v1/sessions/${session}/events`, { "x-oxbow-token": token });
  streams.push(stream);
  return stream;
}

const notices = (stream: StreamReader) =>
  stream.frames
    .map(({ data }) => data as Envelope)
    .flatMap(({ kind, payload }) => (kind === "Notice" && payload.expiring ? [payload] : []));
const about = (session: SessionId) => ({
  level: "warning",
  message: expect.stringContaining(`1 session loses content from`),
  expiring: [{ session, title: "Old", expires_at: expect.any(String) }],
});

describe("an engine that serves", () => {
  verifies(["S5", "C7"], "tells every person who may do everything, and no other client", async () => {
    const session = await served.newSession();
    const agent = await served.served.tokens.make({ identity_class: "agent", sessions: [session] });
    const limited = await served.served.tokens.make({ identity_class: "human", sessions: [session] });
    const strangers = [await follow(session, agent.token), await follow(session, limited.token)];
    await looks(1);
    expect((await store.get(old))?.noticed_at).toBeUndefined();
    // Nothing was said for weeks, so nothing goes.
    await looks(20);
    const owner = await follow(session);
    clock.advance(1000);
    await until(() => notices(owner).length > 0);
    expect(notices(owner)).toEqual([about(old)]);
    await until(async () => (await store.get(old))?.noticed_at !== undefined);
    expect(await store.get(old)).toMatchObject({ expired_to: 0 });
    const { client } = await connect({ socket: served.socket, token: served.token, name: "second" });
    const tui = await TuiClient.over(client, { session, resumed: true, keepsTurn: () => true });
    await tui.until("auto ·");
    clock.advance(1000);
    await tui.until("1 session loses content from");
    await tui.leave();
    expect(strangers.map(notices)).toEqual([[], []]);
    expect(notices(owner)).toHaveLength(1);
    await looks(8);
    await until(async () => (await store.get(old))?.expired_to === 1);
    await until(() => JSON.stringify(owner.frames).includes("1 session has lost content, as announced."));
  });

  verifies(["S5", "C6"], "tells the terminal client, where a command dismisses the notice", async () => {
    const tui = await TuiClient.open(served.hosted);
    await looks(1);
    await tui.until("1 session loses content from");
    await until(async () => (await store.get(old))?.noticed_at !== undefined);
    tui.type("/session:dismiss", "\r");
    await tui.until("Oxbow does not announce 1 session again.");
    const other = await TuiClient.open(served.hosted);
    const next = await oldSession(50);
    await looks(1);
    await other.until(`${next.slice(0, 20)}`);
    expect(await other.text()).not.toContain(old);
    await other.leave();
    await tui.leave();
  });

  verifies(["S5", "C7"], "lets no limited client dismiss a notice", async () => {
    const session = await served.newSession();
    const { token } = await served.served.tokens.make({ identity_class: "human", sessions: [session] });
    await served.ask("/v1/handshake", { token });
    const body = { kind: "CustomCommand", session, payload: slashRequest("session:dismiss", "") };
    const answer = await served.ask("/v1/commands", { method: "POST", body, token });
    expect(answer.json).toMatchObject({ ok: false, failure: { message: expect.stringContaining("without limits") } });
  });
});
