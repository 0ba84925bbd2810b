/** Checks rules against their own examples when they load. */
import { posix } from "node:path";
import { matchesText } from "../../base/glob.js";
import type { CommandReader } from "./command-reader.js";
import type { PathFacts } from "./facts.js";
import { matchDetail, type PermissionRule, ruleText, type Subject } from "./rule.js";

export interface ExampleOptions {
  /** Needed when a rule about commands has examples (`needsCommandReader`). */
  readonly readCommand?: CommandReader;
}

/** Tells whether checking the examples needs the shell parser, which is loaded only then. */
export function needsCommandReader(rules: readonly PermissionRule[]): boolean {
  return rules.some(({ command, match, not_match }) => command !== undefined && match.length + not_match.length > 0);
}

/** One problem for each example that a rule does not keep. */
export function checkExamples(rules: readonly PermissionRule[], options: ExampleOptions = {}): readonly string[] {
  return rules.flatMap((rule) => {
    const wrong = (examples: readonly string[], wanted: "applies" | "does not apply") =>
      examples
        .filter((example) => appliesTo(rule, example, options) !== (wanted === "applies"))
        .map((example) => problem(rule, example, wanted));
    return [...wrong(rule.match, "applies"), ...wrong(rule.not_match, "does not apply")];
  });
}

function problem(rule: PermissionRule, example: string, wanted: "applies" | "does not apply"): string {
  const { source, number } = rule;
  const key = wanted === "applies" ? "match" : "not_match";
  const found = wanted === "applies" ? "does not apply" : "applies";
  return `${source.file}, rule ${number}: ${key} says that it ${wanted} to ${JSON.stringify(example)}, but "${ruleText(rule)}" ${found} to it. Change the rule or the example.`;
}

/** An allow applies to a text when it covers every command in it, the others when they concern any. */
function appliesTo(rule: PermissionRule, example: string, { readCommand }: ExampleOptions): boolean {
  const { tool, argument, command, path } = rule;
  const args = argument === undefined ? {} : { [argument.name]: example };
  const applies = (subject: Subject) => matchDetail(rule, args, subject)?.certain === true;
  if (path !== undefined) return applies({ kind: "path", path: examplePath(example) });
  if (argument !== undefined) return applies({ kind: "call" });
  // A rule that says nothing else is about the tool's name.
  if (command === undefined) return matchesText(tool, example);
  if (readCommand === undefined) throw new TypeError("examples of commands need the command reader");
  const whole = readCommand(example);
  const subjects = whole.parts.map((part) => ({ kind: "command", part, whole }) as const);
  return rule.decision === "allow" ? subjects.length > 0 && subjects.every(applies) : subjects.some(applies);
}

function examplePath(example: string): PathFacts {
  const display = posix.normalize(example).replace(/^\.\//, "");
  const elsewhere = posix.isAbsolute(display) || display.startsWith("..");
  return {
    absolute: posix.resolve("/workspace", display),
    display,
    access: "read",
    place: elsewhere ? "outside" : "workspace",
  };
}
