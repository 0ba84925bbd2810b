/** Guarded paths (`../guard-list`) among what a call would change. */
import { guardedName } from "../guard-list/guarded-names.js";
import type { DecisionFacts, PathFacts } from "./facts.js";
import { isOwn, type PermissionPolicy } from "./policy.js";
import type { RuleMatch, Subject } from "./rule.js";
import type { Verdict } from "./verdict.js";

/** The guarded paths that a part of a call would change. */
export function guardedPaths(subject: Subject): readonly PathFacts[] {
  const paths = subject.kind === "path" ? [subject.path] : subject.kind === "command" ? subject.part.paths : [];
  return paths.filter((path) => guardedReason(path) !== undefined);
}

/** By its name too, in addition to the caller's facts. */
function guardedReason({ access, guarded, display }: PathFacts): string | undefined {
  return access === "write" || access === "delete" ? (guarded ?? guardedName(display)) : undefined;
}

export function guardedText(paths: readonly PathFacts[]): string {
  const lines = new Set(paths.map((path) => `${path.display} is guarded: ${guardedReason(path)}.`));
  return [...lines].join(" ");
}

/** A rule for this one path or command, which the person wrote into their own profile. */
export function namesExactly({ rule, decision, certain }: RuleMatch): boolean {
  const glob = rule.path?.glob ?? rule.command;
  return decision === "allow" && certain && rule.source.scope === "user" && glob?.exact === true;
}

/** With what the call may touch when it is allowed: guarded paths, and own files of a blocklist that was lifted. */
export function withGuarded(
  verdict: Verdict,
  { facts, policy }: { readonly facts: DecisionFacts; readonly policy: PermissionPolicy },
): Verdict {
  const inCommand = facts.command?.parts.flatMap(({ paths }) => paths) ?? [];
  const special = [
    ...facts.paths.filter((path) => guardedReason(path) !== undefined || isOwn(path, policy)),
    ...inCommand.filter((path) => guardedReason(path) !== undefined),
  ];
  if (special.length === 0) return verdict;
  const asked = special.filter((path) => guardedReason(path) !== undefined);
  const reason = verdict.law === "guarded" ? guardedText(asked) : verdict.reason;
  return { ...verdict, reason, guarded: [...new Set(special.map(({ absolute }) => absolute))] };
}
