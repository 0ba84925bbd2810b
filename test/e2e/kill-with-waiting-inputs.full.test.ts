/**
 * The program is killed while three inputs wait, at random moments of the turns that take them, and resumed (features L10, S6). An
 * input counts as accepted when the program has said so. OXBOW_KILLS chooses how many kills.
 */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import type { Envelope } from "../../src/protocol/envelope.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { holdTimers } from "../support/held-timers.js";
import { skipWithout } from "../support/needs.js";
import { BIN, envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { isThorough, times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const KILLS = Number(process.env.OXBOW_KILLS ?? times(6, 200));
const LANES = isThorough ? ["sqlite", "files", "sqlite"] : ["sqlite", "files"];
/** Sets how long the model takes to answer what waited. */
const ANSWER_MS = 120;
/** From the moment enough were accepted: long enough for all of their turns. */
const LONGEST_MS = 4 * ANSWER_MS;
/** The answer to the first prompt comes when enough inputs wait, however slow the machine is. */
const HELD_MS = 60_000;

interface Lane {
  readonly mock: MockModel;
  readonly answerFirst: () => void;
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly random: () => number;
  /** Holds what the program said it has taken. */
  readonly accepted: string[];
  kills: number;
  /** Kills that left something waiting. */
  left: number;
}

interface Conversation {
  talk(type: (words: string) => void): void;
  hear(screen: string, at: { readonly kill: () => void; readonly type: (words: string) => void }): void;
}

/** On a terminal, where lines are taken while a turn runs; `script` makes one. Answers with what the screen showed. */
async function onTerminal(lane: Lane, { talk, hear }: Conversation): Promise<string> {
  const pidFile = join(lane.folder, "pid");
  const command = `echo $$ > '${pidFile}'; exec '${process.execPath}' '${BIN}' run --plain --continue --no-attach`;
  const env = { ...lane.env, PATH: process.env.PATH ?? "", TMPDIR: tmpdir(), TERM: "xterm", SHELL: "/bin/sh" };
  const child = spawn("script", ["-qefc", command, "/dev/null"], { cwd: lane.folder, env, stdio: "pipe" });
  const type = (words: string) => void child.stdin.write(words);
  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    screen += piece;
    const kill = () => process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
    hear(screen, { kill, type });
  });
  child.stdin.on("error", () => {});
  talk(type);
  await new Promise((resolve) => child.on("close", resolve));
  return screen;
}

async function killOnce(lane: Lane): Promise<void> {
  const inputs = [1, 2, 3].map((n) => `waiting ${lane.kills}-${n}.`);
  const afterMs = lane.random() * LONGEST_MS;
  const { mock, answerFirst } = lane;
  /** Sets how many are accepted before the kill. */
  const most = 1 + (lane.kills % inputs.length);
  const requests = mock.requests.length;
  let isDying = false;
  let typed = 0;
  const screen = await onTerminal(lane, {
    talk: (type) => {
      type(`go ${lane.kills}.\r`);
      void mock.waitForRequest(requests + 1).then(() => type(`/queue ${inputs[0]}\r`));
    },
    // Lines that arrive at once are a paste, so each is typed when the one before was accepted.
    hear: (shown, { kill, type }) => {
      const next = inputs.findLastIndex((input) => shown.includes(`${input}  (after this turn)`)) + 1;
      if (next > typed && inputs[next] !== undefined) type(`/queue ${inputs[next]}\r`);
      typed = Math.max(typed, next);
      if (isDying || next < most) return;
      isDying = true;
      answerFirst();
      setTimeout(kill, afterMs);
    },
  });
  expect(screen).not.toMatch(/damaged|wrong|cannot be saved|cannot save|open in another/);
  lane.accepted.push(...inputs.filter((input) => screen.includes(`/queue ${input}  (after this turn)`)));
  lane.kills++;
}

async function logOf({ env, folder }: Lane): Promise<Envelope[]> {
  const listed = await oxbow(["session", "list", "--json"], { cwd: folder, env });
  const sessions = JSON.parse(listed.stdout) as { id: string }[];
  expect(sessions).toHaveLength(1);
  const { stdout } = await oxbow(["session", "export", sessions[0]?.id ?? "", "--format", "jsonl"], { env });
  return envelopes(stdout).filter(({ id }) => typeof id === "number");
}

function check(lane: Lane, log: readonly Envelope[]): void {
  const taken = log.flatMap((event) =>
    event.kind === "TurnStarted" ? event.payload.input.map((part) => ("text" in part ? part.text : "")) : [],
  );
  const count = (words: string) => taken.filter((each) => each === words).length;
  expect(lane.accepted.filter((words) => count(words) !== 1)).toEqual([]);
  expect(log.filter(({ kind }) => kind === "InputDropped")).toEqual([]);
  expect(lane.accepted.length).toBeGreaterThan(lane.kills);
  const events = (kind: Envelope["kind"]) => log.filter((event) => event.kind === kind);
  expect(events("TurnEnded")).toHaveLength(events("TurnStarted").length);
  lane.left = events("TurnStarted").filter(
    (event) => event.kind === "TurnStarted" && (event.payload.queued ?? 0) > 0 && event.payload.input.length > 1,
  ).length;
}

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

describe("a program that is killed while inputs wait", () => {
  verifies(
    ["L10", "S6"],
    `${KILLS} times loses none of them`,
    async (context) => {
      skipWithout(context, "script");
      const lanes = await Promise.all(
        LANES.map(async (store, i): Promise<Lane> => {
          const home = await temporaryFolder();
          const answers = script([
            // A kill before the first answer leaves its prompt in the message that ends the session.
            reply().when("finish").text("Yes.").times(10_000),
            reply().when("go ").delay(HELD_MS).text("Yes.").times(10_000),
            reply().delay(ANSWER_MS).text("Yes.").times(10_000),
          ]);
          const { clock, fire } = holdTimers(HELD_MS);
          const mock = await startMockModel({ script: answers, clock });
          onTestFinished(() => mock.close());
          const env = {
            HOME: home,
            OXBOW_HOME: home,
            OXBOW_STORE: store,
            ...providerEnvironment("anthropic", mock.url),
          };
          const folder = await temporaryFolder();
          return { mock, answerFirst: fire, env, folder, random: randomFrom(i + 7), accepted: [], kills: 0, left: 0 };
        }),
      );
      await Promise.all(
        lanes.map(async (lane) => {
          await oxbow(["run", "begin"], { cwd: lane.folder, env: lane.env });
          while (lane.kills < KILLS / LANES.length) await killOnce(lane);
          const last = await oxbow(["run", "--continue", "finish"], { cwd: lane.folder, env: lane.env });
          expect(last, last.stderr).toMatchObject({ code: 0 });
          check(lane, await logOf(lane));
        }),
      );
      // Else the kills came when nothing waited.
      expect(lanes.reduce((sum, lane) => sum + lane.left, 0)).toBeGreaterThan(KILLS / 4);
    },
    60_000 + KILLS * 3000,
  );
});
