/** A real terminal: tmux runs a shell, keys are typed, the screen is read. */

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { undoAtEnd } from "./undo-at-end.js";
import { until } from "./waiting.js";

const TMUX = "tmux";

export interface RealTerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly variables?: Readonly<Record<string, string>>;
}

/** It only ends a hang: a busy machine may take long. */
const WAIT_MS = 40_000;
const PAUSE_MS = 50;

export class RealTerminal {
  /** Each terminal has its own server, so that tests do not share options. */
  readonly #server = ["-f", "/dev/null", "-L", `oxbow-test-${process.pid}-${Math.random().toString(36).slice(2)}`];
  readonly #endServer: () => Promise<void>;
  readonly #home: string | undefined;

  constructor(command: string, { columns = 80, rows = 24, variables = {} }: RealTerminalOptions = {}) {
    const settings = Object.entries(variables).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
    onTestFinished(() => this.close());
    this.#home = variables.OXBOW_HOME;
    this.#endServer = undoAtEnd(TMUX, ...this.#server, "kill-server");
    this.run("new-session", "-d", "-s", "one", "-x", String(columns), "-y", String(rows), ...settings, command);
  }

  run(...args: readonly string[]): string {
    return this.#runWith("", ...args);
  }

  #runWith(input: string, ...args: readonly string[]): string {
    return execFileSync(TMUX, [...this.#server, ...args], { encoding: "utf8", input, stdio: ["pipe", "pipe", "pipe"] });
  }

  /** Names of tmux (`Enter`, `C-c`), or text. Each call is one write. */
  type(...keys: readonly string[]): void {
    this.run("send-keys", ...keys);
  }

  resize(columns: number, rows: number): void {
    this.run("resize-window", "-x", String(columns), "-y", String(rows));
  }

  screen(): string {
    return this.run("capture-pane", "-p");
  }

  /** Scrollback and screen. A line that the terminal itself wrapped is one line. */
  lines(): string[] {
    const lines = this.run("capture-pane", "-p", "-J", "-S", "-").split("\n");
    return lines.map((line) => line.trimEnd()).slice(0, lines.findLastIndex((line) => line.trim() !== "") + 1);
  }

  /** Tells what tmux knows, as `#{cursor_flag}`. */
  tell(format: string): string {
    return this.run("display-message", "-p", format).trim();
  }

  async until(wanted: string | RegExp): Promise<string> {
    for (const end = performance.now() + WAIT_MS; performance.now() < end; ) {
      const text = this.screen();
      if (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text)) return text;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    throw new Error(`the screen never showed ${wanted}:\n${this.screen()}`);
  }

  /** As a terminal pastes: marked where the program asks for that (`-p`), lines ended as Enter does. */
  paste(text: string): void {
    this.#runWith(text, "load-buffer", "-");
    this.run("paste-buffer", "-p");
  }

  /** Also waits for the programs in it: what they write at their end would bring a removed folder back. */
  async close(): Promise<void> {
    let leaders: readonly string[] = [];
    try {
      leaders = this.run("list-panes", "-a", "-F", "#{pane_pid}").trim().split("\n");
    } catch {
      // Ended by itself.
    }
    await this.#endServer();
    if (this.#home !== undefined) await endEngine(this.#home);
    if (process.platform === "linux") await until(() => !hasProcessesOf(leaders));
  }
}

/** A conversation starts an engine in a process of its own, which outlives it. */
async function endEngine(home: string): Promise<void> {
  const lock = join(home, "state", "control.lock");
  let pid: number;
  try {
    pid = Number(readlinkSync(lock).split("_")[2]);
    process.kill(pid, "SIGTERM");
  } catch {
    return;
  }
  await until(() => !existsSync(`/proc/${pid}`));
}

/** Tells whether processes of these sessions live. */
function hasProcessesOf(leaders: readonly string[]): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const [state = "", , , session = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return !/[ZX]/.test(state) && leaders.includes(session);
    } catch {
      return false;
    }
  });
}
