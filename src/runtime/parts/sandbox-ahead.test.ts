import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { times } from "../../../test/support/thorough.js";
import { until } from "../../../test/support/waiting.js";
import { ManualClock } from "../../base/clock.js";
import type { Sandbox } from "../../security/sandbox/sandbox.js";
import { PATH, SandboxTestbed } from "../../security/sandbox/sandbox-testbed.js";
import { runProcess } from "../../system/process-group.js";
import { SandboxAhead } from "./sandbox-ahead.js";

let bed: SandboxTestbed;
let clock: ManualClock;
let ahead: SandboxAhead;
let sandbox: Sandbox;
/** For each sandbox, whether it was made for a command that waited. */
const PATIENCE_MS = 3000;
let made: ("ahead" | "at once")[];

beforeEach(() => {
  bed = new SandboxTestbed();
  clock = new ManualClock();
  ahead = new SandboxAhead(clock);
  sandbox = bed.sandbox({ sandbox: { passesDescriptors: "yes" } });
  made = [];
  const wrap = sandbox.wrap.bind(sandbox);
  sandbox.wrap = (command) => {
    made.push(command.waits ? "ahead" : "at once");
    return wrap(command);
  };
});
afterEach(async () => {
  await ahead.rest();
  await noneIsWaiting();
  bed.close();
});

interface Ran {
  readonly output: string;
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly reason: string;
}

interface RunOptions {
  readonly env?: object;
  readonly signal?: AbortSignal;
  readonly onOutput?: () => void;
  /** When the sandbox was decided on, and is not made yet. */
  readonly beforeLaunch?: () => void;
  /** When the command has started. */
  readonly afterLaunch?: () => Promise<void>;
}

async function run(script: string, options: RunOptions = {}): Promise<Ran> {
  const { env = {}, signal, onOutput, beforeLaunch, afterLaunch } = options;
  const command = {
    argv: ["/bin/bash", "-c", "--", script],
    cwd: bed.workspace,
    env: { PATH, OXBOW_TEST: bed.workspace, ...env },
  };
  const { wrapped, launch } = await ahead.wrap({ sandbox, command, on: "pipes" });
  const { program, args, cwd, descriptors, withheld, isWrapper, endsWithAll } = wrapped;
  let output = "";
  const request = {
    ...{ argv: [program, ...args], cwd, env: wrapped.env, descriptors, withheld, isWrapper, endsWithAll },
    onOutput: (chunk: Buffer) => {
      output += chunk;
      onOutput?.();
    },
    ...(signal && { signal }),
  };
  beforeLaunch?.();
  const end = await runProcess(request, async (given) => {
    const launched = await launch(given);
    await afterLaunch?.();
    return launched;
  });
  await wrapped.ended();
  return { output, code: end.exitCode, signal: end.signal, reason: end.reason };
}

/** Whether this is a first process of a sandbox that waits for orders. */
function isWaiting(pid: string): boolean {
  try {
    const isOurs = readFileSync(`/proc/${pid}/environ`, "utf8").includes(`OXBOW_TEST=${bed.workspace}`);
    return isOurs && readFileSync(`/proc/${pid}/cmdline`, "utf8") === "/bin/sh\0";
  } catch {
    return false;
  }
}

const waitingShells = () => readdirSync("/proc").filter(isWaiting).length;
/** The kernel may still be ending the processes of a sandbox whose first process has ended. */
const noneIsWaiting = () => until(() => waitingShells() === 0);

/** A sandbox that is made ahead ends if a socket that it hides vanishes, and other tests open and close sockets: then one more command. */
async function nextIsReady(): Promise<void> {
  for (let tries = 1; tries < 5; tries++) {
    const begun = Date.now();
    let isReady = false;
    await until(() => {
      isReady = waitingShells() === 1;
      return isReady || Date.now() - begun > PATIENCE_MS;
    });
    if (isReady) return;
    await run("true");
  }
  await until(() => waitingShells() === 1);
}

/** Whether the command gets a sandbox that waits, and what it prints. */
async function runIn(script: string, options: RunOptions = {}) {
  const before = made.length;
  const { output } = await run(script, options);
  return { output, isNew: made[before] === "at once" };
}

needs("sandbox").describe("[P8 T6] a sandbox made ahead", () => {
  it("is not made for a turn that has ended just after its command began", async () => {
    await run("true", { afterLaunch: () => ahead.rest() });
    await new Promise(setImmediate);
    expect(made).toEqual(["at once"]);
  });

  it("runs a command as a new sandbox would", async () => {
    const script = [
      'echo "$0 $# $SHLVL $PWD"; env | grep -vE "^(OXBOW_CALL|_)=" | sort; ls /proc/self/fd | wc -l',
      "cat; umask; trap; ulimit -a; ps -o stat= -p $$; touch /etc/x; touch mine && rm mine",
      "printf '%s\\n' \"it's\" 'a \"b\"' '$(touch y)' 'ü 漢 🌊' \"$'\\t'\"; echo to-stderr >&2",
      "exit 7",
    ].join("\n");
    const first = await run(script);
    await nextIsReady();
    // The first command changed the folder, perhaps after the next sandbox was made: that one may be out of date.
    await run("true");
    await nextIsReady();
    let second: Ran;
    let before: number;
    // If a program beside this one listens on a new socket meanwhile, the sandbox is out of date.
    do {
      before = made.length;
      second = await run(script);
      await nextIsReady();
    } while (made[before] === "at once");
    expect([made[0], ...made.slice(before)]).toEqual(["at once", "ahead"]);
    expect(second).toEqual(first);
    expect(second).toMatchObject({ code: 7, reason: "exit" });
  });

  it("ends with its command, also with one that is cancelled or killed", async () => {
    await run("true");
    await nextIsReady();
    expect(await run("kill -KILL $$")).toMatchObject({ code: 137 });
    await nextIsReady();
    const cancel = new AbortController();
    const { signal } = cancel;
    const cancelled = await run("echo up; sleep 1000 & setsid sleep 1000 & wait", {
      signal,
      onOutput: () => cancel.abort(),
    });
    expect(cancelled).toMatchObject({ output: "up\n", reason: "cancelled" });
    await nextIsReady();
    expect(await run("echo never", { signal: AbortSignal.abort() })).toMatchObject({ output: "", reason: "cancelled" });
    await noneIsWaiting();
  });

  it("is not used when something that it guards has changed, nor for another environment", async () => {
    mkdirSync(bed.path(".git/hooks"), { recursive: true });
    await run("true");
    await nextIsReady();
    rmSync(bed.path(".git"), { recursive: true });
    mkdirSync(bed.path(".git/hooks"), { recursive: true });
    const changed = await runIn("touch .git/hooks/x; ls .git/hooks");
    expect(changed).toMatchObject({ isNew: true });
    expect(changed.output).not.toMatch(/^x$/m);
    await nextIsReady();
    expect(await runIn("echo $MORE", { env: { MORE: "more" } })).toEqual({ output: "more\n", isNew: true });
  });

  it("ends with the turn, and after a while", async () => {
    await run("true");
    await nextIsReady();
    await ahead.rest();
    await noneIsWaiting();
    expect(readdirSync(bed.workspace)).toEqual([]);
    await run("true");
    await nextIsReady();
    clock.advance(30_000);
    await noneIsWaiting();
  });

  it("that has died is replaced", async () => {
    await run("true");
    await nextIsReady();
    const [waiting] = readdirSync("/proc").filter((name) => isWaiting(name));
    process.kill(Number(waiting), "SIGKILL");
    expect(await run("echo fine")).toMatchObject({ output: "fine\n", code: 0 });
  });

  it("is made again when a socket that it hides vanishes meanwhile", async () => {
    const path = `/var/tmp/oxbow-vanishing-${process.pid}`;
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const ran = await run("echo fine", { beforeLaunch: () => rmSync(path) });
    expect(ran).toMatchObject({ output: "fine\n", code: 0 });
    await new Promise((resolve) => server.close(resolve));
    expect(made.filter((each) => each === "at once")).toHaveLength(2);
  });

  it("that dies at the moment the command arrives is replaced, and the command runs once", async () => {
    for (let round = 0; round < times(4, 40); round++) {
      await run("true");
      await nextIsReady();
      const [waiting] = readdirSync("/proc").filter((name) => isWaiting(name));
      const running = run("echo x >>count; echo fine");
      const kill = () => {
        try {
          process.kill(Number(waiting), "SIGKILL");
        } catch {
          // It has ended with its command.
        }
      };
      // Before, while or after it reads its orders.
      if (round % 4 === 0) kill();
      else if (round % 4 === 1) setImmediate(kill);
      else setTimeout(kill, (round % 4) - 1);
      const { output, code } = await running;
      const count = existsSync(bed.path("count")) ? readFileSync(bed.path("count"), "utf8") : "";
      rmSync(bed.path("count"), { force: true });
      const whole = { code: 0, output: "fine\n", count: "x\n" };
      if (round % 4 === 0 || code === 0) expect({ code, output, count }).toEqual(whole);
      else expect(["", "x\n"]).toContain(count);
    }
  });
});
