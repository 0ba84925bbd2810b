/** The tool calls that plans make, with arguments only where they say something. */
import type { JsonObject } from "../../protocol/json.js";
import type { PlannedCall, Toolbox } from "./plan.js";
import type { Scope } from "./scope.js";

export function grepCall(pattern: string, scope: Scope, options: JsonObject): PlannedCall {
  const glob = scope.kind === undefined ? undefined : eitherOf(scope.kind.names);
  return {
    tool: "grep",
    args: {
      pattern,
      ...(scope.path !== undefined && scope.path !== "." && { path: scope.path }),
      ...(glob !== undefined && { glob }),
      ...options,
    },
  };
}

export function globCall(pattern: string, scope: Pick<Scope, "path"> = {}): PlannedCall {
  return {
    tool: "glob",
    args: { pattern, ...(scope.path !== undefined && scope.path !== "." && { path: scope.path }) },
  };
}

export function readCall(path: string, part: { readonly offset?: number; readonly limit?: number } = {}): PlannedCall {
  return { tool: "read", args: { path, ...part } };
}

export function listCall(scope: Pick<Scope, "path">, depth = 1): PlannedCall {
  return { tool: "ls", args: { path: scope.path ?? ".", ...(depth > 1 && { depth }) } };
}

/** One glob for several: `{*.ts,*.tsx}`. */
export function eitherOf(names: readonly string[]): string {
  return names.length === 1 ? (names[0] ?? "") : `{${names.join(",")}}`;
}

/** A document that is known by its first name, in the usual spellings: `{README,Readme,readme}*`. */
export function documentGlob(name: string): string {
  const lower = name.toLowerCase();
  const stems = /^licen[cs]e$/.test(lower) ? ["license", "licence"] : [lower];
  const spellings = stems.flatMap((stem) => [
    stem.toUpperCase(),
    `${stem.charAt(0).toUpperCase()}${stem.slice(1)}`,
    stem,
  ]);
  return `{${spellings.join(",")}}*`;
}

export interface CountingMode {
  readonly options: JsonObject;
  /** What one of the numbers stands for. */
  readonly unit: string;
}

/** Counting over whole files counts every occurrence; line by line, two on one line are one. */
export function countingMode(tools: Toolbox): CountingMode {
  if (tools.accepts("grep", "multiline")) return { options: { mode: "count", multiline: true }, unit: "occurrence" };
  return { options: { mode: "count" }, unit: "matching line" };
}

/** Literal text as a regular expression of the usual dialects. */
export function escapeRegex(text: string): string {
  return text
    .replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")
    .replaceAll("\n", "\\r?\\n")
    .replaceAll("\t", "\\t");
}
