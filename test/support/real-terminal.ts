/** A real terminal: tmux runs a shell, keys are typed, the screen is read. */
import { execFileSync } from "node:child_process";
import { onTestFinished } from "vitest";
import { findProgram } from "../../src/system/find-program.js";

export const tmux = findProgram("tmux", process.env.PATH, { outside: process.cwd() });

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
  readonly #name = `oxbow-test-${process.pid}-${Math.random().toString(36).slice(2)}`;

  constructor(command: string, { columns = 80, rows = 24, variables = {} }: RealTerminalOptions = {}) {
    const settings = Object.entries(variables).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
    onTestFinished(() => this.close());
    this.run("new-session", "-d", "-s", "one", "-x", String(columns), "-y", String(rows), ...settings, command);
  }

  run(...args: readonly string[]): string {
    const words = ["-f", "/dev/null", "-L", this.#name, ...args];
    return execFileSync(tmux ?? "tmux", words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
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

  /** What tmux knows, as `#{cursor_flag}`. */
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

  close(): void {
    try {
      this.run("kill-server");
    } catch {
      // Ended by itself.
    }
  }
}
