/**
 * Oxbow's own log: one JSON object a line, one file a day, apart from the log of sessions.
 *
 * 1. A line is written whole with one append, so that several processes can share the file.
 * 2. The first message creates the folder and the file.
 * 3. Logging never fails a run: messages that cannot be written are dropped.
 */
import { appendFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../protocol/json.js";

const LOG_LEVELS = ["error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The subsystems that write to the log. `provider` and `transport` also have parts: `provider.ollama`, `transport.http`. */
export const LOG_COMPONENTS = [
  ...(["engine", "provider", "tools", "sessions", "undo", "control", "transport", "auth"] as const),
  ...(["mcp", "skills", "hooks", "plugins", "lifecycle", "subagents"] as const),
];
type KnownComponent = (typeof LOG_COMPONENTS)[number];
export type LogComponent = KnownComponent | `${"provider" | "transport" | "plugins"}.${string}`;

/** Sets how many days of logs to keep; a new day's file deletes older ones. */
const KEEP_DAYS = 30;

export interface LogOptions {
  readonly directory: string;
  readonly wall: () => number;
  /** `info`, or `info,engine=debug,provider.ollama=trace`. */
  readonly levels: LogLevels;
  readonly toStderr?: (line: string) => void;
}

export interface LogLevels {
  readonly standard: LogLevel;
  readonly byComponent: ReadonlyMap<string, LogLevel>;
}

export type LogFunction = (level: LogLevel, component: LogComponent, message: string, fields?: JsonObject) => void;

/** Reads a list of levels, or returns what is wrong with it. */
export function parseLogLevels(text: string): LogLevels | { readonly problem: string } {
  let standard: LogLevel = "info";
  const byComponent = new Map<string, LogLevel>();
  for (const part of text.split(",").filter((piece) => piece.trim() !== "")) {
    const [left = "", right] = part.split("=").map((piece) => piece.trim());
    const level = right ?? left;
    if (!isLevel(level)) {
      return { problem: `expected a level (${LOG_LEVELS.join(", ")}) or COMPONENT=LEVEL, got "${text}".` };
    }
    if (right !== undefined && !isComponent(left)) {
      return { problem: `there is no component "${left}" in the log; there are ${LOG_COMPONENTS.join(", ")}.` };
    }
    if (right === undefined) standard = level;
    else byComponent.set(left, level);
  }
  return { standard, byComponent };
}

function isComponent(text: string): boolean {
  const [first = "", ...rest] = text.split(".");
  const hasParts = first === "provider" || first === "transport" || first === "plugins";
  return (LOG_COMPONENTS as readonly string[]).includes(first) && (hasParts || rest.length === 0);
}

function isLevel(text: string): text is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(text);
}

export function createLog({ directory, wall, levels, toStderr }: LogOptions): LogFunction {
  let prepared = "";
  return (level, component, message, fields) => {
    if (LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf(levelFor(levels, component))) return;
    const ts = new Date(wall()).toISOString();
    const line = `${JSON.stringify({ ts, level, component, msg: message, ...fields })}\n`;
    toStderr?.(line);
    const file = join(directory, `oxbow-${ts.slice(0, 10).replaceAll("-", "")}.log`);
    try {
      if (prepared !== file) {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        dropOld(directory, wall());
        prepared = file;
      }
      appendFileSync(file, line, { mode: 0o600 });
    } catch {
      // Invariant 3.
    }
  };
}

/** A component's own level, or its parent's (`provider` for `provider.ollama`), or the standard one. */
function levelFor({ standard, byComponent }: LogLevels, component: string): LogLevel {
  for (let name = component; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
    const level = byComponent.get(name);
    if (level !== undefined) return level;
  }
  return standard;
}

function dropOld(directory: string, now: number): void {
  const oldest = new Date(now - KEEP_DAYS * 86_400_000).toISOString().slice(0, 10).replaceAll("-", "");
  for (const name of readdirSync(directory)) {
    const day = /^oxbow-(\d{8})\.log$/.exec(name)?.[1];
    if (day !== undefined && day < oldest) rmSync(join(directory, name), { force: true });
  }
}
