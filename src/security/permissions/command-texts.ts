/**
 * Describes what the permission commands do, as functions from their arguments to text and data. The registry decides who may use them:
 * people, never the model.
 */
import { safeLine, safeText } from "../../base/terminal-text.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import type { PermissionPolicy } from "./decide.js";
import type { DecidedCall } from "./engine.js";
import { explain } from "./explain.js";
import { ruleToml, ruleWords } from "./lasting-rule.js";
import {
  normalPrefix,
  PathPermissionError,
  type PathPermissionState,
  parseAccess,
  printAccess,
  withEntry,
  withoutEntry,
} from "./path-permissions.js";
import { ruleText } from "./rule.js";
import { draftText, lastingRules, type SessionRules } from "./session-rules.js";
import type { StateFile } from "./state-file.js";
import type { Verdict } from "./verdict.js";

/** `value` is the same as data. */
export type CommandText =
  | { readonly ok: true; readonly text: string; readonly value: JsonValue }
  | { readonly ok: false; readonly text: string };

/** Describes where rules hold that outlive the session: wherever the person works, or in this project. */
export type RulePlace = "user" | "project";

export interface PermissionsState {
  policy(): PermissionPolicy;
  readonly session: SessionRules;
  readonly paths: StateFile<PathPermissionState>;
  readonly home?: string;
  /** The decision about a shell command now; undefined without a shell. */
  test(command: string): Promise<Verdict | undefined>;
  decided(call: CallId): readonly DecidedCall[];
  /** Appends rules to the file of a place and returns its path; rejects when the file would no longer be valid. */
  keepRules(toml: string, place: RulePlace): Promise<string>;
}

export function listPermissions(state: Pick<PermissionsState, "policy" | "session">): CommandText {
  const { mode, preset, edits, rules, paths } = state.policy();
  return {
    ok: true,
    text: permissionsText(state),
    value: {
      mode,
      preset,
      edits,
      rules: rules.map((rule) => ({ number: rule.number, file: rule.source.file, rule: ruleText(rule) })),
      session_rules: state.session
        .list()
        .map(({ number, draft, originator }) => ({ number, rule: draftText(draft), for: originator })),
      paths: paths.entries.map(({ prefix, granted }) => ({ path: prefix, access: printAccess(granted) })),
    },
  };
}

export async function testCommand(command: string, state: Pick<PermissionsState, "test">): Promise<CommandText> {
  const verdict = await state.test(command);
  if (verdict === undefined) return { ok: false, text: "The tool set 'command' is off." };
  return { ok: true, text: safeText(explain(verdict)), value: { command, ...verdictJson(verdict) } };
}

export function verdictJson({ decision, decidedBy, reason, about }: Verdict): JsonObject {
  return { decision, decided_by: decidedBy, reason, ...(about !== undefined && { about }) };
}

export interface PathAccess {
  readonly path: string;
  readonly access: string;
}

export function setPath(
  { path, access }: PathAccess,
  { paths, home }: Pick<PermissionsState, "paths" | "home">,
): Promise<CommandText> {
  return refusingPaths(async () => {
    const entry = { prefix: normalPrefix(path, home), granted: parseAccess(access) };
    await paths.update((state) => withEntry(state, entry));
    const printed = printAccess(entry.granted);
    return { ok: true, text: `${entry.prefix}  ${printed}`, value: { path: entry.prefix, access: printed } };
  });
}

/** Without a path: all of them. */
export function resetPath(
  path: string | undefined,
  { paths, home }: Pick<PermissionsState, "paths" | "home">,
): Promise<CommandText> {
  return refusingPaths(async () => {
    const { entries } = await paths.load();
    if (path === undefined) {
      const count = entries.length;
      await paths.update((state) => withoutEntry(state));
      return {
        ok: true,
        text: `${count} path permission${count === 1 ? "" : "s"} removed.`,
        value: { removed: count },
      };
    }
    const prefix = normalPrefix(path, home);
    if (!entries.some((entry) => entry.prefix === prefix)) {
      return { ok: false, text: `There is no path permission for ${prefix}.` };
    }
    await paths.update((state) => withoutEntry(state, prefix));
    return { ok: true, text: `The path permission for ${prefix} is removed.`, value: { removed: 1, path: prefix } };
  });
}

async function refusingPaths(action: () => Promise<CommandText>): Promise<CommandText> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof PathPermissionError) return { ok: false, text: error.message };
    throw error;
  }
}

/** `which`: the number of a rule, or `all`. */
export function revoke(which: string, session: SessionRules): CommandText {
  if (which === "all") {
    const count = session.clear();
    const text = `${count} rule${count === 1 ? "" : "s"} of this session removed.`;
    return { ok: true, text, value: { revoked: count } };
  }
  if (!/^[0-9]+$/.test(which) || !session.revoke(Number(which))) return noSuchRule(which);
  return { ok: true, text: `Rule ${which} is removed.`, value: { revoked: 1, rule: Number(which) } };
}

/** `which`: the number of a session rule, or a call whose question is to be answered yes from now on. */
export async function promote(
  { which, where = "user" }: { readonly which: string; readonly where?: string | undefined },
  { session, decided, keepRules }: Pick<PermissionsState, "session" | "decided" | "keepRules">,
): Promise<CommandText> {
  if (where !== "user" && where !== "project") return { ok: false, text: "WHERE: expected user or project." };
  const rule = session.find(Number(which));
  const drafts = rule === undefined ? (decided(which as CallId)[0]?.verdict.offer ?? []) : [rule.draft];
  if (drafts.length === 0) return noSuchRule(which);
  const rules = drafts.flatMap(lastingRules);
  const written = rules.map(ruleToml).join("");
  const file = await keepRules(written, where);
  const toml = written.trim();
  return {
    ok: true,
    text: safeText(
      `${where === "project" ? "In this project, always" : "Always"}: ${rules.map(ruleWords).join(", ")}\nWritten to ${file}:\n${toml}`,
    ),
    value: { file, toml },
  };
}

function noSuchRule(number: string): CommandText {
  return { ok: false, text: `There is no rule ${number} in this session; /permissions lists them.` };
}

export function permissionsText({ policy, session }: Pick<PermissionsState, "policy" | "session">): string {
  const { mode, preset, edits, rules, paths } = policy();
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [`${title}: none`] : [`${title}:`, ...lines.map((line) => `  ${safeLine(line)}`)];
  const files = [...new Set(rules.map(({ source }) => source.file))];
  return [
    `Mode ${mode}; ${preset === "strict" ? "strict: reading asks too" : "reading does not ask"}; edits ${edits === "ask" || mode === "review" ? "ask" : "inside the workspace do not ask when a sandbox is active"}.`,
    ...section(
      "Rules",
      files.flatMap((file) => [
        file,
        ...rules.filter(({ source }) => source.file === file).map((rule) => `  ${rule.number}. ${ruleText(rule)}`),
      ]),
    ),
    ...section(
      "This session",
      session.list().map(({ number, draft, originator }) => {
        return `${number}. ${draftText(draft)}${originator === "agent" ? " (also for agents)" : ""}`;
      }),
    ),
    ...section(
      "Paths",
      paths.entries.map(({ prefix, granted }) => `${printAccess(granted)}  ${prefix}`),
    ),
  ].join("\n");
}

/** A decision as the log has it: it was made in an earlier run, or is no longer in memory. */
export interface LoggedDecision {
  readonly call: CallId;
  readonly detail: string;
  readonly outcome: string;
  readonly time: string;
  readonly decided_by?: string;
  readonly reason?: string;
}

/** `/why [CALL]`: the last decision, or that of a call. `logged`: newest last. */
export function why(
  call: string | undefined,
  decided: (call?: CallId) => readonly DecidedCall[],
  logged: readonly LoggedDecision[] = [],
): CommandText {
  const [found] = decided(call as CallId | undefined);
  if (found !== undefined) {
    return {
      ok: true,
      text: `${safeLine(found.summary)}\n${safeText(explain(found.verdict))}`,
      value: { call: found.summary, ...verdictJson(found.verdict) },
    };
  }
  const entry = logged.findLast((each) => each.decided_by !== undefined && (call === undefined || each.call === call));
  if (entry !== undefined) {
    const { detail, outcome, time, decided_by, reason } = entry;
    return { ok: true, text: loggedText(entry), value: { call: detail, outcome, time, decided_by, reason } };
  }
  if (call !== undefined) return { ok: false, text: safeLine(`No decision about ${call} is in the log.`) };
  return { ok: true, text: "There are no decisions yet.", value: null };
}

function loggedText({ detail, outcome, time, decided_by = "", reason }: LoggedDecision): string {
  const lines = [
    detail,
    `${outcome === "denied" ? "Denied" : "Allowed"} (${time})`,
    `By: ${decided_by}`,
    ...(reason === undefined ? [] : [`Because: ${reason}`]),
  ];
  return lines.map(safeLine).join("\n");
}

export interface SecurityParts {
  /** From `describeSandbox`. */
  readonly sandbox: string;
  /** From `describeSafeMode`. */
  readonly safeMode: string;
  /** From `permissionsText`. */
  readonly permissions: string;
  /** From `auditStatus`. */
  readonly audit: string;
  readonly planMode: boolean;
}

/** `/security`: all protections of the machine against the model. */
export function securityText({ sandbox, safeMode, permissions, audit, planMode }: SecurityParts): string {
  const plan = planMode ? ["", "Plan mode is on: until you approve the plan, tools can only read."] : [];
  return [`Sandbox: ${sandbox}`, ...plan, "", permissions, "", safeMode, "", audit].join("\n");
}
