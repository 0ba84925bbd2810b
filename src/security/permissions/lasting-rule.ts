/**
 * Rules that outlive a question, in the two forms that people write: TOML for a profile, and a text for the command line:
 *
 *     bash: git push *                    commands of bash
 *     bash+network: npm ci                the same, with the network
 *     bash: command=make && ./a.out       exactly this text
 *     edit: src/**                        files
 *     web_fetch: url=https://docs.rs/*    an argument
 *     search: *                           every call of a tool
 */
import { UsageError } from "../../base/usage-error.js";
import type { JsonObject } from "../../protocol/json.js";
import type { Decision } from "./facts.js";

export interface LastingRule {
  /** Like the other texts here, a glob. */
  readonly tool: string;
  /** At most one of these three. */
  readonly command?: string;
  readonly path?: string;
  readonly argument?: { readonly name: string; readonly glob: string };
  readonly network?: true;
  /** A text that the rule must apply to. */
  readonly example?: string;
}

/** Returns the rule as the value of `--allow`. */
export function ruleWords({ tool, command, path, argument, network }: LastingRule): string {
  const detail = argument === undefined ? (command ?? path ?? "*") : `${argument.name}=${argument.glob}`;
  return `${tool}${network ? "+network" : ""}: ${detail}`;
}

/** Reads the value of `--allow` or `--deny` into a table of `[[permissions.rules]]`. */
export function readRuleWords(text: string, { flag, decision }: { flag: string; decision: Decision }): JsonObject {
  const found = /^\s*(?<tool>[^\s:+]+)(?<network>\+network)?:\s+(?<detail>\S.*?)\s*$/s.exec(text)?.groups;
  if (found === undefined)
    throw new UsageError(`${flag}: expected "TOOL: PATTERN", such as "bash: git push *", got "${text}".`);
  const { tool = "", detail = "" } = found;
  const network = found.network !== undefined;
  return { tool, ...detailOf(tool, detail), decision, priority: OF_COMMAND_LINE, ...(network && { network }) };
}

/** A flag comes before the files. */
const OF_COMMAND_LINE = 1000;

function detailOf(tool: string, detail: string): JsonObject {
  if (detail === "*") return {};
  const argument = /^(?<name>[A-Za-z_]\w*)=(?<glob>.*)$/s.exec(detail)?.groups;
  const isArgument = argument !== undefined && (tool !== "bash" || argument.name === "command");
  if (isArgument) return { argument: { name: argument.name ?? "", glob: argument.glob ?? "" } };
  return tool === "bash" ? { command: detail } : { path: detail };
}

/** Returns the text to put at the end of a profile. */
export function ruleToml(rule: LastingRule): string {
  const { example } = rule;
  const match = example === undefined || rule.argument !== undefined ? [] : [`match = [${tomlText(example)}]`];
  return `\n${["[[permissions.rules]]", ...keysOf(rule), ...match].join("\n")}\n`;
}

/** Returns the rule in one line, for `permissions.rules = […]`. */
export function inlineRule(rule: LastingRule): string {
  return `{ ${keysOf(rule).join(", ")} }`;
}

function keysOf({ tool, command, path, argument, network }: LastingRule): readonly string[] {
  return [
    `tool = ${tomlText(tool)}`,
    ...(command === undefined ? [] : [`command = ${tomlText(command)}`]),
    ...(path === undefined ? [] : [`path = ${tomlText(path)}`]),
    ...(argument === undefined
      ? []
      : [`argument = { name = ${tomlText(argument.name)}, glob = ${tomlText(argument.glob)} }`]),
    ...(network ? ["network = true"] : []),
    'decision = "allow"',
  ];
}

/** Writes a text so that a glob takes it literally. */
export function literal(text: string): string {
  return text.replaceAll(/[\\*?[{]/g, "\\$&");
}

function tomlText(text: string): string {
  // JSON's escapes are valid TOML, except two.
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f").replaceAll("\\/", "/");
}
