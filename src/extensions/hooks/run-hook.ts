/**
 * Runs the command of one hook.
 *
 * 1. It never rejects and never hangs: at the deadline the whole process tree gets SIGTERM, and SIGKILL some seconds later.
 * 2. No process that it started outlives it.
 * 3. At most 64 KB of each output are kept, however much it prints.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { findShell } from "../../system/find-program.js";
import type { ProcessEnd } from "../../system/process-group.js";
import type { Launch, ProcessRequest } from "../../system/process-launch.js";
import { trustedPath } from "../../system/trusted-path.js";
import type { ConfiguredHook } from "./configuration.js";
import type { CommandHandler } from "./hook-handler.js";

/** A program to start, maybe in a sandbox. */
export interface HookProcess
  extends Pick<ProcessRequest, "argv" | "cwd" | "env" | "withheld" | "isWrapper" | "endsWithAll"> {
  readonly launch?: Launch;
  started?(granted: readonly string[]): void;
  /** Applies what the hook wrote, where that is held back. */
  settle?(end: Pick<ProcessEnd, "reason">, call: object): Promise<unknown>;
  ended?(): Promise<void>;
}

export interface HookPlace {
  /** The folder that the session works in. */
  readonly root: string;
  readonly home: string;
  /** The environment without keys. */
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Wraps a hook of the project in the sandbox; throws if a sandbox is required and missing. */
  wrap?(plain: Pick<HookProcess, "argv" | "cwd" | "env">): Promise<HookProcess>;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
}

export interface HookOutput {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Holds what it wrote to `CLAUDE_ENV_FILE`. */
  readonly environment?: string;
}

export type HookEnd =
  | { readonly kind: "ended"; readonly output: HookOutput }
  /** A model has said something. */
  | { readonly kind: "judged"; readonly text: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "cancelled" }
  /** It could not be started. */
  | { readonly kind: "failed"; readonly message: string };

const MOST_BYTES = 64 * 1024;
const GRACE_MS = 5000;
/** The event waits for processes that a hook leaves behind, so they get less time than the hook itself. */
const LEFTOVER_GRACE_MS = 500;
/** The exit code of shells for a program that does not exist. */
const NOT_STARTED = 127;

/**
 * Runs the command with a file for variables. The sandbox has its own temporary folder, so the file comes back behind the output of the
 * hook, after a mark (`$0`).
 */
const WITH_FILE = `CLAUDE_ENV_FILE=$(mktemp 2>/dev/null) && export CLAUDE_ENV_FILE
"$@"
code=$?
if [ -s "$CLAUDE_ENV_FILE" ]; then printf '\\n%s\\n' "$0"; head -c ${MOST_BYTES} "$CLAUDE_ENV_FILE"; fi
rm -f "$CLAUDE_ENV_FILE"
exit "$code"`;

export interface HookStart {
  readonly hook: Pick<ConfiguredHook, "timeoutMs"> & { readonly handler: CommandHandler };
  /** The content of its stdin. */
  readonly input: string;
  /** In addition to the default environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Runs in the sandbox, if there is one. */
  readonly isContained: boolean;
  /** It gets a file for variables, `CLAUDE_ENV_FILE`. */
  readonly hasEnvironmentFile?: boolean;
  readonly signal?: AbortSignal;
}

export async function runHook(
  { hook, input, variables, isContained, hasEnvironmentFile = false, signal }: HookStart,
  place: HookPlace,
): Promise<HookEnd> {
  let prepared: HookProcess | undefined;
  try {
    const { root: cwd, environment } = place;
    // Outside the sandbox, a program that the hook names must not come from the project.
    const PATH = trustedPath(environment.PATH ?? "", { command: hook.handler.command, workspace: cwd });
    const env = { ...environment, ...(!isContained && { PATH }), ...variables };
    const direct = argvOf(hook.handler, variables, place);
    const mark = hasEnvironmentFile ? randomUUID() : undefined;
    const plain = { argv: mark === undefined ? direct : [shellOf(place), "-c", WITH_FILE, mark, ...direct], cwd, env };
    prepared = isContained ? ((await place.wrap?.(plain)) ?? plain) : plain;
    const { runProcess } = await import("../../system/process-group.js");
    const { argv, withheld, isWrapper, endsWithAll, launch } = prepared;
    const [stdout, stderr] = [new CappedOutput(), new CappedOutput()];
    prepared.started?.([]);
    const end = await runProcess(
      {
        ...{ argv, cwd: prepared.cwd, env: prepared.env, input, withheld },
        onOutput: (chunk) => stdout.add(chunk),
        onErrorOutput: (chunk) => stderr.add(chunk),
        timeoutMs: hook.timeoutMs,
        graceMs: place.graceMs ?? GRACE_MS,
        leftoverGraceMs: Math.min(place.graceMs ?? GRACE_MS, LEFTOVER_GRACE_MS),
        clock: place.clock,
        leavesNothing: true,
        ...{ isWrapper, endsWithAll },
        ...(signal !== undefined && { signal }),
      },
      launch,
    );
    await prepared.settle?.(end, {});
    if (end.reason === "timeout" || end.reason === "cancelled") return { kind: end.reason };
    const exitCode = end.exitCode ?? 128;
    return { kind: "ended", output: { exitCode, ...splitAt(mark, stdout.text()), stderr: stderr.text() } };
  } catch (error) {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  } finally {
    await prepared?.ended?.().catch(() => {});
  }
}

function splitAt(mark: string | undefined, text: string): Pick<HookOutput, "stdout" | "environment"> {
  const between = `\n${mark}\n`;
  const at = mark === undefined ? -1 : text.lastIndexOf(between);
  return at < 0 ? { stdout: text } : { stdout: text.slice(0, at), environment: text.slice(at + between.length) };
}

export function exitCodeOf(end: HookEnd): number {
  return end.kind === "ended" ? end.output.exitCode : NOT_STARTED;
}

function argvOf({ command, args }: CommandHandler, variables: HookStart["variables"], place: HookPlace) {
  if (args === undefined) return [shellOf(place), "-c", command];
  const filled = (text: string) => text.replace(/\$\{(\w+)\}/g, (whole, name: string) => variables[name] ?? whole);
  return [filled(command), ...args.map(filled)];
}

function shellOf({ environment, root }: HookPlace): string {
  return findShell(environment.PATH, { outside: root });
}

/** Hooks of a project, and the user's own ones that run a file of the project. Their allow does not count either. */
export function needsSandbox(hook: ConfiguredHook, place: Pick<HookPlace, "root" | "home">): boolean {
  if (hook.handler.type !== "command") return hook.scope === "project";
  return hook.scope === "project" || hook.sandbox || namesProject(hook.handler, place);
}

const PROJECT_VARIABLE = /\$\{?(?:CLAUDE_PROJECT_DIR|OXBOW_PROJECT_DIR|PWD|OLDPWD)\b|\$\(\s*pwd\b|`\s*pwd\b|rev-parse/;

function namesProject({ command, args = [] }: CommandHandler, place: Pick<HookPlace, "root" | "home">): boolean {
  const text = [command, ...args].join(" ");
  if (PROJECT_VARIABLE.test(text)) return true;
  const written = text.replaceAll(/~(?=\/)|\$\{?HOME\}?/g, () => place.home);
  return written.includes(place.root) || text.split(/[\s"'=;|&<>()]+/).some((word) => isProjectFile(word, place.root));
}

/** `./x`, `scripts/x.sh`, `check.py`. A plain program name is found on PATH, not in the project. */
function isProjectFile(word: string, root: string): boolean {
  if (/^\.{1,2}\//.test(word)) return true;
  return /^[\w.@-]+(?:\/[\w.@-]+|\.\w+)+$/.test(word) && existsSync(join(root, word));
}

class CappedOutput {
  readonly #kept: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  add(chunk: Buffer): void {
    const room = MOST_BYTES - this.#bytes;
    if (room <= 0 || chunk.length > room) this.#isCut = true;
    if (room <= 0) return;
    const part = chunk.subarray(0, room);
    this.#kept.push(Buffer.from(part));
    this.#bytes += part.length;
  }

  text(): string {
    const text = Buffer.concat(this.#kept).toString("utf8");
    return this.#isCut ? `${text}\n[cut off after 64 KB]` : text;
  }
}
