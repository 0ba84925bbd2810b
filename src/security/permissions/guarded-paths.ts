/**
 * Guarded paths (`../guard-list`) among what a call would change or run. Other programs run or obey them outside the sandbox, so a call
 * that changes one asks. A call that runs one asks, too: what is written there was made for another program and its rights.
 */
import { guardedName } from "../guard-list/guarded-names.js";
import type { DecisionFacts, PathFacts } from "./facts.js";
import { isOwn, type PermissionPolicy } from "./policy.js";
import type { RuleMatch, Subject } from "./rule.js";
import type { Verdict } from "./verdict.js";

/** The guarded paths that a part of a call would change or run. */
export function guardedPaths(subject: Subject): readonly PathFacts[] {
  const paths = subject.kind === "path" ? [subject.path] : subject.kind === "command" ? subject.part.paths : [];
  return paths.filter((path) => guardedReason(path) !== undefined);
}

/** By its name too, in addition to the caller's facts. */
function guardedReason(path: PathFacts): string | undefined {
  const { runs, guarded, display, place } = path;
  if (changes(path)) return guarded ?? guardedName(display);
  // Programs of the person, such as those in ~/.local/bin, are not the workspace's.
  return runs && place === "workspace" ? (guarded ?? guardedName(display)) : undefined;
}

function changes({ access }: PathFacts): boolean {
  return access === "write" || access === "delete";
}

export function guardedText(paths: readonly PathFacts[]): string {
  const lines = paths.map((path) => {
    const what = changes(path) ? "is guarded" : "would run, and it is guarded";
    return `${path.display} ${what}: ${guardedReason(path)}.`;
  });
  return [...new Set(lines)].join(" ");
}

/**
 * A rule for this one path, or for the command that runs it, which the person wrote into their own profile. No rule lets a command change
 * a guarded path: its words do not say what it writes there.
 */
export function namesExactly({ rule, decision, certain }: RuleMatch, guarded: readonly PathFacts[]): boolean {
  const glob = rule.path?.glob ?? (guarded.some(changes) ? undefined : rule.command);
  return decision === "allow" && certain && rule.source.scope === "user" && glob?.exact === true;
}

/** With what the call may touch when it is allowed: guarded paths, and own files of a blocklist that was lifted. */
export function withGuarded(
  verdict: Verdict,
  { facts, policy }: { readonly facts: DecisionFacts; readonly policy: PermissionPolicy },
): Verdict {
  const inCommand = facts.command?.parts.flatMap(({ paths }) => paths) ?? [];
  const asked = [...facts.paths, ...inCommand].filter((path) => guardedReason(path) !== undefined);
  // A yes to running a file is none to changing it.
  const touched = [...facts.paths.filter((path) => isOwn(path, policy)), ...asked.filter(changes)];
  const reason = verdict.law === "guarded" ? guardedText(asked) : verdict.reason;
  if (touched.length === 0) return { ...verdict, reason };
  return { ...verdict, reason, guarded: [...new Set(touched.map(({ absolute }) => absolute))] };
}
