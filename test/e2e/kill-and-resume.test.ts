/**
 * The program is killed at random moments of a run whose tools change things, and resumed (features S1, S3). Every command leaves
 * a mark of its own, so one that ran twice or ran unrecorded is seen. OXBOW_KILLS chooses how many kills.
 */

import type { ChildProcess } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const KILLS = Number(process.env.OXBOW_KILLS ?? times(3, 100));
/** Several at once: they share one database. */
const LANES = 3;
const COMMANDS_PER_TURN = 8;
/** About as long as such a turn takes here; some kills come while the program starts. */
const LONGEST_MS = 200;
const STARTING = 0.2;
/** Up to here from the first result on, however slow the machine is. */
const WITH_RESULTS = 0.5;

let mock: MockModel;
let home: string;
beforeAll(async () => {
  const replies = Array.from({ length: 20_000 }, (_, n) =>
    n % (COMMANDS_PER_TURN + 1) === COMMANDS_PER_TURN
      ? reply().text(`That was round ${n}.`)
      : reply()
          .text(`Step ${n}. `)
          .tool("bash", { command: `echo mark-${n}. >> marks` }),
  );
  mock = await startMockModel({ script: script(replies) });
});
afterAll(() => mock.close());

/** Decides when the clock of a kill starts: with the program, its first event, or the first result of a tool. */
type KillFrom = "start" | "turn" | "result";

interface Lane {
  readonly folder: string;
  readonly random: () => number;
  session: SessionId | undefined;
  kills: number;
  /** Turns that a kill ended. */
  cutOff: number;
  /** Tells what each killed run had shown. */
  readonly shown: (readonly Envelope[])[];
}

/** A command has run: all that was shown before it was on the disk by then. */
function acknowledgedIn(shown: readonly Envelope[], marks: readonly string[]): readonly Envelope[] {
  const ran = marks.map((mark) => `echo ${mark} >> marks`);
  const last = shown.findLastIndex(
    (event) => event.kind === "ToolCallStarted" && ran.includes(String(event.payload.args.command)),
  );
  return shown.slice(0, last + 1);
}

async function run(lane: Lane, prompt: string, kill?: { readonly from: KillFrom; readonly afterMs: number }) {
  const resume = lane.session === undefined ? [] : ["--resume", lane.session];
  const flags = ["--permission-mode", "allow", "--stream-events", "--orphan", "failed"];
  let timer: NodeJS.Timeout | undefined;
  const killLater = (child: ChildProcess) => {
    timer ??= setTimeout(() => child.kill("SIGKILL"), kill?.afterMs);
  };
  const result = await oxbow(["run", ...flags, ...resume, prompt], {
    cwd: lane.folder,
    env: { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) },
    onStart: (child) => kill?.from === "start" && killLater(child),
    onOutput: ({ stdout }, child) => {
      if (kill?.from === "turn" || (kill?.from === "result" && stdout.includes('"ToolResult"'))) killLater(child);
    },
  });
  clearTimeout(timer);
  return result;
}

/** The content of the log, from the public export. */
async function logOf(lane: Lane): Promise<Envelope[]> {
  const result = await oxbow(["session", "export", lane.session ?? "", "--format", "jsonl"], {
    env: { OXBOW_HOME: home },
  });
  expect(result.stderr).toBe("");
  return envelopes(result.stdout).filter((line) => typeof line.id === "number");
}

async function marksOf(lane: Lane): Promise<string[]> {
  const written = await readFile(join(lane.folder, "marks"), "utf8").catch(() => "");
  return written.split("\n").filter((line) => line !== "");
}

async function begin(lane: Lane): Promise<SessionId | undefined> {
  for (let tries = 0; tries < times(1, 3); tries++)
    await run(lane, "begin", { from: "turn", afterMs: lane.random() * LONGEST_MS });
  // What was killed before its first write is not there, and need not be; but then it has done nothing either.
  const { stdout, stderr } = await oxbow(["session", "list", "--json", "--cwd", lane.folder], {
    env: { OXBOW_HOME: home },
  });
  expect(stderr).not.toMatch(/damaged|wrong|cannot be (?!read\.)|busy/);
  expect(stdout, stderr).not.toBe("");
  const known = JSON.parse(stdout) as { id: SessionId }[];
  if (known.length === 0) expect(await marksOf(lane)).toEqual([]);
  await rm(join(lane.folder, "marks"), { force: true });
  return envelopes((await run(lane, "begin")).stdout)[0]?.session;
}

async function killOnce(lane: Lane): Promise<void> {
  const chance = lane.random();
  // The first kill of a lane always cuts a turn off.
  const from =
    lane.kills > 0 && chance < STARTING ? "start" : lane.kills === 0 || chance < WITH_RESULTS ? "result" : "turn";
  const result = await run(lane, "go on", { from, afterMs: lane.random() * LONGEST_MS });
  if (result.signal === "SIGKILL") {
    lane.kills++;
    // The last line may be cut.
    lane.shown.push(envelopes(result.stdout.slice(0, result.stdout.lastIndexOf("\n") + 1)));
  }
  expect(result.stderr).not.toMatch(/damaged|wrong|cannot be/);
}

async function check(lane: Lane): Promise<void> {
  const last = await run(lane, "finish");
  expect(last.code).toBe(0);
  const marks = await marksOf(lane);
  expect(new Set(marks).size).toBe(marks.length);
  const log = await logOf(lane);
  expect(log.map(({ id }) => id)).toEqual(log.map((_, i) => i + 1));
  const acknowledged = lane.shown.flatMap((shown) => acknowledgedIn(shown, marks));
  for (const event of acknowledged) expect(log[event.id - 1]).toEqual(event);
  const started = new Map<string, string>();
  const results = new Map<string, number>();
  for (const event of log) {
    if (event.kind === "ToolCallStarted") started.set(event.payload.call, String(event.payload.args.command));
    if (event.kind === "ToolResult") results.set(event.payload.call, (results.get(event.payload.call) ?? 0) + 1);
  }
  const commands = [...started.values()];
  expect(new Set(commands).size).toBe(commands.length);
  // What was done is in the log, what is in the log has exactly one end, and what ended well was done.
  for (const mark of marks) expect(commands).toContain(`echo ${mark} >> marks`);
  expect([...started.keys()].map((call) => results.get(call))).toEqual(commands.map(() => 1));
  const well = log.flatMap((event) =>
    event.kind === "ToolResult" && event.payload.status === "ok" ? [started.get(event.payload.call)] : [],
  );
  for (const command of well) expect(marks).toContain(/echo (\S+) >>/.exec(command ?? "")?.[1]);
  lane.cutOff = log.filter(
    (event) => event.kind === "TurnEnded" && event.payload.failure?.reason === "Interrupted",
  ).length;
  const count = (kind: Envelope["kind"]) => log.filter((event) => event.kind === kind).length;
  expect(count("TurnEnded")).toBe(count("TurnStarted"));
  const verified = await oxbow(["session", "verify", lane.session ?? "", "--json"], { env: { OXBOW_HOME: home } });
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, events: log.length });
}

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

describe("a program that is killed", () => {
  verifies(
    ["S1", "S3", "S6", "S11"],
    `${KILLS} times loses nothing that was written and repeats nothing that was done`,
    async () => {
      home = await temporaryFolder();
      const lanes: Lane[] = [];
      for (let i = 0; i < LANES; i++) {
        lanes.push({
          folder: await temporaryFolder(),
          random: randomFrom(i + 1),
          session: undefined,
          kills: 0,
          cutOff: 0,
          shown: [],
        });
      }
      await Promise.all(
        lanes.map(async (lane) => {
          // A new session's first kills would only find that it is not there yet.
          lane.session = await begin(lane);
          while (lane.kills < KILLS / LANES) await killOnce(lane);
          await check(lane);
        }),
      );
      // Else the kills came when there was nothing to lose.
      expect(lanes.reduce((sum, lane) => sum + lane.cutOff, 0)).toBeGreaterThan(KILLS / 3);
    },
    60_000 + KILLS * 3000,
  );
});
