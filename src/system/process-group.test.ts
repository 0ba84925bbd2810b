import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { holdTimers } from "../../test/support/held-timers.js";
import { needs } from "../../test/support/needs.js";
import { times } from "../../test/support/thorough.js";
import { until } from "../../test/support/waiting.js";
import { nodeClock } from "./node-clock.js";
import { killAllGroups, type ProcessEnd, runProcess, startProcess } from "./process-group.js";
import { type ProcessRequest, SpawnError } from "./process-launch.js";
import { MARKER_VARIABLE } from "./process-tree.js";

/** Live processes whose environment or command line holds the text. */
function processesWith(text: string): number[] {
  const found: number[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      if (/^ [ZX]/.test(stat.slice(stat.lastIndexOf(")") + 1))) continue;
      const about = readFileSync(`/proc/${name}/environ`) + readFileSync(`/proc/${name}/cmdline`, "latin1");
      if (about.includes(text)) found.push(Number(name));
    } catch {
      // Ended meanwhile.
    }
  }
  return found;
}

const folder = mkdtempSync(join(tmpdir(), "process-group-"));
let tag = "";

beforeEach(() => {
  tag = randomUUID();
});
afterEach(async () => {
  expect(processesWith(tag)).toEqual([]);
});

afterAll(() => rmSync(folder, { recursive: true }));

function request(command: string, more: Partial<ProcessRequest> = {}): ProcessRequest {
  return {
    argv: ["/bin/bash", "-c", "--", command],
    cwd: folder,
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin", TEST_TAG: tag },
    onOutput() {},
    ...more,
  };
}

async function run(command: string, more: Partial<ProcessRequest> = {}): Promise<ProcessEnd & { output: string }> {
  const chunks: Buffer[] = [];
  const end = await runProcess(request(command, { onOutput: (chunk) => chunks.push(chunk), ...more }));
  return { ...end, output: Buffer.concat(chunks).toString() };
}

/** The time is over when the command has printed something. */
async function runUntilOutput(command: string, more: Partial<ProcessRequest> = {}) {
  const { clock, fire } = holdTimers(60_000);
  let output = "";
  const onOutput = (chunk: Buffer) => {
    output += chunk;
    fire();
  };
  return { ...(await run(command, { ...more, timeoutMs: 60_000, clock, onOutput })), output };
}

describe("a command that ends by itself", () => {
  it("gives its exit code and both streams in the order written", async () => {
    const end = await run("for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 3");
    expect(end).toMatchObject({ reason: "exit", exitCode: 3, signal: undefined, leftovers: 0 });
    expect(end.output).toBe("out1\nerr1\nout2\nerr2\nout3\nerr3\n");
  });

  it("lets the command open its own output by name", async () => {
    expect((await run("echo a > /dev/stdout; echo b > /dev/stderr")).output).toBe("a\nb\n");
  });

  it("keeps the streams apart when asked to", async () => {
    let errors = "";
    const end = await run("echo out; echo err >&2", { onErrorOutput: (chunk) => (errors += chunk) });
    expect([end.output, errors]).toEqual(["out\n", "err\n"]);
  });

  it("delivers separate streams whole, also to a process that is busy when the command ends", async () => {
    const isBusyFor = (ms: number) => {
      for (const until = Date.now() + ms; Date.now() < until; );
    };
    let now = 0;
    const clock = { ...nodeClock, now: () => (now += 1000) };
    let [output, errors] = ["", ""];
    const onErrorOutput = (chunk: Buffer) => (errors += chunk);
    // Node learns of both ends while it reads what the other one wrote, before it can read the rest.
    const other = await startProcess(request("printf x", { onOutput: () => isBusyFor(600), onErrorOutput }));
    const more = { clock, onOutput: (chunk: Buffer) => (output += chunk), onErrorOutput };
    const started = await startProcess(request("sleep 0.35; printf out; printf err >&2", more));
    isBusyFor(150);
    expect(await started.ended).toMatchObject({ reason: "exit", exitCode: 0 });
    expect([output, errors]).toEqual(["out", "err"]);
    await other.ended;
  });

  it("tells the signal that killed it", async () => {
    expect(await run("kill -SEGV $$")).toMatchObject({ reason: "exit", exitCode: undefined, signal: "SIGSEGV" });
  });

  it("tells an exit code from a signal with the same number", async () => {
    expect(await run("exit 137")).toMatchObject({ exitCode: 137, signal: undefined });
    expect(await run("kill -KILL $$")).toMatchObject({ exitCode: undefined, signal: "SIGKILL" });
  });

  it("does not take a command that was stopped for one that has ended", async () => {
    const isStopped = "grep -q '^State:.T' /proc/$$/status";
    const { output } = await run(
      `(until ${isStopped}; do sleep 0.01; done; kill -CONT $$) & kill -STOP $$; wait; echo went on`,
    );
    expect(output).toBe("went on\n");
  });

  it("delivers a large output whole and in order", async () => {
    const { output } = await run("seq 1 200000");
    expect(output.length).toBe(1_288_895);
    expect(output.endsWith("199999\n200000\n")).toBe(true);
  });

  it("waits for a process substitution to finish writing", async () => {
    const end = await run("echo late > >(sleep 0.05; cat)", { drainMs: 20_000 });
    expect(end).toMatchObject({ output: "late\n", leftovers: 0 });
  });

  it("hands over input when there is some", async () => {
    expect((await run("tr a-z A-Z", { input: "hello" })).output).toBe("HELLO");
    expect(await run("exit 0", { input: "x".repeat(1_000_000) })).toMatchObject({ exitCode: 0 });
  });
});

describe("without a user", () => {
  it.each([
    ["reads stdin", "cat; read answer; echo done $?", "done 1"],
    ["asks on the terminal", "read answer </dev/tty; echo done $?", "done 1"],
    ["asks like sudo", "(exec 3<>/dev/tty && read -u 3 answer); echo done $?", "done 1"],
  ])("does not hang on a command that %s", async (_name, command, expected) => {
    const end = await run(command, { timeoutMs: 30_000 });
    expect(end.reason).toBe("exit");
    expect(end.output).toContain(expected);
  });
});

/** Waits for the process between a command and those that it leaves behind. */
const MIDDLE_ENDED =
  "until [ -s middle ] && ! grep -qs '^State:.[^ZX]' /proc/$(cat middle)/status; do sleep 0.01; done; rm middle";

needs("linux", "setsid").describe("[T6] processes left behind by a command", () => {
  it.each([
    ["in the background", "sleep 1000 & echo x", 1],
    ["in the background without output", "sleep 1000 >/dev/null 2>&1 & echo x", 1],
    ["with nohup", "nohup sleep 1000 >/dev/null 2>&1 & disown; echo x", 1],
    ["in another group", "set -m; sleep 1000 & disown; echo x", 1],
    ["in another session", "setsid sleep 1000 & echo x", 1],
    ["in another session without output", "setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo x", 1],
    [
      "after a double fork",
      `(setsid bash -c 'sleep 1000 & sleep 1000 & echo $$ >middle' >/dev/null 2>&1 &); ${MIDDLE_ENDED}; echo x`,
      2,
    ],
    ["with an empty environment and our output", 'env -i TAG="$TEST_TAG" setsid sleep 1000 & echo x', 1],
    ["deaf to SIGTERM", "(trap '' TERM; exec sleep 1000) & echo x", 1],
    ["stopped", "sleep 1000 & kill -STOP $!; echo x", 1],
  ])("are ended: %s", async (_name, command, count) => {
    const end = await run(command, { drainMs: 100, graceMs: 100, timeoutMs: 20_000 });
    expect(end).toMatchObject({ reason: "exit", exitCode: 0, output: "x\n", leftovers: count, survivors: 0 });
  });

  it("that write without end do not hold the end up", async () => {
    const end = await run("yes & echo x", { drainMs: 50 });
    expect(end).toMatchObject({ reason: "exit", exitCode: 0, leftovers: 1 });
  });

  it("leaves alone what others started meanwhile", async () => {
    const started = await startProcess(request("read x </proc/self/fd/0; sleep 1000 & sleep 0.05"));
    const stranger = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
    try {
      await started.ended;
      expect(stranger.exitCode ?? stranger.signalCode).toBe(null);
      expect(() => process.kill(stranger.pid as number, 0)).not.toThrow();
    } finally {
      stranger.kill("SIGKILL");
    }
  });

  it("without a trace but their limits are ended, if the command must leave nothing", async () => {
    const hides = `env -i setsid bash -c '(trap "" TERM; cd /; exec -a ${tag} sleep 1000) & disown; echo $$ >middle' >/dev/null 2>&1 </dev/null`;
    const command = `grep locks /proc/self/limits; (${hides} &); ${MIDDLE_ENDED}; echo x`;
    const end = await run(command, { leavesNothing: true, graceMs: 50, timeoutMs: 20_000 });
    expect(end).toMatchObject({ reason: "exit", exitCode: 0, leftovers: 1, survivors: 0 });
    expect(end.output).toMatch(/^Max file locks +(\d{18}) +\1 .*\nx\n$/);
  });

  it("have the limits of this process otherwise", async () => {
    const end = await run("grep locks /proc/self/limits");
    expect(end.output).toBe(readFileSync("/proc/self/limits", "utf8").match(/^Max file locks.*\n/m)?.[0]);
  });

  it("of an Oxbow within belong to the one around it as well", async () => {
    const outer = { ...request("").env, [MARKER_VARIABLE]: "outer-marker." };
    const end = await run(`echo "$${MARKER_VARIABLE}"`, { env: outer });
    expect(end.output).toMatch(/^outer-marker\.:[0-9a-z-]+\.[0-9a-z]+\.\n$/);
  });
});

needs("linux", "setsid").describe("[T6 L9] timeout and cancel of a command", () => {
  it("ends the tree after the time, with the output until then", async () => {
    const end = await runUntilOutput("echo before; setsid sleep 1000 & sleep 1000");
    expect(end).toMatchObject({ reason: "timeout", output: "before\n", survivors: 0 });
  });

  it("kills what ignores SIGTERM", async () => {
    const end = await runUntilOutput("trap '' TERM HUP INT; echo deaf; while :; do sleep 1000; done", { graceMs: 100 });
    expect(end).toMatchObject({ reason: "timeout", signal: "SIGKILL" });
  });

  it("lets a command clean up", async () => {
    const end = await runUntilOutput("trap 'echo cleaned; exit 9' TERM; echo ready; sleep 1000 & wait");
    expect(end).toMatchObject({ reason: "timeout", output: "ready\ncleaned\n", exitCode: 9 });
  });

  it("does not start a command that was cancelled before", async () => {
    const end = await run("touch started", { signal: AbortSignal.abort() });
    expect(end.reason).toBe("cancelled");
    expect(readdirSync(folder)).not.toContain("started");
  });

  it("reaches descendants that hide from everything but their parent", async () => {
    const controller = new AbortController();
    const command = 'env -i TAG="$TEST_TAG" setsid bash -c "echo up; sleep 1000; true" >&1 & wait';
    const end = await run(command, {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    expect(end.reason).toBe("cancelled");
  });

  it("stops on request", async () => {
    const started = await startProcess(request("sleep 1000"));
    expect((await started.stop()).reason).toBe("cancelled");
    expect((await started.stop()).reason).toBe("cancelled");
  });

  it("leaves no process behind, at any moment", { timeout: 120_000 }, async () => {
    const command =
      "setsid sleep 1000 & (sleep 1000 &) ; nohup sleep 1000 >/dev/null 2>&1 & (setsid bash -c 'sleep 1000 &' &); sleep 1000";
    let seed = 20_26;
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed / 2_147_483_648;
    };
    const worker = async () => {
      for (let round = 0; round < times(2, 25); round++) {
        const controller = new AbortController();
        setTimeout(() => controller.abort(), random() * 30);
        expect((await run(command, { signal: controller.signal })).reason).toBe("cancelled");
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  });
});

describe("a command that cannot be started", () => {
  const attempt = (more: Partial<ProcessRequest>) => runProcess(request("true", more)).catch((error: unknown) => error);

  it("says that the program is missing", async () => {
    const error = await attempt({ argv: ["no-such-program-here"] });
    expect(error).toBeInstanceOf(SpawnError);
    expect(error).toMatchObject({
      code: "ENOENT",
      message: expect.stringContaining("no-such-program-here was not found"),
    });
  });

  it("says that the folder is missing", async () => {
    const cwd = join(folder, "gone");
    expect(await attempt({ cwd })).toMatchObject({ message: `The working directory ${cwd} does not exist.` });
  });

  it("says that the command is too long", async () => {
    const argv = ["/bin/bash", "-c", `: ${"x".repeat(300_000)}`];
    expect(await attempt({ argv })).toMatchObject({ code: "E2BIG", message: expect.stringContaining("too long") });
  });

  it("says that the file is not a program", async () => {
    const file = join(folder, "notes.txt");
    writeFileSync(file, "not a program");
    expect(await attempt({ argv: [file] })).toMatchObject({ code: "EACCES" });
  });

  it("continues to work afterwards", async () => {
    await attempt({ argv: ["no-such-program-here"] });
    expect((await run("echo fine")).output).toBe("fine\n");
  });
});

describe("when Oxbow itself ends", () => {
  const host = join(folder, "host.mjs");
  let child: ChildProcess;

  beforeAll(async () => {
    const entry = join(folder, "host-entry.ts");
    const source = new URL("./process-group.ts", import.meta.url).pathname;
    writeFileSync(
      entry,
      `import { startProcess } from ${JSON.stringify(source)};
       const [command, how] = process.argv.slice(2);
       await startProcess({ leavesNothing: true, argv: ["/bin/bash", "-c", command], cwd: "/", env: process.env, onOutput(chunk) {
         process.stdout.write(chunk);
         if (how === "exit") process.exit(0);
         if (how === "throw") throw new Error("planted");
       } });`,
    );
    await build({
      entryPoints: [entry],
      outfile: host,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
    });
  });

  const start = async (how: string) => {
    const hidden = `(env -i setsid bash -c '(exec -a ${tag} sleep 1000) & disown' >/dev/null 2>&1 </dev/null &)`;
    const command = `setsid sleep 1000 & sleep 1000 & ${hidden}; sleep 0.01; echo up; sleep 1000`;
    child = spawn(process.execPath, [host, command, how], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { PATH: process.env.PATH, TEST_TAG: tag },
    });
    await new Promise((resolve) => child.stdout?.once("data", resolve));
  };

  const allGone = () => until(() => processesWith(tag).length === 0);

  const hasWatchdog = () =>
    readdirSync("/proc").some((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "latin1");
        const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
        return parent === child.pid && readFileSync(`/proc/${name}/cmdline`, "latin1").includes("/environ");
      } catch {
        return false;
      }
    });

  it.each(["exit", "throw"])("takes everything along on %s", async (how) => {
    await start(how);
    await allGone();
  });

  it.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)("takes everything along on %s", async (signal) => {
    await start("wait");
    await until(hasWatchdog);
    child.kill(signal);
    await allGone();
  });

  it("can kill all at once", async () => {
    const started = await startProcess(request("setsid sleep 1000 & sleep 1000"));
    await until(() => processesWith(tag).length >= 2);
    killAllGroups();
    await allGone();
    expect((await started.ended).signal).toBe("SIGKILL");
  });
});
