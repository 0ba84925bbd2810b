import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeAll, describe, expect } from "vitest";
import { skipWithout } from "../support/needs.js";
import { temporaryFolder } from "../support/program.js";
import { RealTerminal } from "../support/real-terminal.js";
import { until } from "../support/waiting.js";
import { verifies } from "../verifies.js";

/** Not a literal: the package need not be installed. */
const PACKAGE: string = "@lydell/node-pty";
const DRIVER = fileURLToPath(new URL("../support/terminal-driver.ts", import.meta.url));
let driver = "";

beforeAll(async () => {
  const built = await build({
    entryPoints: [DRIVER],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
  driver = built.outputFiles[0]?.text ?? "";
});

/** The driver, run by a shell as a person runs it. */
async function start(): Promise<{ terminal: RealTerminal; pid: () => number }> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "driver.mjs"), driver);
  const terminal = new RealTerminal(`cd ${folder} && PS1='$ ' exec bash --norc`, { columns: 60, rows: 16 });
  await terminal.until(/^\$/m);
  terminal.type(`seq 1 20; ${process.execPath} driver.mjs ${join(folder, "pid")}; echo EXIT $?`, "Enter");
  await terminal.until(/status/);
  await terminal.until("<light");
  return { terminal, pid: () => Number(readFileSync(join(folder, "pid"), "utf8")) };
}

/** The modes of the terminal that a shell needs, and those that a program must not leave behind. */
async function expectRestored(terminal: RealTerminal): Promise<void> {
  terminal.type("clear; stty -a | grep -oE -- '-?(isig|icanon|echo|icrnl|iexten) ' | xargs echo MODES", "Enter");
  const screen = await terminal.until(/^MODES .*$/m);
  const modes = /^MODES (.*)$/m.exec(screen)?.[1]?.trim().split(" ") ?? [];
  expect(modes.sort()).toEqual(["echo", "icanon", "icrnl", "iexten", "isig"]);
  expect(terminal.tell("#{cursor_flag} #{wrap_flag} #{alternate_on}")).toBe("1 1 0");
  expect(terminal.tell("#{pane_title}")).not.toContain("driver");
}

async function expectEnd(pid: number): Promise<void> {
  await until(() => !isAlive(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function watcherOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
}

describe("the terminal of the client in tmux", () => {
  verifies(["U1"], "knows the keys and takes a megabyte as one paste, with brackets and without", async (context) => {
    skipWithout(context, "tmux");
    const { terminal } = await start();
    terminal.run("set", "-s", "extended-keys", "on");
    for (const key of ["M-Enter", "C-j", "BTab"]) {
      terminal.type(key);
      await terminal.until(`<${{ "M-Enter": "alt+enter", "C-j": "ctrl+j", BTab: "shift+tab" }[key]}>`);
    }
    const file = join(await temporaryFolder(), "big");
    await writeFile(file, "a line of a big paste\n".repeat(50_000));
    terminal.run("load-buffer", file);
    terminal.run("paste-buffer", "-p");
    await terminal.until("<paste 1100000 50001> <shift+tab>");
    terminal.run("paste-buffer");
    await terminal.until("<paste 1100000 50001> <paste 1100000 50001>");
    expect(terminal.lines().filter((line) => line.startsWith("printed"))).toEqual([]);
  });

  verifies(["U1"], "repaints only the live part at each size, and keeps the text above", async (context) => {
    skipWithout(context, "tmux");
    const { terminal } = await start();
    let count = 0;
    for (const columns of [30, 45, 25, 80, 21]) {
      terminal.resize(columns, 16);
      await terminal.until(`<resize ${columns}x16>`);
      terminal.type("Enter");
      await terminal.until(`> ${1 + ++count * 2}`);
    }
    const numbers = Array.from({ length: 20 }, (_, index) => String(index + 1));
    const printed = Array.from({ length: 5 }, (_, index) => `printed ${3 + index * 2}`);
    const live = ["-".repeat(21), "last <enter> <resize", "> 11", "status"];
    expect(terminal.lines().slice(1)).toEqual([...numbers, "hello", ...printed, ...live]);
  });

  verifies(
    ["U1"],
    "suspends with Ctrl-Z, returns with fg, and lends the terminal to another program",
    async (context) => {
      skipWithout(context, "tmux");
      const { terminal } = await start();
      terminal.type("z");
      await terminal.until(/Stopped[\s\S]*EXIT/);
      await expectRestored(terminal);
      terminal.type("fg", "Enter");
      await terminal.until(/<resumed> <z>.*\n> \d+\nstatus/);
      terminal.type("e");
      await terminal.until(/^icanon$/m);
      terminal.type("words", "Enter");
      await terminal.until(/got words\n-+\nlast/);
      terminal.type("f");
      await terminal.until(/^full screen$/m);
      expect(terminal.tell("#{alternate_on}")).toBe("1");
      terminal.type("f");
      await terminal.until(/got words\n-+\nlast/);
      terminal.type("q");
      await terminal.until(/got words\nbye\n\$/);
      await expectRestored(terminal);
    },
  );

  verifies(["U1"], "is restored after SIGTERM, an exception, and SIGKILL in the full screen", async (context) => {
    skipWithout(context, "tmux", "linux");
    const { terminal, pid } = await start();
    const again = async () => {
      terminal.type(`${process.execPath} driver.mjs pid; echo EXIT $?`, "Enter");
      await terminal.until(/status[\s\S]*/);
      await terminal.until("<light");
    };
    const first = watcherOf(pid());
    process.kill(pid(), "SIGTERM");
    await terminal.until("EXIT 143");
    await expectRestored(terminal);
    await expectEnd(first);
    await again();
    terminal.type("x");
    await terminal.until(/status\n[\s\S]*thrown on purpose[\s\S]*EXIT 1/);
    await expectRestored(terminal);
    await again();
    terminal.type("f");
    await terminal.until(/^full screen$/m);
    const last = watcherOf(pid());
    process.kill(pid(), "SIGKILL");
    // What the shell writes before the watcher has left the full screen goes with that screen.
    await expectEnd(last);
    await expectRestored(terminal);
  });

  verifies(["U1"], "ends with its terminal, and so does the watcher", async (context) => {
    skipWithout(context, "tmux", "linux");
    const { terminal, pid } = await start();
    const client = pid();
    const watcher = watcherOf(client);
    await terminal.close();
    await expectEnd(client);
    await expectEnd(watcher);
  });

  verifies(["U1"], "neither blocks the process nor its end when the terminal takes nothing", async (context) => {
    const terminals = await import(PACKAGE).catch(() => undefined);
    context.skip(terminals === undefined, `needs ${PACKAGE}: npm ci`);
    const folder = await temporaryFolder();
    await writeFile(join(folder, "driver.mjs"), driver);
    const terminal = terminals.spawn(process.execPath, ["driver.mjs", "pid"], {
      ...{ name: "xterm", cols: 80, rows: 24, cwd: folder },
      env: { PATH: process.env.PATH, TERM: "xterm" },
    });
    const end = new Promise<number>((resolve) =>
      terminal.onExit((exit: { exitCode: number }) => resolve(exit.exitCode)),
    );
    const seen = new Promise<void>((resolve) => {
      let all = "";
      terminal.onData((data: string) => {
        all += data;
        if (all.includes("status")) resolve();
      });
    });
    await seen;
    terminal.write("s");
    terminal.pause();
    const count = () => readFile(join(folder, "pid.count"), "utf8").then(Number, () => 0);
    // By then it has printed many times what a terminal holds.
    await until(async () => (await count()) > 500);
    process.kill(terminal.pid, "SIGTERM");
    expect(await end).toBe(143);
  });
});
