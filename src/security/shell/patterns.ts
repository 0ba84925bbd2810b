/** Patterns that the user allows for a session, and whether they cover a later command. */
import { credentialProblem } from "./credentials.js";
import { parseShell } from "./grammar.js";
import { invisibleProblem } from "./invisible.js";
import { type JudgeOptions, judgeCommand, judgeScript } from "./judge.js";
import { coversCommand } from "./pattern-words.js";
import type { Command, Script, SimpleCommand, Word } from "./syntax.js";
import { simpleCommands, visitScript } from "./walk.js";
import { fixedValue } from "./word-values.js";
import { innerCommands, programName } from "./wrappers.js";

export type SessionPattern =
  | { readonly ok: true; readonly patterns: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** The patterns to show beside "allow for this session": one for each command that is not read-only anyway. */
export function sessionPattern(text: string, options: JudgeOptions = {}): SessionPattern {
  const judged = judgeCommand(text, options);
  if (judged.verdict === "blocked" || judged.commands.length === 0) return { ok: false, reason: judged.reason };
  const asking = judged.commands.filter(({ verdict }) => verdict !== "read-only");
  const without = asking.find(({ pattern }) => pattern === undefined);
  if (without !== undefined) return { ok: false, reason: `No pattern can stand for "${without.text}".` };
  const patterns = [...new Set(asking.flatMap(({ pattern }) => (pattern === undefined ? [] : [pattern])))];
  const covered = decideByRules(text, { ...options, allow: patterns }) === "allow";
  return covered
    ? { ok: true, patterns }
    : { ok: false, reason: "Its commands are joined in a way that no pattern covers." };
}

/** Tells whether every command in a text is read-only or covered by one of the patterns, and nothing else is in it. */
export function matchesPattern(pattern: string | readonly string[], text: string, options: JudgeOptions = {}): boolean {
  const allow = typeof pattern === "string" ? [pattern] : pattern;
  return decideByRules(text, { ...options, allow }) === "allow";
}

export interface RuleOptions extends JudgeOptions {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** `--strict-permissions`: being read-only is not enough. */
  readonly strict?: true;
}

export function decideByRules(text: string, options: RuleOptions): "allow" | "ask" | "deny" {
  if (invisibleProblem(text) !== undefined) return "ask";
  const parsed = parseShell(text);
  if (!parsed.ok) return "ask";
  const { script } = parsed;
  const { allow = [], deny = [], ownFolders = [] } = options;
  const commands = simpleCommands(script).map(({ command }) => command);
  if (commands.some((command) => credentialProblem(command, { folders: ownFolders }) !== undefined)) return "deny";
  if (commands.some((command) => isDenied(command.words, deny))) return "deny";
  const judged = judgeScript(script, options);
  if (judged.verdict === "read-only" && !options.strict) return "allow";
  if (commands.length === 0 || !isPlainStructure(script)) return "ask";
  const covered = commands.every((command, index) => {
    // A command that only reads may still pass something to another command inside it.
    const readOnly = !options.strict && judged.plain && judged.commands[index]?.verdict === "read-only";
    return readOnly || allow.some((pattern) => coversCommand(pattern, command));
  });
  return covered ? "allow" : "ask";
}

/** Lists, pipelines, groups and substitutions; no loops, functions or conditions, and no redirect around a group. */
function isPlainStructure(script: Script): boolean {
  let plain = true;
  const check = (command: Exclude<Command, SimpleCommand>) => {
    if (command.type === "pipeline") return;
    if ((command.kind !== "group" && command.kind !== "subshell") || command.redirects.length > 0) plain = false;
  };
  visitScript(script, [], { command: check });
  return plain;
}

function isDenied(words: readonly Word[], deny: readonly string[], depth = 0): boolean {
  if (deny.length === 0) return false;
  if (deny.some((pattern) => startsWithPattern(words, pattern))) return true;
  if (depth >= 3) return false;
  const { commands, scripts } = innerCommands(words);
  if (commands.some((inner) => deny.some((pattern) => startsWithPattern(inner, pattern)))) return true;
  return scripts
    .flatMap((script) => (script === undefined ? [] : simpleCommands(script)))
    .some(({ command }) => isDenied(command.words, deny, depth + 1));
}

/** A denial counts for every command that begins so, also when the program is called by its path. */
function startsWithPattern(words: readonly Word[], pattern: string): boolean {
  const wanted = pattern.trim().split(/\s+/);
  if (wanted.at(-1) === "*") wanted.pop();
  if (wanted.length === 0 || wanted[0] === "" || words.length < wanted.length) return false;
  const name = programName(words);
  const called = name === wanted[0] || name?.split("/").at(-1) === wanted[0];
  return (
    called && wanted.slice(1).every((value, index) => fixedValue(words[index + 1] ?? { parts: [], text: "" }) === value)
  );
}
