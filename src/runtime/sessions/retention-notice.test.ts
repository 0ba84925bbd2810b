import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { ids } from "../../../test/support/engine.js";
import { verifies } from "../../../test/verifies.js";
import { ManualClock } from "../../base/clock.js";
import { parseFlags } from "../../commands/flags.js";
import { text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import { EXPIRED } from "../../protocol/events.js";
import { NO_USAGE } from "../../protocol/usage.js";
import { readStoredSession } from "../../sessions/resume.js";
import { loadSettings } from "../settings/settings.js";
import { tendRetention } from "./retention-notice.js";
import { SessionStores } from "./session-stores.js";

const DAY = 24 * 60 * 60 * 1000;
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "retention-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function place(profile = "") {
  await writeFile(join(home, "config.toml"), profile);
  const variables = { OXBOW_HOME: home, OXBOW_PROFILE: join(home, "config.toml") };
  const { settings, roots } = await loadSettings(parseFlags([], [], ""), variables);
  const none = () => {};
  const sessions = new SessionStores({ settings, roots, variables, root: home, notify: none, hint: none });
  const store = await sessions.open();
  if (store === undefined) throw new Error("no store");
  const clock = new ManualClock(Date.now());
  const notices: string[] = [];
  const tend = () => tendRetention({ sessions, settings, roots, clock, notify: (message) => notices.push(message) });
  return { sessions, store, clock, notices, tend };
}

describe("content that expires", () => {
  verifies(["S5"], "is announced, is deleted a week later and not before, and a resume reports it", async () => {
    const { sessions, store, clock, notices, tend } = await place();
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

    await tend();
    expect(notices).toEqual([expect.stringContaining(`1 session loses content from`)]);
    expect(notices[0]).toContain(`${session} (Old)`);
    expect(await store.get(session)).toMatchObject({ expired_to: 0 });
    // The same day nothing is said again, and nothing goes.
    await tend();
    expect(notices).toHaveLength(1);

    clock.advance(6 * DAY);
    await tend();
    expect(await store.get(session)).toMatchObject({ expired_to: 0 });
    clock.advance(2 * DAY);
    await tend();
    expect(await store.get(session)).toMatchObject({ expired_to: 2, title: "Old" });
    const left: Envelope[] = [];
    for await (const event of store.events(session)) left.push(event);
    expect(left[0]?.payload).toMatchObject({ turn, input: [text(EXPIRED)] });
    expect((await store.verify(session)).ok).toBe(true);
    expect(await readStoredSession(store, session)).toMatchObject({
      gap: { from: 1, to: 2 },
      rebuilt: { messages: [] },
    });
    await sessions.close();
  });

  verifies(["S5"], "takes the title with it that quoted it, and not one that a person gave", async () => {
    const { sessions, store, clock, notices, tend } = await place();
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
    await tend();
    clock.advance(8 * DAY);
    await tend();
    const [quoting, named] = await Promise.all(made.map(({ id }) => store.get(id)));
    expect(quoting).toMatchObject({ expired_to: 1 });
    expect(quoting).not.toHaveProperty("title");
    expect(named).toMatchObject({ expired_to: 1, title: "My name for it" });
    expect(notices.at(-1)).toBe("2 sessions have lost content, as announced.");
    await sessions.close();
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
      await first.tend();
      expect(first.notices).toHaveLength(1);
      await first.sessions.close();
      // Ten days on, with a profile that keeps content for one day: event 2 was never announced.
      const { sessions, store, clock, notices, tend } = await place("retention_days = 1\n");
      clock.advance(10 * DAY);
      await tend();
      expect(await store.get(session)).toMatchObject({ expired_to: 1 });
      const [, date = ""] = /content from (\S+) on/.exec(notices.at(-1) ?? "") ?? [];
      expect(Date.parse(date)).toBeGreaterThan(clock.wall() + 5 * DAY);
      clock.advance(8 * DAY);
      await tend();
      expect(await store.get(session)).toMatchObject({ expired_to: 2 });
      await sessions.close();
    },
  );

  verifies(["S5"], "stays when it is pinned", async () => {
    const { sessions, store, clock, notices, tend } = await place();
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
    await tend();
    clock.advance(30 * DAY);
    await tend();
    expect(notices).toEqual([]);
    expect(await store.get(session)).toMatchObject({ expired_to: 0 });
    await sessions.close();
  });

  verifies(["S1"], "comes after the message about the key, if the first run had no terminal", async () => {
    const { sessions, notices, tend } = await place();
    await tend();
    // This process made the key, and has said so.
    expect(notices).toEqual([]);
    await sessions.close();
    await rm(join(home, "state"), { recursive: true });
    const later = await place();
    await later.tend();
    expect(later.notices).toEqual([
      expect.stringContaining("sessions.key: without this key your sessions cannot be read"),
    ]);
    await later.tend();
    expect(later.notices).toHaveLength(1);
    await later.sessions.close();
  });
});
