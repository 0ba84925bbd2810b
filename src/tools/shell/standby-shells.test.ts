import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ManualClock } from "../../base/clock.js";
import type { ToolOutcome } from "../../engine/ports.js";
import { plainText } from "../../protocol/content.js";
import { createBashTool, type WrappedCommand } from "../bash.js";
import { StandbyShells } from "./standby-shells.js";

let base: string;
let root: string;
let clock: ManualClock;
let standby: StandbyShells;
/** How the shells that were asked for went on. */
let wrapped: ("waits" | "command")[];
let ended: number;
let isCurrent: boolean;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "standby-")));
  root = join(base, "ws");
  mkdirSync(root);
  clock = new ManualClock();
  standby = new StandbyShells(clock);
  wrapped = [];
  ended = 0;
  isCurrent = true;
});
afterEach(async () => {
  await standby.rest();
  rmSync(base, { recursive: true });
});

/** A tool whose commands are wrapped in nothing, which claims to be a namespace. */
function shell() {
  return createBashTool({
    workspaceRoot: root,
    environment: { PATH: process.env.PATH, OXBOW_TEST: base },
    outputDirectory: join(base, "output"),
    standby,
    wrapCommand: async (command): Promise<WrappedCommand> => {
      wrapped.push(command.argv.includes("--") ? "command" : "waits");
      const about = { endsWithAll: true, isWrapper: false, isCurrent: () => isCurrent };
      return { ...command, ...about, ended: async () => void ended++ };
    },
  });
}

async function run(
  tool: ReturnType<typeof shell>,
  command: string,
  extra = {},
): Promise<ToolOutcome & { text: string }> {
  const context = { signal: new AbortController().signal, progress: () => {} };
  const outcome = await tool.run({ command, ...extra }, context);
  return { ...outcome, text: plainText(outcome.content) };
}

/** The first command has no shell ready for it, the next ones have. */
async function warm() {
  const tool = shell();
  await run(tool, "true");
  await new Promise((resolve) => setImmediate(resolve));
  return tool;
}

const waitingShells = () =>
  readdirSync("/proc").filter((name) => {
    try {
      const isOurs = readFileSync(`/proc/${name}/environ`, "utf8").includes(base);
      return isOurs && readFileSync(`/proc/${name}/cmdline`, "utf8").includes("oxbow_command");
    } catch {
      return false;
    }
  }).length;

describe.skipIf(process.platform !== "linux")("[T6] shells that wait for their commands", () => {
  it("run a command as a new shell would", async () => {
    const script = [
      'echo "$0 $# $SHLVL $PWD"; echo "a  b\\\\c"; printf %s "$oxbow_command"',
      "cat; ls /proc/self/fd | wc -l; echo err >&2; echo 'last line'",
      'exit "7"',
    ].join("\n");
    const cold = await run(shell(), script);
    const tool = await warm();
    const ready = await run(tool, script);
    expect(wrapped.filter((kind) => kind === "command")).toHaveLength(1);
    expect(ready.text).toBe(cold.text);
    expect(ready.text).toContain("err\nlast line");
    expect(ready.details).toMatchObject({ exit_code: 7 });
  });

  it.each([
    ["arguments and variables", 'echo "$# $@ $* ${1-none} ${oxbow_command-none} $-"; set | grep -c oxbow'],
    ["several lines and a comment first", "# what\necho one\n\necho two # more\n"],
    ["a here-document at the end", "cat <<'X'\n$HOME `no`\nX"],
    ["options that change the parser", "shopt -s extglob\ncase ab in @(a|ab)) echo yes;; esac"],
    ["set -e", "set -e; false; echo never"],
    [
      "functions, loops, arithmetic",
      'f() { local x=$1; return $((x + 1)); }; for i in 1 2; do f $i || echo "$i $?"; done',
    ],
    ["an exit trap", "trap 'echo bye $?' EXIT; exit 4"],
    ["a subshell's exit", "(exit 3) || echo $?; { echo grouped; } | cat"],
    ["exec", "exec echo replaced"],
    ["exec of nothing", "exec no-such-program-here; echo still"],
    ["a missing program", "no-such-program-here; echo $?"],
    ["its own process id", '[ "$$" = "$BASHPID" ] && kill -0 $$ && echo mine'],
    ["a background job", "sleep 0 & wait $!; echo $?"],
    ["a pipe that breaks", "yes | head -1; echo ${PIPESTATUS[*]}"],
    ["blanks around", "   echo   'a  b'   "],
    ["return and shift at the top", "shift; echo $?; return 3 2>/dev/null; echo $?"],
    ["line numbers", "echo $LINENO\necho $LINENO"],
    ["input", "read line; echo $?; cat"],
    ["open files", "ls /proc/self/fd | tr '\\n' ' '"],
    ["a long text", `echo ${"ü漢🌊".repeat(300)}`],
  ])("do with %s what a new shell does", async (_name, script) => {
    const cold = await run(shell(), script);
    const ready = await run(await warm(), script);
    expect(wrapped.filter((kind) => kind === "command")).toHaveLength(1);
    expect([ready.text, ready.details?.exit_code]).toEqual([cold.text, cold.details?.exit_code]);
  });

  it("tell where a command is no command, in slightly other words", async () => {
    const cold = await run(shell(), "echo ok\nfi");
    const ready = await run(await warm(), "echo ok\nfi");
    expect(ready.text.replaceAll("eval: line", "-c: line")).toBe(cold.text);
  });

  it("let a program that is asked to end clean up first", async () => {
    const tool = await warm();
    const program = "$SIG{TERM} = sub { sleep 0.2; print qq(cleaned\\n); exit 0 }; $| = 1; print qq(up\\n); sleep 60";
    const late = await run(tool, `perl -e '${program}'`, { timeout: 0.5 });
    expect(late.status).toBe("timeout");
    expect(late.text).toContain("up\ncleaned");
  });

  it("are ended by a time limit and by a signal of their own like others", async () => {
    const tool = await warm();
    const killed = await run(tool, "kill -TERM $$");
    expect(killed.details).toMatchObject({ signal: "SIGTERM" });
    const late = await run(tool, "sleep 60 & sleep 60", { timeout: 0.2 });
    expect(late.status).toBe("timeout");
  });

  it("are not used when the sandbox would be another, for other kinds of command, nor for very long ones", async () => {
    const tool = await warm();
    isCurrent = false;
    expect((await run(tool, "echo fresh")).text).toBe("fresh");
    isCurrent = true;
    await run(tool, `: ${"x".repeat(5000)}`);
    expect(wrapped.filter((kind) => kind === "command")).toHaveLength(3);
  });

  it("are not used when the folder was replaced", async () => {
    const tool = await warm();
    renameSync(root, join(base, "old"));
    mkdirSync(root);
    await run(tool, "echo here > mark");
    expect(readdirSync(root)).toEqual(["mark"]);
  });

  it("are ended by everybody who asks for it, and do not begin after the end", async () => {
    const tool = await warm();
    const first = standby.rest();
    await standby.rest();
    expect(waitingShells()).toBe(0);
    expect(ended).toBe(3);
    await first;
    await standby.close();
    await run(tool, "true");
    await standby.rest();
    expect(wrapped.filter((kind) => kind === "waits")).toHaveLength(2);
  });

  it("end with the turn, and after a while, and give back what was made for them", async () => {
    await warm();
    await vi.waitFor(() => expect(waitingShells()).toBe(2));
    await standby.rest();
    expect(waitingShells()).toBe(0);
    expect(ended).toBe(3);
    await warm();
    await vi.waitFor(() => expect(waitingShells()).toBe(2));
    clock.advance(30_000);
    await vi.waitFor(() => expect(waitingShells()).toBe(0));
  });
});
