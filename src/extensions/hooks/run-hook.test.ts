import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { skipWithout } from "../../../test/support/needs.js";
import { survivors } from "../../../test/support/survivors.js";
import { verifies } from "../../../test/verifies.js";
import type { Clock } from "../../base/clock.js";
import { nodeClock } from "../../system/node-clock.js";
import { type ConfiguredHook, readHooks } from "./configuration.js";
import { readAnswer } from "./hook-answer.js";
import { needsSandbox, runHook } from "./run-hook.js";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-run-hook-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function hook(command: string, more: object = {}, scope: "user" | "project" = "project"): ConfiguredHook {
  const value = [{ hooks: [{ type: "command", command, timeout: 10, ...more }] }];
  const { hooks, problems } = readHooks([{ scope, path: "settings.json", event: "PreToolUse", value }]);
  if (hooks[0] === undefined) throw new Error(problems.join());
  return hooks[0];
}

function run(command: string, more: object = {}, input = "{}") {
  const environment = { PATH: process.env.PATH ?? "" };
  const place = { root, home: "/home/ann", environment, clock: nodeClock, graceMs: 100 };
  const { handler, timeoutMs } = hook(command, more);
  if (handler.type !== "command") throw new Error(handler.type);
  return runHook({ hook: { handler, timeoutMs }, input, variables: { X: root }, isContained: false }, place);
}

/** Its time passes only in waits of less than a second; longer ones never end. */
class ShortWaits implements Clock {
  #now = 0;

  now(): number {
    return this.#now;
  }

  wall(): number {
    return this.#now;
  }

  after(ms: number, action: () => void): () => void {
    if (ms >= 1000) return () => {};
    return nodeClock.after(ms / 4, () => {
      this.#now += ms;
      action();
    });
  }
}

describe("a hook's command", () => {
  verifies(["E3"], "gets its input, and both outputs are read apart", async () => {
    const end = await run("cat; echo oops >&2; exit 3", {}, '{"a":1}');
    expect(end).toEqual({ kind: "ended", output: { exitCode: 3, stdout: '{"a":1}', stderr: "oops\n" } });
    const direct = await run("printf", { args: ["%s|", "${X}", "a b"] });
    expect(direct).toMatchObject({ output: { stdout: `${root}|a b|` } });
  });

  verifies(["E3", "P8"], "finds no program of the project outside the sandbox", async () => {
    mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
    writeFileSync(join(root, "node_modules/.bin/notify-me"), "#!/bin/sh\necho planted\n", { mode: 0o755 });
    const environment = { PATH: `${root}/node_modules/.bin:${process.env.PATH}` };
    const place = { root, home: "/home/ann", environment, clock: nodeClock };
    const { handler, timeoutMs } = hook("notify-me");
    if (handler.type !== "command") throw new Error(handler.type);
    const start = { hook: { handler, timeoutMs }, input: "", variables: {} };
    expect(await runHook({ ...start, isContained: false }, place)).toMatchObject({
      output: { exitCode: 127, stdout: "" },
    });
    expect(await runHook({ ...start, isContained: true }, place)).toMatchObject({ output: { stdout: "planted\n" } });
  });

  verifies(
    ["E3"],
    "ends at its deadline, with all that it started: asleep, deaf to SIGTERM, forked away, a daemon",
    async (context) => {
      skipWithout(context, "setsid");
      const word = `hook-survivor-${process.pid}`;
      const sleeping = `exec -a ${word} sleep 60`;
      const cases = [
        `trap '' TERM; ${sleeping}`,
        `(trap '' TERM; ${sleeping}) & wait`,
        `setsid bash -c '${sleeping}' & sleep 60`,
        `(setsid bash -c '(${sleeping}) & disown' > /dev/null 2>&1 < /dev/null &); sleep 60`,
      ];
      for (const command of cases) expect(await run(command, { timeout: 0.3 })).toEqual({ kind: "timeout" });
      expect(survivors(word)).toEqual([]);
      const left = await run(`(setsid bash -c '${sleeping}' > /dev/null 2>&1 &); echo started`);
      expect(left).toMatchObject({ kind: "ended", output: { stdout: "started\n" } });
      const bare = await run(
        `env -i PATH="$PATH" setsid bash -c 'trap "" TERM HUP; ${sleeping}' & disown; echo started`,
      );
      expect(bare).toMatchObject({ kind: "ended", output: { stdout: "started\n" } });
      const daemon = (more: string) =>
        `(env -i PATH="$PATH" setsid bash -c '(trap "" TERM HUP; cd /; ${sleeping}) & disown' > /dev/null 2>&1 < /dev/null &)${more}`;
      // The first process of the daemon ends, so that nothing leads to the rest of it but its limits.
      const hidden = await run(daemon("; sleep 0.1; echo started"));
      expect(hidden).toMatchObject({ kind: "ended", output: { stdout: "started\n" } });
      expect(await run(daemon("; sleep 60"), { timeout: 0.3 })).toEqual({ kind: "timeout" });
      expect(survivors(word)).toEqual([]);
    },
  );

  verifies(["E3"], "gets one SIGTERM at its deadline, whatever it starts while it ends, and then SIGKILL", async () => {
    const log = join(root, "signals");
    const command = `trap 'echo TERM >> "${log}"; /bin/sleep 0.05' TERM; while :; do /bin/sleep 0.02; done`;
    expect(await run(command, { timeout: 0.3 })).toEqual({ kind: "timeout" });
    expect(readFileSync(log, "utf8")).toBe("TERM\n");
  });

  verifies(["E3"], "waits half a second for a daemon that it left and that ignores SIGTERM", async () => {
    const word = `hook-leftover-${process.pid}`;
    const clock = new ShortWaits();
    const { handler, timeoutMs } = hook(
      // The hook ends only when the daemon ignores the signal.
      `(trap '' TERM; : > ready; exec -a ${word} sleep 60) > /dev/null 2>&1 & until [ -e ready ]; do :; done; echo started`,
    );
    if (handler.type !== "command") throw new Error(handler.type);
    const place = { root, home: "/home/ann", environment: { PATH: process.env.PATH ?? "" }, clock };
    const end = await runHook({ hook: { handler, timeoutMs }, input: "", variables: {}, isContained: false }, place);
    expect(end).toMatchObject({ kind: "ended", output: { stdout: "started\n" } });
    expect(clock.now()).toBeGreaterThanOrEqual(500);
    expect(clock.now()).toBeLessThan(2000);
    expect(survivors(word)).toEqual([]);
  });

  verifies(["E3"], "may flood, crash, close its input at once or not exist", async () => {
    const flood = await run("head -c 60000000 /dev/zero | tr '\\0' x; echo end >&2");
    if (flood.kind !== "ended") throw new Error(flood.kind);
    expect(flood.output.stdout).toHaveLength(64 * 1024 + "\n[cut off after 64 KB]".length);
    expect(flood.output.stderr).toBe("end\n");
    expect(await run("kill -SEGV $$")).toMatchObject({ kind: "ended", output: { exitCode: 128 } });
    expect(await run("exec 0<&-; sleep 0.05; echo ok", {}, "x".repeat(1_000_000))).toMatchObject({
      output: { stdout: "ok\n" },
    });
    expect(await run("/no/such/program", { args: [] })).toMatchObject({ kind: "failed" });
  });
});

describe("what hooks say", () => {
  const said = (stdout: string, exitCode = 0, stderr = "") => readAnswer("PreToolUse", { exitCode, stdout, stderr });

  verifies(["E3"], "is read carefully", () => {
    expect(said("", 2)).toEqual({ decision: "deny", reason: "The hook gave no reason." });
    expect(said("", 2, "\u001b]0;title\u0007no\u001b[31m!")).toMatchObject({
      reason: expect.not.stringContaining("\u001b"),
    });
    expect(said('{"decision": "block", "reason": "no"}')).toEqual({ decision: "deny", reason: "no" });
    expect(said('{"decision": "approve"}')).toMatchObject({ decision: "allow" });
    expect(said('{"a": ')).toMatchObject({ problem: expect.any(String) });
    expect(said("just a log line")).toEqual({});
    const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
    expect(said(`{"hookSpecificOutput": {"updatedInput": {"command": ${deep}}}}`)).toMatchObject({
      problem: expect.stringContaining("not JSON"),
    });
    expect(said('{"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "allow"}}')).toEqual({
      problem: "it answered PostToolUse to PreToolUse",
    });
    expect(said('{"hookSpecificOutput": {"permissionDecision": "yes"}}')).toEqual({ problem: 'it decided "yes"' });
    expect(said("", 1, "Traceback\nmore")).toEqual({ problem: "Traceback" });
    const stop = readAnswer("Stop", {
      exitCode: 0,
      stdout: '{"decision": "block", "reason": "Run the tests."}',
      stderr: "",
    });
    expect(stop).toEqual({ refuses: true, reason: "Run the tests." });
  });
});

verifies(["E3"], "a user's hook that runs a file of the project is contained like the project's", async () => {
  const place = { root: "/home/ann/app", home: "/home/ann" };
  const outside = [
    "notify-send done",
    "python3 ~/.claude/hooks/guard.py",
    "jq -r .tool_input.command >> ~/log.txt",
    "sed 's/a/b/'",
  ];
  const inside = [
    '"$CLAUDE_PROJECT_DIR"/check.sh',
    "./check.sh",
    "bash ~/app/x.sh",
    "bash $HOME/app/x.sh",
    "bash /home/ann/app/x",
    "$(git rev-parse --show-toplevel)/x",
  ];
  for (const command of outside)
    expect([command, needsSandbox(hook(command, {}, "user"), place)]).toEqual([command, false]);
  for (const command of inside)
    expect([command, needsSandbox(hook(command, {}, "user"), place)]).toEqual([command, true]);
  expect(needsSandbox(hook("notify-send done", { sandbox: true }, "user"), place)).toBe(true);
  expect(needsSandbox(hook("notify-send done"), place)).toBe(true);
});
