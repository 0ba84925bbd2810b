import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdTimers } from "../../test/support/held-timers.js";
import { skipWithout, unless, whyNot } from "../../test/support/needs.js";
import { times } from "../../test/support/thorough.js";
import { verifies } from "../../test/verifies.js";
import { type Clock, systemClock } from "../base/clock.js";
import { schemaProblems } from "../base/json-schema.js";
import type { ToolOutcome } from "../engine/ports.js";
import { resultText } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { findTerminal } from "../system/pseudo-terminal.js";
import { BackgroundCommands } from "./background.js";
import { type BashOptions, createBashTool } from "./bash.js";

const noTerminal = (await findTerminal()) === undefined ? whyNot("script") : undefined;

const root = realpathSync(mkdtempSync(join(tmpdir(), "bash-tool-")));
const outputDirectory = join(root, "outputs");
let tag = "";

function liveWith(text: string): number {
  return readdirSync("/proc").filter((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      return !/\) [ZX]/.test(stat) && readFileSync(`/proc/${name}/environ`).includes(text);
    } catch {
      return false;
    }
  }).length;
}

beforeEach(() => {
  tag = randomUUID();
});
afterEach(() => expect(liveWith(tag)).toBe(0));
afterAll(() => rmSync(root, { recursive: true }));

interface Run extends ToolOutcome {
  readonly output: string;
  readonly progress: readonly string[];
}

interface RunOptions extends Partial<BashOptions> {
  readonly signal?: AbortSignal;
  readonly onProgress?: () => void;
}

async function bash(args: JsonObject, options: RunOptions = {}): Promise<Run> {
  const { signal = new AbortController().signal, onProgress, ...rest } = options;
  const tool = createBashTool({
    workspaceRoot: root,
    environment: { PATH: process.env.PATH, HOME: process.env.HOME, OXBOW_TEST_TAG: tag },
    outputDirectory,
    graceMs: 200,
    ...rest,
  });
  expect(schemaProblems(tool.inputSchema, args)).toEqual([]);
  const progress: string[] = [];
  const onText = (text: string) => {
    progress.push(text);
    onProgress?.();
  };
  const outcome = await tool.run(args, { signal, progress: onText });
  return { ...outcome, output: resultText(outcome.content), progress };
}

describe("[T6] results", () => {
  it("gives the output of a command in the workspace", async () => {
    const run = await bash({ command: 'pwd; echo "$PWD"; echo warning >&2' });
    expect(run.status).toBe("ok");
    expect(run.output).toBe(`${root}\n${root}\nwarning`);
    expect(run.details).toMatchObject({ exit_code: 0, signal: null, truncated: false, output_file: null });
  });

  it("says when there was no output", async () => {
    expect((await bash({ command: "true" })).output).toBe("(no output)");
  });

  it.each([
    ["false", "[exit code 1]", { exit_code: 1 }],
    ["no-such-command-here", "[exit code 127]", { exit_code: 127 }],
    ["sh -c 'kill -KILL $$'", "[exit code 137 (SIGKILL)]", { exit_code: 137 }],
    ["kill -TERM $$", "[killed by SIGTERM]", { exit_code: null, signal: "SIGTERM" }],
  ])("tells how %s ended", async (command, note, details) => {
    // bash would replace itself by a last command, and the signal would be its own.
    const run = await bash({ command: command.startsWith("sh") ? `${command}; exit $?` : command });
    expect(run.status).toBe("error");
    expect(run.output.split("\n").at(-1)).toBe(note);
    expect(run.details).toMatchObject(details);
  });

  it("takes a command that looks like an option", async () => {
    expect((await bash({ command: "-x; echo after" })).output).toMatch(/-x: command not found\nafter$/);
  });

  it("names the line of a syntax error as written", async () => {
    expect((await bash({ command: "echo a\nif" })).output).toMatch(/line [23]: syntax error/);
  });

  it.each([
    [{ command: "  " }, "There is no command"],
    [{ command: "echo \0" }, "NUL"],
    [{ command: `: ${"x".repeat(200_000)}` }, "too long"],
    [{ command: "true", run_in_background: true }, "cannot be run in the background"],
  ])("refuses what cannot be run", async (args, message) => {
    const run = await bash(args);
    expect(run.status).toBe("error");
    expect(run.output).toContain(message);
  });

  it("reports a deleted workspace", async () => {
    const run = await bash({ command: "true" }, { workspaceRoot: join(root, "gone") }).catch((error: Error) => error);
    expect(run).toMatchObject({ status: "error", output: expect.stringContaining("does not exist") });
  });
});

describe("[T6 T9] long and odd output", () => {
  verifies(["T6", "T9"], "keeps the beginning and the end, and the whole in a private file", async () => {
    const run = await bash({ command: "seq 1 100000" });
    expect(run.output.length).toBeLessThan(12_000);
    expect(run.output.startsWith("1\n2\n3\n")).toBe(true);
    expect(run.output.endsWith("\n99999\n100000")).toBe(true);
    const marker =
      /(\d+)\n\[… ([\d,]+) bytes left out here; the whole output is in (.+); to go on, read it with offset (\d+) …\]/.exec(
        run.output,
      );
    expect(Number(marker?.[4])).toBe(Number(marker?.[1]) + 1);
    const file = marker?.[3] ?? "";
    const left = Number(marker?.[2]?.replaceAll(",", ""));
    expect(left).toBeGreaterThan(550_000);
    expect(run.details).toMatchObject({ truncated: true, output_file: file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toBe(Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join(""));
  });

  it("writes the file also when the output only just does not fit", async () => {
    const run = await bash({ command: "seq 1 10000" });
    expect(run.details).toMatchObject({ truncated: true });
    expect(readFileSync(String(run.details?.output_file), "utf8").length).toBe(48_894);
  });

  it("survives an output larger than memory should hold", { timeout: 60_000 }, async () => {
    const before = process.memoryUsage.rss();
    let peak = before;
    const sampler = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 5);
    const run = await bash({ command: "yes | head -c 200M; echo; echo last" });
    clearInterval(sampler);
    expect(run.status).toBe("ok");
    expect(run.output.endsWith("\nlast")).toBe(true);
    expect(run.output).toContain("the first 67108864 bytes are in ");
    expect(statSync(String(run.details?.output_file)).size).toBe(64 * 1024 * 1024);
    expect(run.progress.join("").length).toBeLessThan(200_000);
    expect(peak - before).toBeLessThan(120 * 1024 * 1024);
  });

  it("shows bytes that are not text as replacement characters", async () => {
    const run = await bash({ command: "printf 'a\\xff\\x00\\x01b\\n'; head -c 20000 /dev/urandom" });
    expect(run.status).toBe("ok");
    expect(run.output).toContain("a\ufffd\ufffd\ufffdb");
    expect(run.output).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
  });

  it("collapses progress bars and drops colours", async () => {
    const run = await bash({ command: "printf '\\033[31m10%%\\r50%%\\r100%%\\033[0m\\r\\ndone\\r\\n'" });
    expect(run.output).toBe("100%\ndone");
  });

  it("reports when the output cannot be saved", async () => {
    const run = await bash({ command: "seq 1 20000" }, { outputDirectory: "/dev/null/nowhere" });
    expect(run.output).toMatch(/bytes left out here; it could not be saved \(/);
  });
});

describe("[T6] progress", () => {
  verifies(["T6"], "shows the first output at once, while the command runs", async () => {
    const flag = join(root, `seen-${tag}`);
    const tool = createBashTool({ workspaceRoot: root, environment: process.env, outputDirectory });
    const shown: string[] = [];
    const command = `echo first; until [ -e ${flag} ]; do sleep 0.01; done; echo second`;
    const outcome = await tool.run(
      { command },
      {
        signal: new AbortController().signal,
        // Without live progress the command would wait for the flag until its timeout.
        progress(text) {
          shown.push(text);
          if (!existsSync(flag)) void import("node:fs").then(({ writeFileSync }) => writeFileSync(flag, ""));
        },
      },
    );
    expect(shown[0]).toBe("first\n");
    expect(resultText(outcome.content)).toBe("first\nsecond");
  });
});

describe("[T6 L9] ends", () => {
  verifies(["T6"], "times out with what there was", async () => {
    const { clock, fire } = holdTimers(60_000);
    const run = await bash({ command: "echo partial; sleep 1000", timeout: 60 }, { clock, onProgress: fire });
    expect(run.status).toBe("timeout");
    expect(run.output).toMatch(/^partial\n\[timed out after \d+ms and was killed/);
  });

  it("says that git may have waited for a named pipe", async () => {
    const command = "mkdir -p pipes && mkfifo pipes/.gitignore && echo up && sleep 1000 # git status";
    const { clock, fire } = holdTimers(60_000);
    const run = await bash({ command, timeout: 60 }, { clock, onProgress: fire });
    expect(run.output).toMatch(/\n\[pipes\/\.gitignore is a named pipe\. /);
    rmSync(join(root, "pipes"), { recursive: true });
  });

  verifies(["T6"], "waits a day at most, whatever timeout is asked for", async () => {
    const lengths: number[] = [];
    const clock: Clock = {
      ...systemClock,
      after(ms, action) {
        lengths.push(ms);
        return systemClock.after(ms, action);
      },
    };
    await bash({ command: "true", timeout: 86_401 }, { clock });
    await bash({ command: "true", timeout: 86_399 }, { clock });
    await bash({ command: "true", timeout: 0.5 }, { clock });
    expect(lengths.filter((ms) => ms >= 400)).toEqual([86_400_000, 86_399_000, 500]);
  });

  verifies(["T6"], "has a default timeout", async () => {
    const run = await bash({ command: "sleep 1000" }, { defaultTimeoutMs: 50 });
    expect(run.status).toBe("timeout");
    expect(createBashTool({ workspaceRoot: root, environment: {}, outputDirectory }).inputSchema).toMatchObject({
      properties: { timeout: { description: "seconds, default 300" } },
    });
  });

  verifies(["T6"], "is cancelled with what there was", async (context) => {
    skipWithout(context, "setsid");
    const controller = new AbortController();
    const tool = createBashTool({ workspaceRoot: root, environment: { OXBOW_TEST_TAG: tag }, outputDirectory });
    const outcome = await tool.run(
      { command: "echo partial; setsid sleep 1000 & sleep 1000" },
      { signal: controller.signal, progress: () => controller.abort() },
    );
    expect(outcome.status).toBe("cancelled");
    expect(resultText(outcome.content)).toMatch(/^partial\n\[cancelled after .*; it may have changed files\]$/);
  });

  it("does not start when cancelled before", async () => {
    const run = await bash({ command: "touch never" }, { signal: AbortSignal.abort() });
    expect(run.status).toBe("cancelled");
    expect(existsSync(join(root, "never"))).toBe(false);
  });

  it("tells the model that background children were killed", async () => {
    const run = await bash({ command: "sleep 1000 & sleep 1000 & echo started" });
    expect(run.status).toBe("ok");
    expect(run.output).toBe(
      "started\n[2 processes were still running and ended with the command; use run_in_background to keep one]",
    );
    expect(run.details).toMatchObject({ killed_processes: 2 });
  });

  it("leaves no orphan after many cancels at random moments", { timeout: 120_000 }, async () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const statuses = new Map<string, number>();
    const worker = async () => {
      for (let round = 0; round < times(2, 25); round++) {
        const controller = new AbortController();
        setTimeout(() => controller.abort(), random() * 40);
        const command = "(setsid sleep 1000 &); sleep 1000 & nohup sleep 1000 >/dev/null 2>&1 & seq 1 5; wait";
        const { status } = await bash({ command }, { signal: controller.signal });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    expect(statuses).toEqual(new Map([["cancelled", times(2, 25) * 8]]));
    expect(liveWith(tag)).toBe(0);
  });
});

describe("[T7] surroundings", () => {
  verifies(["T6"], "hides keys and answers no prompts", async () => {
    const secret = ["ANTHROPIC", "API", "KEY"].join("_");
    const run = await bash(
      { command: "env; git --version | cat; read x; echo read=$?" },
      {
        environment: { PATH: process.env.PATH, [secret]: "a-value-to-hide", NODE_OPTIONS: "--x", OXBOW_TEST_TAG: tag },
      },
    );
    expect(run.output).not.toContain("a-value-to-hide");
    expect(run.output).not.toContain("NODE_OPTIONS");
    expect(run.output).toContain("GIT_TERMINAL_PROMPT=0");
    expect(run.output).toContain("PAGER=cat");
    expect(run.output.endsWith("read=1")).toBe(true);
  });

  it("lets a sandbox put itself around the command", async () => {
    const run = await bash(
      { command: 'echo "$EXTRA in $0"' },
      {
        wrapCommand: async ({ argv, cwd, env }) => ({
          argv: ["/usr/bin/env", "EXTRA=wrapped", ...argv],
          cwd,
          env: { ...env, INNER: "1" },
        }),
      },
    );
    expect(run.output).toMatch(/^wrapped in /);
  });

  it("reports a sandbox that fails", async () => {
    const run = await bash(
      { command: "true" },
      {
        wrapCommand: () => Promise.reject(new Error("no sandbox today")),
      },
    );
    expect(run).toMatchObject({ status: "error", output: "no sandbox today" });
  });

  unless(noTerminal).it("runs on a terminal when asked", async () => {
    const run = await bash({ command: "[ -t 1 ] && echo terminal; stty size; read -p 'name? ' x; echo $?", pty: true });
    expect(run.output).toBe("terminal\n40 120\nname? 1");
  });

  unless(noTerminal ?? whyNot("setsid")).it("ends what a terminal command left", async () => {
    const run = await bash({ command: "trap '' HUP; setsid sleep 1000 & sleep 1000", pty: true, timeout: 0.2 });
    expect(run.status).toBe("timeout");
  });
});

it("describes itself in few bytes", () => {
  const background = new BackgroundCommands();
  const tool = createBashTool({ workspaceRoot: root, environment: {}, outputDirectory, background });
  const { name, description, inputSchema } = tool;
  expect(inputSchema).toHaveProperty("properties.run_in_background");
  expect(JSON.stringify({ name, description, inputSchema }).length).toBeLessThan(860);
});
