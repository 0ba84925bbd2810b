/** The tool calls that plans make, without arguments that equal the default. */
import type { JsonObject } from "../../protocol/json.js";
import type { PlannedCall } from "./plan.js";
import type { Scope } from "./scope.js";

export function grepCall(pattern: string, scope: Scope, options: JsonObject): PlannedCall {
  const glob = scope.kind === undefined ? {} : { glob: eitherOf(scope.kind.names) };
  return { tool: "grep", args: { pattern, ...pathOf(scope), ...glob, ...options } };
}

export function globCall(pattern: string, scope: Scope = {}): PlannedCall {
  return { tool: "glob", args: { pattern, ...pathOf(scope) } };
}

function pathOf({ path }: Scope): { readonly path?: string } {
  return path === undefined || path === "." ? {} : { path };
}

export function readCall(path: string, part: { readonly offset?: number; readonly limit?: number } = {}): PlannedCall {
  return { tool: "read", args: { path, ...part } };
}

export function listCall(scope: Scope, depth = 1): PlannedCall {
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
  const spellings = stems.flatMap((stem) => [stem.toUpperCase(), stem.charAt(0).toUpperCase() + stem.slice(1), stem]);
  return `{${spellings.join(",")}}*`;
}

/** Literal text as a regular expression of the usual dialects. */
export function escapeRegex(text: string): string {
  return text
    .replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")
    .replaceAll("\n", "\\r?\\n")
    .replaceAll("\t", "\\t");
}
