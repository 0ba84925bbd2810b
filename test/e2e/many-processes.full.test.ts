/**
 * Several programs want the same session at once (feature S13). Every command leaves a mark of its own and prints it, so one that ran
 * unrecorded, or is recorded with another result than its own, is seen. OXBOW_ROUNDS chooses how many rounds.
 */
import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import type { Envelope } from "../../src/protocol/envelope.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import {
  envelopes,
  oxbow,
  type ProgramOptions,
  type ProgramResult,
  providerEnvironment,
  temporaryFolder,
} from "../support/program.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const ROUNDS = Number(process.env.OXBOW_ROUNDS ?? times(1, 100));
const PROCESSES = 5;
const STORES = (process.env.OXBOW_STORES ?? "sqlite,files").split(",");

let mock: MockModel;
beforeAll(async () => {
  const replies = Array.from({ length: 20_000 }, (_, n) =>
    n % 3 === 2 ? reply().text(`Done ${n}.`) : reply().tool("bash", { command: `echo mark-${n}. | tee -a marks` }),
  );
  mock = await startMockModel({ script: script(replies) });
});
afterAll(() => mock.close());

interface Place {
  readonly home: string;
  readonly folder: string;
  readonly store: string;
  readonly model?: MockModel;
}

function run(place: Place, args: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  const { home, folder, store, model = mock } = place;
  const env = { OXBOW_HOME: home, OXBOW_STORE: store, ...providerEnvironment("anthropic", model.url) };
  return oxbow(args, { ...options, cwd: folder, env });
}

const prompt = (place: Place, words: string, ...flags: string[]) =>
  run(place, ["run", "--permission-mode", "allow", ...flags, words]);

async function logOf(place: Place): Promise<Envelope[]> {
  const [session] = JSON.parse((await run(place, ["session", "list", "--json"])).stdout) as { id: string }[];
  const exported = await run(place, ["session", "export", session?.id ?? "", "--format", "jsonl"]);
  expect(exported.stderr).toBe("");
  const verified = await run(place, ["session", "verify", "--all", "--json"]);
  expect(JSON.parse(verified.stdout)).toMatchObject([{ ok: true }]);
  return envelopes(exported.stdout).filter(({ id }) => typeof id === "number");
}

function wordsOf(event: Envelope): string {
  if (event.kind === "TurnStarted") return event.payload.input.map((part) => ("text" in part ? part.text : "")).join();
  if (event.kind !== "ToolResult") return "";
  return event.payload.content.map((part) => ("text" in part ? part.text : "")).join("");
}

/** Some wait for their turn, the others are refused or find the session free. Answers with the inputs that were accepted. */
async function oneRound(place: Place, round: number): Promise<string[]> {
  const attempts = Array.from({ length: PROCESSES }, async (_, i) => {
    const words = `round ${round} process ${i}`;
    const flags = i % 2 === 0 ? ["--continue", "--wait", "5m"] : ["--continue"];
    const result = await prompt(place, words, ...flags);
    if (result.code === 0) return words;
    expect(result, result.stderr).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toMatch(
      /is open in another process \(pid \d+, since \d\d:\d\d\)\. .*--wait .*session branch/,
    );
    expect(i % 2).toBe(1);
    return undefined;
  });
  return (await Promise.all(attempts)).filter((words) => words !== undefined);
}

function checkLog(log: readonly Envelope[], marks: readonly string[]): void {
  expect(log.map(({ id }) => id)).toEqual(log.map((_, i) => i + 1));
  const commands = new Map<string, string>();
  const results = new Map<string, string>();
  for (const event of log) {
    if (event.kind === "ToolCallStarted") commands.set(event.payload.call, String(event.payload.args.command));
    if (event.kind === "ToolResult") results.set(event.payload.call, `${event.payload.status} ${wordsOf(event)}`);
  }
  // Each command that ran is in the log, with its own result.
  const markOf = (command: string) => /mark-\d+\./.exec(command)?.[0] ?? "";
  // The results first: one that is wrong says why a command did not run.
  for (const [call, command] of commands)
    expect(results.get(call)).toMatch(new RegExp(`^ok .*${markOf(command)}`, "s"));
  expect([...commands.values()].map(markOf).sort()).toEqual([...marks].sort());
  // Turns follow each other: none begins before the one before it has ended.
  const turns = log.flatMap((event) =>
    event.kind === "TurnStarted" || event.kind === "TurnEnded" ? [`${event.kind} ${event.payload.turn}`] : [],
  );
  for (let i = 0; i < turns.length; i += 2) {
    expect(turns[i]).toMatch(/^TurnStarted/);
    expect(turns[i + 1]).toBe(turns[i]?.replace("Started", "Ended"));
  }
  expect(turns.length % 2).toBe(0);
}

describe("a session that several programs want", () => {
  for (const store of STORES) {
    verifies(
      ["S3", "S13"],
      `${PROCESSES} at once in ${ROUNDS} rounds: each waits or is refused, and the log is true (${store})`,
      async () => {
        const place = { home: await temporaryFolder(), folder: await temporaryFolder(), store };
        expect(await prompt(place, "begin")).toMatchObject({ code: 0 });
        const accepted = ["begin"];
        for (let round = 0; round < ROUNDS; round++) accepted.push(...(await oneRound(place, round)));
        const log = await logOf(place);
        const marks = (await readFile(join(place.folder, "marks"), "utf8")).split("\n").filter((line) => line !== "");
        expect(new Set(marks).size).toBe(marks.length);
        checkLog(log, marks);
        const inputs = log.filter(({ kind }) => kind === "TurnStarted").map(wordsOf);
        expect(inputs.sort()).toEqual(accepted.sort());
        // Those that wait are three of five.
        expect(accepted.length).toBeGreaterThanOrEqual(3 * ROUNDS);
      },
      60_000 + ROUNDS * 20_000,
    );
  }
});

describe("a session that another program has open", () => {
  // The stores' own rules about leases are tested for each store; this is about the program.
  for (const store of STORES.slice(0, times(1, STORES.length))) {
    verifies(
      ["S13"],
      `can be read, is not touched otherwise, and is free when that program dies (${store})`,
      async () => {
        const stuck = await startMockModel({
          script: script([reply().text("Begun."), reply().hang(), reply().text("Free.")]),
        });
        onTestFinished(() => stuck.close());
        const place = { home: await temporaryFolder(), folder: await temporaryFolder(), store, model: stuck };
        const { stdout } = await prompt(place, "begin", "--output-format", "json");
        const { session } = JSON.parse(stdout) as { session: string };
        const resume = ["--resume", session];
        let holder: ChildProcess | undefined;
        const held = run(place, ["run", ...resume, "hang"], { onStart: (child) => (holder = child) });
        await stuck.waitForRequest(2);

        for (const action of [
          ["delete", session, "--yes"],
          ["undo", session, "--yes"],
          ["compact", session],
        ]) {
          const refused = await run(place, ["session", ...action]);
          expect(refused, refused.stderr).toMatchObject({ code: 1, stdout: "" });
          expect(refused.stderr).toContain(`open in another process (pid ${holder?.pid}, since`);
        }
        expect(await prompt(place, "second", ...resume)).toMatchObject({ code: 1, stdout: "" });
        for (const action of [["show"], ["verify"], ["export"], ["rename", "Another name"], ["pin"], ["unpin"]]) {
          const [name = "", ...rest] = action;
          const allowed = await run(place, ["session", name, session, ...rest]);
          expect(allowed, allowed.stderr).toMatchObject({ code: 0, stderr: "" });
        }
        // Waiting ends with Ctrl-C.
        const waits = await run(place, ["run", ...resume, "--wait", "10m", "third"], {
          onOutput: ({ stderr }, child) => stderr.includes("Waiting for at most 10m") && child.kill("SIGINT"),
        });
        expect(waits.code ?? waits.signal).toBe("SIGINT");
        expect(stuck.requests).toHaveLength(2);

        holder?.kill("SIGKILL");
        await held;
        const free = await prompt(place, "fourth", ...resume);
        expect(free, free.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("Free.") });
        expect(await run(place, ["session", "delete", session, "--yes"])).toMatchObject({ code: 0 });
      },
    );
  }
});
