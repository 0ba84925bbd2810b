/**
 * `session branch` and `session import` of a long session are killed at random moments. Afterwards each session that is listed is
 * complete, and `--continue` resumes a complete one. OXBOW_KILLS chooses how many kills. Random kills seldom hit the copy itself:
 * src/runtime/commands/sessions/copy-session.test.ts kills at chosen moments.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { createIdSource } from "../../src/base/ulid.js";
import { startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const KILLS = Number(process.env.OXBOW_KILLS ?? times(1, 60));
const TURNS = times(30, 250);
const EVENTS = TURNS * 20;

/** As `oxbow session export` writes it. */
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
    add("TurnStarted", { turn, input: [{ type: "text", text: `question ${i}.` }] });
    for (let word = 0; word < 17; word++) add("TextDelta", { text: `word ${word} of answer ${i}, ` });
    add("CostIncremented", { turn, provider: "openai", model: "gpt-5", usage, elapsed_ms: 1 });
    add("TurnEnded", { turn, outcome: "answered", text: "", iterations: 1, usage });
  }
  return lines.join("\n");
}

interface Place {
  readonly run: (args: readonly string[], killAfterMs?: number) => ReturnType<typeof oxbow>;
  readonly file: string;
  readonly requests: () => readonly { readonly body: unknown }[];
}

async function place(store: string): Promise<Place> {
  const mock = await startMockModel({ script: "reply times=any\n  text: Fine.\n" });
  onTestFinished(() => mock.close());
  const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
  const env = { OXBOW_HOME: home, OXBOW_STORE: store, ...providerEnvironment("openai", mock.url) };
  const file = join(await temporaryFolder(), "transcript.jsonl");
  await writeFile(file, transcript());
  return {
    file,
    requests: () => mock.requests,
    run: (args, killAfterMs) =>
      oxbow(args, {
        cwd,
        env,
        onStart: (child) => {
          if (killAfterMs !== undefined) setTimeout(() => child.kill("SIGKILL"), killAfterMs);
        },
      }),
  };
}

interface Listed {
  readonly id: string;
  readonly last_event: number;
}

async function listed({ run }: Place): Promise<readonly Listed[]> {
  const { code, stdout, stderr } = await run(["session", "list", "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as readonly Listed[];
}

describe("a copy of a session", () => {
  for (const store of ["sqlite", "files"]) {
    verifies(
      ["S1", "S6"],
      `is there whole or not at all when the program is killed ${KILLS} times (${store})`,
      async () => {
        const here = await place(store);
        const from = performance.now();
        const [whole] = JSON.parse((await here.run(["session", "import", "--here", "--json", here.file])).stdout);
        const takes = performance.now() - from;
        const commands = [
          ["session", "import", "--here", here.file],
          ["session", "branch", whole.id],
        ];
        // A command may end before its kill, when the machine was busy while the first one ran.
        for (let [i, killed, spell] = [0, 0, takes]; i < KILLS || killed === 0; i++, spell *= killed === 0 ? 0.7 : 1) {
          const { signal } = await here.run(
            commands[i % 2] ?? [],
            spell * (i === 0 ? 0.5 : 0.15 + 0.9 * Math.random()),
          );
          if (signal === "SIGKILL") killed++;
          const sessions = await listed(here);
          expect(sessions.map(({ last_event }) => last_event)).toEqual(sessions.map(() => EVENTS));
          expect(sessions.map(({ id }) => id)).toContain(whole.id);
        }
        expect(await here.run(["session", "verify", "--all"])).toMatchObject({ code: 0 });
        expect(await here.run(["run", "--continue", "one more"])).toMatchObject({ code: 0, stdout: "Fine.\n" });
        const sent = JSON.stringify(here.requests().at(-1)?.body);
        for (const i of [1, TURNS / 2, TURNS]) expect(sent).toContain(`question ${i}.`);
      },
      60_000 + KILLS * 5000,
    );
  }
});
