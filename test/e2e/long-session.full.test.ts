import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { createIdSource } from "../../src/base/ulid.js";
import { openSqliteStore } from "../../src/sessions/sqlite/sqlite-store.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const TURNS = 60;
const KEY = Buffer.alloc(32, 5);
let mock: MockModel | undefined;
afterEach(() => mock?.close());

/** As `oxbow session export` writes it: turns of forty events. */
function transcript(): string {
  const ids = createIdSource({ wall: Date.now, random: (bytes) => crypto.getRandomValues(bytes) });
  const [session, originator] = [ids.next("sess"), ids.next("cli")];
  const usage = { input: 1, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 };
  const lines: string[] = [];
  const add = (kind: string, payload: object) => {
    const ts = new Date(Date.UTC(2026, 0, 31) + lines.length).toISOString();
    lines.push(JSON.stringify({ id: lines.length + 1, kind, session, originator, ts, payload }));
  };
  for (let i = 1; i <= TURNS; i++) {
    const turn = ids.next("turn");
    add("TurnStarted", { turn, input: [{ type: "text", text: `question ${i}` }] });
    for (let word = 0; word < 37; word++) add("TextDelta", { text: `word ${word} of answer ${i}, ` });
    add("CostIncremented", { turn, provider: "openai", model: "gpt-5", usage, elapsed_ms: 1 });
    add("TurnEnded", { turn, outcome: "answered", text: "", iterations: 1, usage });
  }
  return lines.join("\n");
}

describe("a long session", () => {
  verifies(["S6"], "gets a snapshot, and the model is sent all of it", async () => {
    mock = await startMockModel({ script: "reply\n  text: First.\nreply\n  text: Second.\n" });
    const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
    const env = { OXBOW_HOME: home, OXBOW_SESSIONS: home, OXBOW_MACHINE_KEY: KEY.toString("hex") };
    const run = (...args: string[]) =>
      oxbow(args, { cwd, env: { ...env, ...providerEnvironment("openai", mock?.url ?? "") } });
    const file = join(cwd, "transcript.jsonl");
    await writeFile(file, transcript());
    const [imported] = JSON.parse((await run("session", "import", "--here", "--json", file)).stdout);
    expect(imported).toMatchObject({ events: TURNS * 40 });

    expect(await run("run", "--continue", "one more")).toMatchObject({ code: 0, stdout: "First.\n" });
    expect(await run("run", "--continue", "and another")).toMatchObject({ code: 0, stdout: "Second.\n" });
    const [first, second] = mock.requests.map(({ body }) => (body as { messages: { content: unknown }[] }).messages);
    const said = (first ?? []).slice(1).map(({ content }) => JSON.stringify(content));
    expect(said).toHaveLength(2 * TURNS + 1);
    for (let i = 1; i <= TURNS; i++) {
      expect(said[2 * i - 2]).toContain(`question ${i}`);
      expect(said[2 * i - 1]).toMatch(new RegExp(`^"word 0 of answer ${i}, .*word 36 of answer ${i}, "$`));
    }
    expect(second?.slice(0, first?.length)).toEqual(first);

    const store = await openSqliteStore({ path: join(home, "sessions.db"), key: KEY });
    expect((await store.snapshot?.(imported.id))?.to).toBe(2000);
    await store.close();
    expect((await run("session", "verify", imported.id)).code).toBe(0);
  });
});
