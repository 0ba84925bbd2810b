/** The ways a run is stopped from outside: signals, an output that goes nowhere, an answer without end. */

import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { skipWithout } from "../support/needs.js";
import { BIN, envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { times } from "../support/thorough.js";
import { eventually } from "../support/waiting.js";
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
  const env = {
    PATH: process.env.PATH ?? "",
    OXBOW_HOME: home,
    HOME: home,
    ...providerEnvironment("anthropic", mock.url),
  };
  return { mock, home, cwd, env };
}

/** The program with its standard output at a file of ours. */
async function writingTo(file: string, args: readonly string[], place: { cwd: string; env: Record<string, string> }) {
  const child = spawn(process.execPath, [BIN, ...args], { ...place, stdio: ["ignore", openSync(file, "w"), "pipe"] });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
  });
  return new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, stderr })),
  );
}

async function endsAfter(child: ChildProcess, signal: NodeJS.Signals): Promise<{ ms: number; code: number | null }> {
  const from = performance.now();
  const ended = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  child.kill(signal);
  return { code: await ended, ms: performance.now() - from };
}

const FULL = "oxbow: cannot write to standard output: no space is left on the device.\n";

describe("standard output that cannot be written to", () => {
  verifies(["U1", "L9"], "ends the turn: nothing more is sent or run, and the exit code shows it", async () => {
    const { mock, cwd, env } = await machine(
      'reply\n  text: Words first.\n  tool bash {"command": "sleep 60"}\nreply\n  text: never\n',
    );
    const args = ["run", "--stream-events", "--permission-mode", "allow", "go"];
    expect(await writingTo("/dev/full", args, { cwd, env })).toEqual({ code: 1, stderr: FULL });
    expect(mock.requests.length).toBeLessThan(2);
    const shown = await oxbow(["session", "verify", "--all"], { cwd, env });
    expect(shown).toMatchObject({ code: 0 });
  });

  verifies(["U1"], "is reported once if only the last output is lost, and by every command", async () => {
    const { cwd, env } = await machine("reply\n  text: Done.\n");
    for (const args of [["run", "go"], ["run", "--output-format", "json", "go"], ["session", "list"], ["--help"]]) {
      expect(await writingTo("/dev/full", args, { cwd, env })).toEqual({ code: 1, stderr: FULL });
    }
    expect((await writingTo("/dev/full", ["--version"], { cwd, env })).code).toBe(1);
  });

  verifies(["U1"], "is not reported if the reader closed the pipe (130)", async () => {
    const { env } = await machine("reply\n  text repeat=200000: words and words \n  hang\n");
    const gone = await oxbow(["run", "go", "--stream-events"], {
      env,
      onOutput: (_all, child) => void child.stdout?.destroy(),
    });
    expect(gone).toMatchObject({ code: 130, stderr: "" });
  });
});

describe("a signal", () => {
  /** Of the program. */
  const DEADLINE_MS = 1750;
  const STUBBORN = `trap '' TERM INT HUP; echo begun; while :; do sleep 1; done`;

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    verifies(
      ["L9", "U1"],
      `${signal} ends a turn, also one whose command ignores it; on a quiet machine within two seconds`,
      async () => {
        const { cwd, env } = await machine(`reply\n  tool bash ${JSON.stringify({ command: STUBBORN })}\n`);
        let ended: Promise<{ ms: number; code: number | null }> | undefined;
        const args = ["run", "--stream-events", "--permission-mode", "allow", "--sandbox", "off", "go"];
        const { stdout } = await oxbow(args, {
          cwd,
          env,
          onOutput: (all, child) => {
            if (all.stdout.includes("begun\\n")) ended ??= endsAfter(child, signal);
          },
        });
        const { ms, code } = (await ended) ?? {};
        expect(code).toBe(130);
        // On a machine that runs other tests only the end itself counts.
        expect(ms).toBeLessThan(times(20_000, 2000));
        // At its deadline the program ends without the rest, for which a busy machine may need longer.
        if ((ms ?? 0) < DEADLINE_MS)
          expect(envelopes(stdout).at(-2)).toMatchObject({ kind: "TurnEnded", payload: { outcome: "cancelled" } });
      },
    );
  }

  verifies(["L9", "O5"], "says that a command which it stopped in the middle may have changed files", async () => {
    const command = "echo a > one.txt; mkdir -p sub; echo b > sub/two.txt; echo begun; sleep 60";
    const { cwd, env } = await machine(`reply\n  tool bash ${JSON.stringify({ command })}\n`);
    const args = ["run", "--stream-events", "--permission-mode", "allow", "--sandbox", "off", "go"];
    let pressed = false;
    const { stdout } = await oxbow(args, {
      cwd,
      env,
      onOutput: (all, child) => {
        if (!pressed && all.stdout.includes("begun\\n")) pressed = child.kill("SIGINT");
      },
    });
    const result = envelopes(stdout).find(({ kind }) => kind === "ToolResult");
    expect(result).toMatchObject({
      payload: {
        status: "cancelled",
        details: {
          failure: { reason: "BashCancelledMidCommand" },
        },
      },
    });
    expect(JSON.stringify(result)).toContain("it may have changed files");
  });

  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    verifies(["L9", "U1"], `${signal} ends the turn of the line client and the client`, async () => {
      const { cwd, env } = await machine("reply\n  text: so far\n  thinking: I wonder\n  hang\n");
      let ended: Promise<{ ms: number; code: number | null }> | undefined;
      await oxbow(["--plain", "-v"], {
        cwd,
        env,
        input: "go\nnever sent\n",
        onOutput: (all, child) => {
          if (all.stderr.includes("I wonder")) ended ??= endsAfter(child, signal);
        },
      });
      expect(await ended).toMatchObject({ code: 130 });
      const sessions = JSON.parse((await oxbow(["session", "list", "--json"], { cwd, env })).stdout);
      const shown = await oxbow(["session", "export", sessions[0].id, "--format", "jsonl"], { cwd, env });
      expect(shown.stdout).toContain('"TurnEnded"');
      expect(shown.stdout).not.toContain("never sent");
    });
  }
});

describe("a terminal that is closed", () => {
  verifies(
    ["L9", "U1"],
    "ends the turn and the client, even without a signal, and leaves no core dump",
    async (context) => {
      skipWithout(context, "script", "linux");
      const { mock, cwd, env } = await machine("reply\n  text: so far\n  hang\n");
      const pidFile = join(cwd, "pid");
      // Only the leader of a terminal's session gets SIGHUP, and this one ignores it.
      const client = `echo $$ > '${pidFile}'; exec '${process.execPath}' '${BIN}' --plain --no-attach`;
      const statusFile = join(cwd, "status");
      const command = `trap '' HUP; sh -c "${client}"; echo $? > '${statusFile}'`;
      const terminal = spawn("script", ["-qfc", command, "/dev/null"], {
        cwd,
        env: { ...env, TERM: "xterm", SHELL: "/bin/sh", TMPDIR: tmpdir() },
        stdio: ["pipe", "ignore", "ignore"],
      });
      terminal.stdin?.write("go\n");
      await mock.waitForRequest(1);
      const pid = Number(readFileSync(pidFile, "utf8"));
      terminal.kill("SIGKILL");
      await eventually(() => expect(() => process.kill(pid, 0)).toThrow());
      // 128 and SIGHUP. Node 20 alone would abort: 134.
      await eventually(() => expect(readFileSync(statusFile, "utf8").trim()).toBe("129"));
      const sessions = JSON.parse((await oxbow(["session", "list", "--json"], { cwd, env })).stdout);
      const shown = await oxbow(["session", "export", sessions[0].id, "--format", "jsonl"], { cwd, env });
      expect(shown.stdout).toContain('"TurnEnded"');
    },
  );
});

describe("an answer without end", () => {
  verifies(["L4", "U1"], "fails the turn at the size that the profile sets", async () => {
    const { home, cwd, env } = await machine("reply\n  text repeat=200000: words and words \n  hang\n");
    await writeFile(join(home, "config.toml"), "max_answer_chars = 100000\n");
    const profile = { ...env, OXBOW_PROFILE: join(home, "config.toml") };
    const { code, stderr, stdout } = await oxbow(["run", "go"], { cwd, env: profile });
    expect(code).toBe(1);
    expect(stderr).toContain("the answer of anthropic is longer than 100,000 characters");
    expect(stdout.length).toBeLessThanOrEqual(100_001);
    expect(await oxbow(["run", "--continue", "and?"], { cwd, env })).toMatchObject({ code: 0 });
  });
});
