import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { ids } from "../../../test/support/engine.js";
import { verifies } from "../../../test/verifies.js";
import { ManualClock } from "../../base/clock.js";
import type { Announcement } from "../../control/host.js";
import { parseFlags } from "../../feature/flags.js";
import { text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import { EXPIRED } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { NO_USAGE } from "../../protocol/usage.js";
import { readStoredSession } from "../../sessions/resume.js";
import { dueSoon } from "../../sessions/retention.js";
import { loadSettings } from "../settings/settings.js";
import { dismissNotices, RetentionWatch, retentionPolicy } from "./retention-watch.js";
import { SessionStores } from "./session-stores.js";

const DAY = 24 * 60 * 60 * 1000;
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "retention-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function place(profile = "", later = 0) {
  await writeFile(join(home, "config.toml"), profile);
  const variables = { OXBOW_HOME: home, OXBOW_PROFILE: join(home, "config.toml") };
  const { settings, roots } = await loadSettings(parseFlags([], [], ""), variables);
  const none = () => {};
  const sessions = new SessionStores({ settings, roots, variables, root: home, notify: none, hint: none });
  const store = await sessions.open();
  if (store === undefined) throw new Error("no store");
  const clock = new ManualClock(Date.now() + later);
  const notices: string[] = [];
  const people = { present: true };
  let waiting: Announcement | undefined;
  let shown: Promise<void> = Promise.resolve();
  const show = (announcement: Announcement) => {
    waiting = announcement;
    if (!people.present) return;
    shown = announcement.notices().then((list) => {
      notices.push(...list.map(({ message }) => message));
      announcement.onShown();
    });
  };
  const watch = new RetentionWatch({ sessions, settings, roots, clock, log: () => {}, announce: show });
  /** Waits for the look, after which what was shown is marked. */
  const settled = async () => {
    await watch.settled;
    await shown;
    await watch.settled;
  };
  /** Lets time pass; the watch looks every day. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= DAY) {
      clock.advance(Math.min(left, DAY));
      await settled();
    }
  };
  /** A person comes to an engine that was alone. */
  const arrive = async () => {
    people.present = true;
    if (waiting !== undefined) show(waiting);
    await settled();
  };
  const dismiss = async () => {
    const due = await dueSoon(store, clock.wall(), await retentionPolicy(settings, roots));
    return dismissNotices(due, roots);
  };
  const end = async () => {
    await watch.close();
    await sessions.close();
  };
  return { store, clock, notices, people, watch, pass, arrive, dismiss, end };
}

const START = 1000;

type Place = Awaited<ReturnType<typeof place>>;

/** A session with one input of this age. */
async function oldSession({ store, clock }: Place, { days, title }: { days: number; title?: string }) {
  const session = ids.next("sess");
  const old = new Date(clock.wall() - days * DAY).toISOString();
  const row = { id: session, log: ids.next("log"), cwd: home, provider: "p", model: "m", created_at: old };
  await store.create({ ...row, ...(title !== undefined && { title }) });
  await store.append(session, [inputAt(session, 1, old)], "sync");
  return session;
}

function inputAt(session: SessionId, id: number, ts: string): Envelope {
  const payload = { turn: ids.next("turn"), input: [text("a word")] };
  return { id, kind: "TurnStarted", session, originator: ids.next("cli"), ts, payload };
}

describe("content that expires", () => {
  verifies(["S5"], "is announced, is deleted a week later and not before, and a resume reports it", async () => {
    const { store, clock, notices, pass, end } = await place();
    const session = ids.next("sess");
    const turn = ids.next("turn");
    const originator = ids.next("cli");
    const old = new Date(clock.wall() - 40 * DAY).toISOString();
    await store.create({
      id: session,
      log: ids.next("log"),
      cwd: home,
      provider: "p",
      model: "m",
      created_at: old,
      title: "Old",
    });
    const ended = { turn, outcome: "answered" as const, text: "said", iterations: 1, usage: NO_USAGE };
    const events = [
      { id: 1, kind: "TurnStarted", session, originator, ts: old, payload: { turn, input: [text("a word")] } },
      { id: 2, kind: "TurnEnded", session, originator, ts: old, payload: ended },
    ] as Envelope[];
    await store.append(session, events, "sync");

    await pass(START);
    expect(notices).toEqual([expect.stringContaining(`1 session loses content from`)]);
    expect(notices[0]).toContain(`${session} (Old)`);
    await pass(6 * DAY);
    expect(await store.get(session)).toMatchObject({ expired_to: 0 });
    await pass(2 * DAY);
    expect(await store.get(session)).toMatchObject({ expired_to: 2, title: "Old" });
    expect(notices.filter((each) => each.includes("lost content"))).toHaveLength(1);
    const left: Envelope[] = [];
    for await (const event of store.events(session)) left.push(event);
    expect(left[0]?.payload).toMatchObject({ turn, input: [text(EXPIRED)] });
    expect((await store.verify(session)).ok).toBe(true);
    expect(await readStoredSession(store, session)).toMatchObject({
      gap: { from: 1, to: 2 },
      rebuilt: { messages: [] },
    });
    await end();
  });

  verifies(["S5"], "takes the title with it that quoted it, and not one that a person gave", async () => {
    const { store, clock, notices, pass, end } = await place();
    const old = new Date(clock.wall() - 40 * DAY).toISOString();
    const long = `a secret  plan ${"of many words ".repeat(10)}`;
    const titles = [`${long.replace(/\s+/g, " ").slice(0, 79)}…`, "My name for it"];
    const made = titles.map((title) => ({ id: ids.next("sess"), title }));
    for (const { id, title } of made) {
      await store.create({ id, log: ids.next("log"), cwd: home, provider: "p", model: "m", created_at: old, title });
      const payload = { turn: ids.next("turn"), input: [text(long)] };
      const event = { id: 1, kind: "TurnStarted", session: id, originator: ids.next("cli"), ts: old, payload } as const;
      await store.append(id, [event], "sync");
    }
    await pass(START);
    await pass(8 * DAY);
    const [quoting, named] = await Promise.all(made.map(({ id }) => store.get(id)));
    expect(quoting).toMatchObject({ expired_to: 1 });
    expect(quoting).not.toHaveProperty("title");
    expect(named).toMatchObject({ expired_to: 1, title: "My name for it" });
    expect(notices).toContain("2 sessions have lost content, as announced.");
    await end();
  });

  verifies(
    ["S5"],
    "is announced again when the profile keeps it for a shorter time, and never in the past",
    async () => {
      const first = await place();
      const session = ids.next("sess");
      const at = (days: number) => new Date(first.clock.wall() - days * DAY).toISOString();
      const row = { id: session, log: ids.next("log"), cwd: home, provider: "p", model: "m", created_at: at(25) };
      await first.store.create(row);
      const event = (id: number, ts: string) =>
        ({
          id,
          kind: "TurnStarted",
          session,
          originator: ids.next("cli"),
          ts,
          payload: { turn: ids.next("turn"), input: [text("x")] },
        }) as const;
      await first.store.append(session, [event(1, at(25)), event(2, at(2))], "sync");
      await first.pass(START);
      expect(first.notices).toHaveLength(1);
      await first.end();
      // Ten days on, with a profile that keeps content for one day: event 2 was never announced.
      const { store, clock, notices, pass, end } = await place("retention_days = 1\n", 10 * DAY);
      await pass(START);
      expect(await store.get(session)).toMatchObject({ expired_to: 1 });
      const [, date = ""] = /content from (\S+) on/.exec(notices.at(-1) ?? "") ?? [];
      expect(Date.parse(date)).toBeGreaterThan(clock.wall() + 5 * DAY);
      await pass(8 * DAY);
      expect(await store.get(session)).toMatchObject({ expired_to: 2 });
      await end();
    },
  );

  verifies(["S5"], "stays when it is pinned", async () => {
    const { store, clock, notices, pass, end } = await place();
    const session = ids.next("sess");
    const old = new Date(clock.wall() - 90 * DAY).toISOString();
    await store.create({ id: session, log: ids.next("log"), cwd: home, provider: "p", model: "m", created_at: old });
    const started = { turn: ids.next("turn"), input: [text("a word")] };
    const event = {
      id: 1,
      kind: "TurnStarted",
      session,
      originator: ids.next("cli"),
      ts: old,
      payload: started,
    } as const;
    await store.append(session, [event], "sync");
    await store.update(session, { pinned: true });
    await pass(START);
    await pass(30 * DAY);
    expect(notices).toEqual([]);
    expect(await store.get(session)).toMatchObject({ expired_to: 0 });
    await end();
  });

  verifies(["S1"], "comes after the message about the key, if the first run had no terminal", async () => {
    const { notices, pass, end } = await place();
    await pass(START);
    // This process made the key, and has said so.
    expect(notices).toEqual([]);
    await end();
    await rm(join(home, "state"), { recursive: true });
    const later = await place();
    later.people.present = false;
    await later.pass(START);
    await later.arrive();
    expect(later.notices).toEqual([
      expect.stringContaining("sessions.key. Without this key your sessions cannot be read"),
    ]);
    await later.pass(2 * DAY);
    expect(later.notices).toHaveLength(1);
    await later.end();
  });

  verifies(["S5"], "is never deleted before a person got the notice, whose time counts from then", async () => {
    const engine = await place();
    const { store, notices, people, pass, arrive, end } = engine;
    const session = await oldSession(engine, { days: 90 });
    people.present = false;
    await pass(60 * DAY);
    expect([notices, await store.get(session)]).toMatchObject([[], { expired_to: 0 }]);
    await arrive();
    expect(notices).toEqual([expect.stringContaining("1 session loses content")]);
    people.present = false;
    await pass(6 * DAY);
    expect(await store.get(session)).toMatchObject({ expired_to: 0 });
    await pass(2 * DAY);
    expect(await store.get(session)).toMatchObject({ expired_to: 1 });
    await end();
  });

  verifies(["S5"], "is announced every day until the notice about these sessions is dismissed", async () => {
    const engine = await place();
    const { store, clock, notices, pass, dismiss, end } = engine;
    const about = (id: string) => notices.filter((each) => each.includes(id)).length;
    expect(await dismiss()).toBe(0);
    const first = await oldSession(engine, { days: 25 });
    await pass(START);
    await pass(2 * DAY);
    expect(about(first)).toBe(3);
    // This one falls due after the notice: dismissing hides what was shown, no more.
    const second = await oldSession(engine, { days: 40 });
    expect(await dismiss()).toBe(1);
    await pass(DAY);
    expect([about(first), about(second)]).toEqual([3, 1]);
    expect(await dismiss()).toBe(2);
    await pass(2 * DAY);
    expect([about(first), about(second)]).toEqual([3, 1]);
    // A dismissed notice is a notice: the content goes when it is due. Later content of the session gets its own.
    const later = new Date(clock.wall()).toISOString();
    await store.append(first, [inputAt(first, 2, later)], "sync");
    await pass(3 * DAY);
    expect(await store.get(first)).toMatchObject({ expired_to: 1 });
    await pass(25 * DAY);
    expect(about(first)).toBeGreaterThan(3);
    await end();
  });

  verifies(["S5"], "is announced by an engine with a torn or foreign state file as by a new one", async () => {
    for (const content of ["", "[]", "{", '{"days": "x", "dismissed": 7}', '{"dismissed": [{}], "knows_key": 1}']) {
      const engine = await place();
      const session = await oldSession(engine, { days: 90 });
      await mkdir(join(home, "state"), { recursive: true });
      await writeFile(join(home, "state", "retention.json"), content);
      await engine.pass(START);
      expect(engine.notices.join(), content).toContain(session);
      await engine.store.remove(session);
      await engine.end();
    }
  });
});
