/** Sessions whose content has expired, as a user meets them. */
import { afterEach, describe, expect } from "vitest";
import { parseFlags } from "../../src/feature/flags.js";
import { SessionStores } from "../../src/runtime/sessions/session-stores.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import type { SessionStore } from "../../src/sessions/store.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function machine(script: string) {
  const mock = await startMockModel({ script });
  mocks.push(mock);
  const home = await temporaryFolder();
  const cwd = await temporaryFolder();
  const env = { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
  const run = (...args: readonly string[]) => oxbow(args, { cwd, env });
  /** Tells what retention does to a store after some weeks. */
  const inStore = async <T>(action: (store: SessionStore) => Promise<T>): Promise<T> => {
    const variables = { OXBOW_HOME: home };
    const { settings, roots } = await loadSettings(parseFlags([], [], ""), variables);
    const none = () => {};
    const stores = new SessionStores({ settings, roots, variables, root: cwd, notify: none, hint: none });
    const store = await stores.open();
    if (store === undefined) throw new Error("no store");
    try {
      return await action(store);
    } finally {
      await stores.close();
    }
  };
  return { mock, home, cwd, env, run, inStore };
}

describe("a session whose content has expired", () => {
  verifies(["S5", "L11"], "tells the client that resumes it of the gap, once, and the log has the same", async () => {
    const { run, inStore } = await machine("reply\n  text: one\nreply\n  text: two\nreply\n  text: three\n");
    const first = envelopes((await run("run", "--stream-events", "a prompt")).stdout);
    const session = first[0]?.session ?? "";
    const last = first.at(-1)?.id ?? 0;
    await inStore((store) => store.expire(session as never, last));
    const second = envelopes((await run("run", "--continue", "--stream-events", "go on")).stdout);
    expect(second[0]).toMatchObject({ kind: "StreamGap", id: last + 1, payload: { from: 1, to: last, reason: "ttl" } });
    expect(second[1]).toMatchObject({ kind: "TurnStarted", id: last + 2 });
    const third = envelopes((await run("run", "--continue", "--stream-events", "go on")).stdout);
    expect(third.map(({ kind }) => kind)).not.toContain("StreamGap");
    expect(await run("session", "verify", session)).toMatchObject({ code: 0 });
  });

  verifies(["S3", "S5"], "still asks what became of a call that was cut off, and closes its turn", async () => {
    const command = JSON.stringify({ command: "echo begun; sleep 60" });
    const { cwd, env, run, inStore } = await machine(`reply\n  tool bash ${command}\nreply\n  text: I see.\n`);
    const args = ["run", "--stream-events", "--permission-mode", "allow", "--sandbox", "off", "do it"];
    const killed = await oxbow(args, {
      cwd,
      env,
      onOutput: (all, child) => {
        if (all.stdout.includes("begun\\n")) child.kill("SIGKILL");
      },
    });
    const session = envelopes(killed.stdout)[0]?.session as never;
    await inStore(async (store) => store.expire(session, (await store.get(session))?.last_event ?? 0));
    const asked = await run("run", "--continue", "and?");
    expect(asked.code).not.toBe(0);
    expect(asked.stderr).toContain("bash '(expired)'");
    expect(asked.stderr).toContain("--orphan failed");
    const args2 = ["run", "--continue", "--orphan", "failed", "--stream-events", "and?"];
    const resumed = envelopes((await run(...args2)).stdout);
    expect(resumed.map(({ kind }) => kind).slice(0, 5)).toEqual([
      "SessionContinued",
      "StreamGap",
      "ToolResult",
      "TurnEnded",
      "TurnStarted",
    ]);
    expect(resumed[3]).toMatchObject({ payload: { failure: { reason: "Interrupted" } } });
    expect(resumed.at(-2)).toMatchObject({ kind: "TurnEnded", payload: { outcome: "answered", text: "I see." } });
    expect(await run("session", "verify", session)).toMatchObject({ code: 0 });
  });
});

describe("the date", () => {
  verifies(["S6"], "is sent to the model once a day, however often the session is resumed", async () => {
    const { mock, run, inStore } = await machine("reply\n  text: one\nreply\n  text: two\nreply\n  text: three\n");
    const first = envelopes((await run("run", "--stream-events", "a prompt")).stdout);
    const session = first[0]?.session as never;
    // The session is of an earlier day.
    const copy = await inStore(async (store) => {
      const record = await store.get(session);
      const id = `${String(session).slice(0, -1)}${String(session).endsWith("0") ? "1" : "0"}` as never;
      const earlier = "2026-01-31T12:00:00.000Z";
      const { provider, model, cwd } = record as NonNullable<typeof record>;
      const log = `log_${String(id).slice(5)}` as never;
      await store.create({ id, log, cwd, provider, model, created_at: earlier });
      const events = first.map((event) => ({ ...event, session: id, ts: earlier }) as never);
      await store.append(id, events, "sync");
      return id;
    });
    expect(await run("run", "--resume", copy, "again")).toMatchObject({ code: 0 });
    expect(await run("run", "--resume", copy, "once more")).toMatchObject({ code: 0 });
    const words = JSON.stringify(mock.requests[2]?.body);
    expect(words.match(/The date is now/g)).toHaveLength(1);
  });
});
