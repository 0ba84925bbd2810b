/** The budget of a day after a signal or a kill in the middle of an answer: it counts what arrived, not what was reserved. */
import type { ChildProcess } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { openTransport } from "../../src/testkit/conformance/protocol/transports/open-transport.js";
import { parseScript, startMockModel } from "../../src/testkit/index.js";
import { oxbow, oxbowProcess, providerEnvironment, temporaryFolder } from "../support/program.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const SCRIPT = parseScript(`reply times=any when "slowly"
  text size=6 every=4ms repeat=2000: one two three four five six seven
  flush
reply times=any
  text: Fine.
`);
/** Less than two answers of the longest length need. */
const LIMIT = 60_000;

async function scene(store: string) {
  const mock = await startMockModel({ script: SCRIPT });
  onTestFinished(() => mock.close());
  const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(home, "config"), { recursive: true });
  await writeFile(join(home, "config", "config.toml"), `store = "${store}"\nbudget_day = "60k tokens"\n`);
  const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home };
  return { mock, home, cwd, env, run: (...args: string[]) => oxbow(args, { cwd, env }) };
}

type Scene = Awaited<ReturnType<typeof scene>>;

interface Day {
  readonly spent: { readonly tokens: number };
  readonly held: Readonly<Record<string, { readonly tokens: number }>>;
  readonly killed?: { readonly tokens: number; readonly answers: number };
}

async function dayOf({ home }: Scene): Promise<Day> {
  const folder = join(home, "state", "budget");
  const [name = ""] = (await readdir(folder)).filter((each) => each.endsWith(".json"));
  return JSON.parse(await readFile(join(folder, name), "utf8")) as Day;
}

/** Runs the program and signals it once, when so many deltas of the answer have come; 0: when the request has. */
async function stopRun({ mock, cwd, env }: Scene, signal: NodeJS.Signals, deltas: number): Promise<void> {
  let isSignalled = false;
  await oxbowProcess(["run", "--stream-events", "slowly"], {
    cwd,
    env,
    onOutput: ({ stdout }, child) => {
      if (isSignalled || stdout.split('"kind":"TextDelta"').length - 1 < deltas || mock.requests.length === 0) return;
      isSignalled = child.kill(signal);
    },
  });
  expect(isSignalled).toBe(true);
}

async function stopServe({ home, cwd, env }: Scene, signal: NodeJS.Signals, deltas: number): Promise<void> {
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve) => {
    ended = oxbowProcess(["serve", "--provider", "anthropic"], {
      ...{ env, cwd },
      onStart: (started) => {
        child = started;
      },
      onOutput: ({ stdout }) => void (stdout.includes("listening on unix:") && resolve()),
    });
  });
  onTestFinished(() => void child?.kill("SIGKILL"));
  const state = join(home, "state");
  const human = (await readFile(join(state, "control.token"), "utf8")).trim();
  const transport = await openTransport(`unix:${join(state, "control.sock")}`, { tokens: { human }, environment: {} });
  const connection = await transport.connect("human");
  await connection.handshake({ protocol_version: "0.2.0" });
  const { session } = await connection.command({ kind: "CreateSession", payload: {} });
  let seen = 0;
  await connection.follow({
    session: String(session),
    onEvent: ({ kind }) => void (kind === "TextDelta" && ++seen === Math.max(1, deltas) && child?.kill(signal)),
  });
  const payload = { content: [{ type: "text", text: "slowly" }] };
  await connection.command({ kind: "SendInput", session: String(session), payload });
  await ended;
}

/** Lists where the signal comes: the same points in each run of the tests. */
const POINTS = [0, 1, 7, 40, 3, 20, 75, 2, 55, 12].slice(0, times(2, 10));

describe("the budget of a day", () => {
  for (const store of ["sqlite", "files"]) {
    for (const [how, stop] of [
      ["run", stopRun],
      ["serve", stopServe],
    ] as const) {
      verifies(
        ["M14", "L9"],
        `counts what arrived when a signal stops '${how}' in an answer (${store})`,
        async () => {
          const here = await scene(store);
          let before = 0;
          for (const [index, deltas] of POINTS.entries()) {
            await stop(here, index % 2 === 0 ? "SIGINT" : "SIGTERM", deltas);
            const { spent, held } = await dayOf(here);
            expect(held).toEqual({});
            // A prompt and some words, and not the longest answer.
            expect(spent.tokens - before).toBeLessThan(6000);
            before = spent.tokens;
          }
          const { total } = JSON.parse((await here.run("cost", "--json")).stdout);
          expect(before).toBe(total.usage.input + total.usage.output);
          expect(await here.run("run", "quickly")).toMatchObject({ code: 0 });
        },
        120_000,
      );

      verifies(
        ["M14", "S5"],
        `settles what a killed '${how}' held by what its log shows (${store})`,
        async () => {
          const here = await scene(store);
          await stop(here, "SIGKILL", 10);
          const held = Object.values((await dayOf(here)).held);
          expect(held).toHaveLength(1);
          expect(held[0]?.tokens).toBeGreaterThan(LIMIT / 2);
          const told = await here.run("cost");
          expect(told.stdout).toMatch(/^\d\d,\d\d\d tokens \(\$\d.*\) of today's budget is held .* was killed/m);
          expect(await here.run("run", "quickly")).toMatchObject({ code: 0 });
          const { held: after, killed } = await dayOf(here);
          expect([after, killed?.answers]).toEqual([{}, 1]);
          // The prompt and the words that arrived.
          expect(killed?.tokens).toBeGreaterThan(1000);
          expect(killed?.tokens).toBeLessThan(6000);
          expect((await here.run("cost")).stdout).toContain("1 killed answer counts");
        },
        120_000,
      );
    }
  }
});
