/**
 * Describes what a shell command is, before it runs.
 *
 * 1. `read-only` needs proof: the text is wholly understood, it is a plain list or pipeline, and each of its commands is in a table
 *    with everything it is given. All else asks. Nothing is ever read-only because a pattern of danger was not found in it.
 * 2. Substitutions, groups, loops and functions ask even if each command in them only reads: what they pass to each other is
 *    not known beforehand.
 * 3. `blocked` wins over everything and is looked for everywhere, also behind programs that run other programs.
 * 4. Pure: it reads no files. A sandbox contains what links out of the workspace lead to.
 */
import { shorten } from "../../base/cap-text.js";
import { conditionProblem } from "./checks/test.js";
import { credentialProblem } from "./credentials.js";
import { parseShell } from "./grammar.js";
import { namesHandedTo } from "./handed-names.js";
import { invisibleProblem } from "./invisible.js";
import { isPlainAssignment, judgeSimple, type Situation } from "./judge-simple.js";
import { whereabouts } from "./paths.js";
import { commandPattern } from "./pattern-words.js";
import { QUIET_GIT_ENVIRONMENT } from "./programs/quiet-git.js";
import type { ProgramTable } from "./programs/rules.js";
import { READ_ONLY_PROGRAMS } from "./programs/table.js";
import type { Command, Compound, Script, SimpleCommand } from "./syntax.js";
import { simpleCommands, visitScript } from "./walk.js";
import { allParts, fixedValue } from "./word-values.js";

export interface JudgeOptions {
  /** Absolute. Without it, every absolute path counts as outside. */
  readonly workspace?: string;
  /** The folder in which the command starts, when that is not the workspace itself. */
  readonly cwd?: string;
  /** Tables of programs beside the built-in ones; a name in both is taken from here. */
  readonly programs?: ProgramTable;
  /** Oxbow's own folders, absolute, whose use is blocked. */
  readonly ownFolders?: readonly string[];
  /** A folder in them with outputs of the model's own commands: absolute; it is read like the workspace. */
  readonly outputs?: string | undefined;
}

export type ShellVerdict = "read-only" | "ask" | "blocked";

export interface JudgedCommand {
  readonly text: string;
  readonly verdict: ShellVerdict;
  readonly reason: string;
  /** Holds what the user may allow for the session instead of this one command. */
  readonly pattern?: string;
}

export interface ShellJudgement {
  readonly verdict: ShellVerdict;
  readonly reason: string;
  /** Every simple command, wherever it is nested; empty when the text could not be parsed. */
  readonly commands: readonly JudgedCommand[];
  /** It is a plain list of commands and pipelines, none of which holds the output of another. */
  readonly plain: boolean;
  /** The environment that a verdict of `read-only` requires. */
  readonly environment?: Readonly<Record<string, string>>;
}

export function judgeCommand(text: string, options: JudgeOptions = {}): ShellJudgement {
  const invisible = invisibleProblem(text);
  if (invisible !== undefined) return { verdict: "ask", reason: invisible, commands: [], plain: false };
  const parsed = parseShell(text);
  if (!parsed.ok) {
    const reason = `Oxbow cannot parse the command: ${parsed.reason}.`;
    return { verdict: "ask", reason, commands: [], plain: false };
  }
  return judgeScript(parsed.script, options);
}

/** A longer list is not judged. */
const MAX_COMMANDS = 500;

export function judgeScript(script: Script, options: JudgeOptions): ShellJudgement {
  const found = simpleCommands(script);
  if (found.length > MAX_COMMANDS) {
    return { verdict: "ask", reason: `It holds more than ${MAX_COMMANDS} commands.`, commands: [], plain: false };
  }
  const plain = new PlainJudge(options);
  const structure = plain.judgeScript(script);
  const commands = found.map(({ command }) => judgedCommand(command, { plain, options }));
  const rest = { commands, plain: structure === undefined };
  const blocked = commands.find(({ verdict }) => verdict === "blocked");
  if (blocked !== undefined) return { verdict: "blocked", reason: blocked.reason, ...rest };
  const asking = commands.find(({ verdict }) => verdict === "ask");
  if (asking !== undefined) return { verdict: "ask", reason: asking.reason, ...rest };
  if (structure !== undefined) return { verdict: "ask", reason: structure, ...rest };
  const usesGit = found.some(({ command }) => command.words.some((word) => fixedValue(word) === "git"));
  return {
    verdict: "read-only",
    reason: "Every command in it is known to only read.",
    ...rest,
    ...(usesGit && { environment: QUIET_GIT_ENVIRONMENT }),
  };
}

function judgedCommand(
  command: SimpleCommand,
  { plain, options }: { readonly plain: PlainJudge; readonly options: JudgeOptions },
): JudgedCommand {
  const text = command.text;
  const blocked = credentialProblem(command, { folders: options.ownFolders ?? [], except: options.outputs });
  if (blocked !== undefined) return { text, verdict: "blocked", reason: blocked };
  const problem = plain.problemOf(command);
  if (problem === undefined) return { text, verdict: "read-only", reason: "It is known to only read." };
  const pattern = commandPattern(command);
  const verdict = { text, verdict: "ask" as const, reason: sentence(problem) };
  return pattern === undefined ? verdict : { ...verdict, pattern };
}

/** A problem as a sentence that fits on a screen. */
function sentence(problem: string): string {
  const cut = shorten(problem, 200);
  return `${cut.charAt(0).toUpperCase()}${cut.slice(1)}.`;
}

/** Follows a script in order, because a `cd` changes what later paths mean. */
class PlainJudge {
  readonly #programs: ProgramTable;
  readonly #problems = new Map<SimpleCommand, string | undefined>();
  #situation: Situation;

  constructor(options: JudgeOptions) {
    this.#programs =
      options.programs === undefined ? READ_ONLY_PROGRAMS : { ...READ_ONLY_PROGRAMS, ...options.programs };
    this.#situation = { place: whereabouts(options), programs: this.#programs };
  }

  /** Tells why the shape of the script asks; undefined for a plain list of plain commands. */
  judgeScript(script: Script): string | undefined {
    if (script.items.length === 0) return "There is no command in it.";
    const only = script.items.length === 1 ? script.items[0]?.command : undefined;
    if (only?.type === "simple" && isPlainAssignment(only)) {
      this.#problems.set(only, undefined);
      return undefined;
    }
    let problem: string | undefined;
    for (const { command } of script.items) problem ??= this.#judge(command);
    return problem;
  }

  problemOf(command: SimpleCommand): string | undefined {
    if (!this.#problems.has(command)) this.#problems.set(command, judgeSimple(command, this.#situation).problem);
    return this.#problems.get(command);
  }

  #judge(command: Command): string | undefined {
    if (command.type === "compound") return this.#compound(command);
    if (command.type === "pipeline") {
      let problem: string | undefined;
      command.commands.forEach((part, index) => {
        problem ??= this.#judge(this.#seenThrough(part, command.commands[index - 1]));
      });
      return problem;
    }
    const { problem, place } = judgeSimple(command, this.#situation);
    this.#problems.set(command, problem);
    this.#situation = { place, programs: this.#programs };
    return holdsSubstitution(command)
      ? "It holds the output of another command, which is not known beforehand."
      : undefined;
  }

  /** The command that an understood xargs call runs. */
  #seenThrough(command: Command, from: Command | undefined): Command {
    if (command.type !== "simple") return command;
    const inner = namesHandedTo(command, { from, programs: this.#programs });
    if (inner === undefined) return command;
    this.#problems.set(command, judgeSimple(inner, this.#situation).problem);
    return inner;
  }

  #compound({ kind, words, redirects }: Compound): string | undefined {
    if (kind !== "conditional" || redirects.length > 0)
      return `It holds a ${kind}, whose commands are not judged as a whole.`;
    const problem = conditionProblem(words, this.#situation.place);
    return problem === undefined ? undefined : sentence(problem);
  }
}

function holdsSubstitution(command: SimpleCommand): boolean {
  let found = false;
  visitScript({ items: [{ command, operator: "" }] }, [], {
    word({ parts }) {
      for (const part of allParts(parts)) found ||= part.type === "substitution";
    },
  });
  return found;
}
