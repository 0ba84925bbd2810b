/**
 * The `git` tool. It shows history without asking, so it must be harmless in any repository. It runs git itself, never a shell, with
 * arguments from a list (`git/arguments.ts`) in a repository that was checked (`git/repository.ts`). If a sandbox works, git runs
 * in one that can read only the workspace and the repository.
 */
import { dirname } from "node:path";
import type { Clock } from "../base/clock.js";
import { groupDigits } from "../base/group-digits.js";
import type { Tool, ToolContext, ToolOutcome } from "../engine/ports.js";
import { text } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { findProgram } from "../system/find-program.js";
import { nodeClock } from "../system/node-clock.js";
import type { ProcessEnd } from "../system/process-group.js";
import { realpathOrSelf } from "../system/real-path.js";
import { copyIndex } from "../system/repository-places.js";
import { PipeWatch } from "../system/waiting-pipe.js";
import { CATALOG } from "./catalog.js";
import { childEnvironment } from "./child-environment.js";
import { GIT_ACTIONS, type GitAction, gitArguments } from "./git/arguments.js";
import {
  ACTION_ENVIRONMENT,
  BASE_SETTINGS,
  GIT_ENVIRONMENT,
  type RepositoryOwner,
  vetRepository,
} from "./git/repository.js";
import { namesSecrets, withoutSecrets } from "./git/withheld.js";
import { wholeCharactersEnd } from "./shell/command-text.js";
import type { ShellCommand, WrappedCommand } from "./shell/wrapped-command.js";

const MAX_OUTPUT_BYTES = 30_000;
const MAX_LISTING_BYTES = 4 * 1024 * 1024;
const MAX_ERROR_BYTES = 4000;
const TIMEOUT_MS = 60_000;
/** Git may wait for a named pipe then. */
const PIPE_MS = 1000;

/** Puts a sandbox around a program that only reads these folders; without a sandbox on this machine, returns the program unchanged. */
export type WrapReader = (command: ShellCommand, readable: readonly string[]) => Promise<WrappedCommand>;

export interface GitOptions {
  readonly workspaceRoot: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly wrapReader?: WrapReader;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

export function createGitTool(options: GitOptions): Tool {
  return {
    ...CATALOG.git,
    async run(args, context) {
      try {
        return await run(options, args, context);
      } catch (error) {
        if (context.signal.aborted) return { status: "cancelled", content: [text("Cancelled.")] };
        return { status: "error", content: [text((error as Error).message)] };
      }
    },
  };
}

async function run(options: GitOptions, args: JsonObject, context: ToolContext): Promise<ToolOutcome> {
  const action = GIT_ACTIONS.find((known) => known === args.action);
  if (action === undefined) throw new Error(`The action must be one of ${GIT_ACTIONS.join(", ")}.`);
  const words = wordsOf(args.args);
  const git = new Git(options, context.signal);
  const repository = await vetRepository(git.root, git.owner, (query) => git.query(query));
  if (action === "show") await refuseBareBlobs(words, (query) => git.query(query));
  const command = gitArguments(action, words, { root: git.root, top: repository.top });
  // `git diff` writes file times it found changed back to the index, locking it against the user's own git.
  const index = action === "diff" ? copyIndex(repository.gitDirectory) : undefined;
  try {
    const env = {
      ...ACTION_ENVIRONMENT,
      // The repository that was checked, not another one that git may find by now.
      ...{ GIT_DIR: repository.gitDirectory, GIT_WORK_TREE: repository.top },
      ...(index !== undefined && { GIT_INDEX_FILE: index.path }),
    };
    const readable = [git.root, ...repository.readable, ...(index === undefined ? [] : [dirname(index.path)])];
    const result = await git.run([...repository.settings, ...command], { limit: MAX_OUTPUT_BYTES, env, readable });
    const hides = !namesSecrets(words);
    const shown = hides ? withoutSecrets(result.output.toString("latin1"), words) : undefined;
    return report(action, shown === undefined ? result : { ...result, output: Buffer.from(shown, "latin1") });
  } finally {
    index?.remove();
  }
}

/** A bare hash could name any file, even one that holds secrets. */
async function refuseBareBlobs(
  words: readonly string[],
  query: (args: readonly string[]) => Promise<string>,
): Promise<void> {
  for (const word of words.filter((each) => /^[0-9a-f]{4,64}$/i.test(each))) {
    const type = await query(["cat-file", "-t", word]).catch(() => "");
    if (type.trim() === "blob") throw new Error(`${word} names a file only by its hash. Use REVISION:PATH instead.`);
  }
}

function wordsOf(value: JsonObject[string]): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((word): word is string => typeof word === "string")) return value;
  throw new Error('args must be a list of strings, such as ["--stat", "HEAD~3", "--", "src"].');
}

type Variables = Readonly<Record<string, string>>;

interface GitResult {
  readonly end: ProcessEnd;
  readonly output: Buffer;
  readonly errors: string;
  /** A named pipe that git waited for, so it was stopped. */
  readonly pipe?: string | undefined;
  /** The output was too long, so git was stopped. */
  readonly cut: boolean;
}

class Git {
  readonly root: string;
  readonly #program: string;
  readonly #env: Variables;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #wrapReader: WrapReader | undefined;

  constructor(options: GitOptions, signal: AbortSignal) {
    this.root = realpathOrSelf(options.workspaceRoot);
    this.#env = { ...childEnvironment(options.environment), ...GIT_ENVIRONMENT };
    const program = findProgram("git", this.#env.PATH, { outside: this.root });
    if (program === undefined) throw new Error("git is not installed on this machine.");
    this.#program = program;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#clock = options.clock ?? nodeClock;
    this.#signal = signal;
    this.#wrapReader = options.wrapReader;
  }

  get owner(): RepositoryOwner {
    return { home: this.#env.HOME, configHome: this.#env.XDG_CONFIG_HOME };
  }

  async query(args: readonly string[]): Promise<string> {
    const { end, output, errors, pipe, cut } = await this.run([...BASE_SETTINGS, ...args], {
      limit: MAX_LISTING_BYTES,
      env: {},
    });
    if (pipe !== undefined) throw new Error(waitsFor(pipe));
    if (end.reason !== "exit") throw new Error(`git did not answer (${end.reason}).`);
    if (cut) throw new Error("The repository's configuration is too large to check.");
    if (end.exitCode !== 0) throw new Error(queryError(errors));
    return output.toString("utf8");
  }

  async run(
    args: readonly string[],
    {
      limit,
      env,
      readable,
    }: { readonly limit: number; readonly env: Variables; readonly readable?: readonly string[] },
  ): Promise<GitResult> {
    const enough = new AbortController();
    const chunks: Buffer[] = [];
    let bytes = 0;
    let errors = "";
    let pipe: string | undefined;
    const { runProcess } = await import("../system/process-group.js");
    const command = { argv: [this.#program, "--no-pager", ...args], cwd: this.root, env: { ...this.#env, ...env } };
    const { ended, argv, cwd, ...wrapped }: WrappedCommand =
      readable === undefined ? command : ((await this.#wrapReader?.(command, readable)) ?? command);
    const pipes = new PipeWatch({
      root: this.root,
      silentMs: Math.min(PIPE_MS, this.#timeoutMs / 2),
      onFound: (path) => {
        pipe = path;
        enough.abort();
      },
    });
    try {
      const end = await runProcess({
        ...{ argv, cwd, env: wrapped.env, descriptors: wrapped.descriptors ?? [], withheld: wrapped.withheld },
        ...{ isWrapper: wrapped.isWrapper ?? false, endsWithAll: wrapped.endsWithAll ?? false },
        timeoutMs: this.#timeoutMs,
        clock: this.#clock,
        signal: AbortSignal.any([this.#signal, enough.signal]),
        onOutput(chunk) {
          pipes.heard();
          if (bytes <= limit) chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > limit) enough.abort();
        },
        onErrorOutput(chunk) {
          if (errors.length < MAX_ERROR_BYTES) errors += chunk.toString("utf8");
        },
      });
      return { end, output: Buffer.concat(chunks).subarray(0, limit), errors, pipe, cut: bytes > limit };
    } finally {
      pipes.stop();
      await ended?.();
    }
  }
}

/** For a configuration that git cannot read, the message has only the location: the lines may be those of any file that it includes. */
function queryError(errors: string): string {
  const known = /not a git repository|dubious ownership|bare repository|safe\.directory/.test(errors);
  if (known) return errors.trim();
  const place = /bad config line \d+ in file [^\n]*/.exec(errors)?.[0];
  return `git cannot read the configuration of this repository${place === undefined ? "" : ` (${place})`}. Use bash to look at it.`;
}

function waitsFor(pipe: string): string {
  return `git waits for ${pipe}, which is a named pipe and not a file, and was stopped. Delete it to use git here.`;
}

function report(action: GitAction, { end, output, errors, pipe, cut }: GitResult): ToolOutcome {
  if (pipe !== undefined) throw new Error(waitsFor(pipe));
  const shown = shownText(output, cut);
  const details: JsonObject = { action, exit_code: cut ? null : (end.exitCode ?? null), truncated: cut };
  if (cut) {
    const note = `[… cut after ${groupDigits(shown.length)} characters; ${MORE[action]} …]`;
    return { status: "ok", content: [text(`${shown}\n${note}`)], details };
  }
  if (end.reason !== "exit") {
    const why = end.reason === "timeout" ? "git took too long and was stopped; narrow it down." : "Cancelled.";
    return { status: end.reason, content: [text([shown, why].filter(Boolean).join("\n"))], details };
  }
  // `diff --exit-code` and `--check` answer 1 and 2 when there is something to show.
  const failed = end.exitCode !== 0 && errors.trim() !== "";
  if (failed) return { status: "error", content: [text([shown, errors.trim()].filter(Boolean).join("\n"))], details };
  return { status: "ok", content: [text(shown || EMPTY[action])], details };
}

const MORE: Readonly<Record<GitAction, string>> = {
  status: "name a folder, or add -uno",
  diff: "name files after --, or ask for --stat first",
  log: "continue with --skip, or add -n, --oneline, or paths after --",
  show: "name files after --, or ask for --stat first",
  blame: "ask for a range with -L",
};

const EMPTY: Readonly<Record<GitAction, string>> = {
  status: "Nothing to report.",
  diff: "No differences.",
  log: "No commits.",
  show: "(empty)",
  blame: "(empty file)",
};

/** Only whole characters and, if it was cut, whole lines; without NUL, which session stores cannot hold. */
function shownText(output: Buffer, cut: boolean): string {
  const decoded = output.subarray(0, cut ? wholeCharactersEnd(output) : output.length).toString("utf8");
  const lineEnd = cut ? decoded.lastIndexOf("\n") : -1;
  return (lineEnd > 0 ? decoded.slice(0, lineEnd) : decoded).replaceAll("\0", "\ufffd").trimEnd();
}
