/**
 * `/permissions`, `/why` and `/security`, and `oxbow permissions …`, as functions from words to text. Who may use them is for the
 * registry: they are for people, never for the model.
 */
import { safeLine, safeText } from "../../base/terminal-text.js";
import type { CallId } from "../../protocol/ids.js";
import type { PermissionPolicy } from "./decide.js";
import type { DecidedCall } from "./engine.js";
import { explain } from "./explain.js";
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
import { draftText, promotion, type SessionRules } from "./session-rules.js";
import type { StateFile } from "./state-file.js";
import type { Verdict } from "./verdict.js";

export interface CommandText {
  readonly ok: boolean;
  readonly text: string;
}

export interface PermissionsState {
  policy(): PermissionPolicy;
  readonly session: SessionRules;
  readonly paths: StateFile<PathPermissionState>;
  readonly home?: string;
  /** What would be decided about a shell command now. */
  test(command: string): Promise<Verdict>;
  /** Puts text at the end of the profile and says where; rejects when the profile would no longer be valid. */
  appendToProfile(toml: string): Promise<string>;
}

const USAGE = [
  "/permissions                  mode, rules, session rules and path permissions",
  "/permissions set PATH PERMS   set the permissions below PATH: letters of rwxd, or none",
  "/permissions reset [PATH]     remove one path permission, or all",
  "/permissions revoke N | all   remove a rule of this session",
  "/permissions promote N        write a rule of this session to the profile",
  "/permissions test COMMAND     show the decision for a shell command",
].join("\n");

export async function permissionsCommand(args: string, state: PermissionsState): Promise<CommandText> {
  const [, verb = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(args) ?? [];
  try {
    switch (verb) {
      case "":
      case "list":
        return { ok: true, text: permissionsText(state) };
      case "set":
        return await setPath(rest, state);
      case "reset":
        return await resetPath(rest, state);
      case "revoke":
        return revoke(rest, state.session);
      case "promote":
        return await promote(rest, state);
      case "test":
        return rest === "" ? usage() : { ok: true, text: safeText(explain(await state.test(unquoted(rest)))) };
      default:
        return usage();
    }
  } catch (error) {
    if (error instanceof PathPermissionError) return { ok: false, text: error.message };
    throw error;
  }
}

function usage(): CommandText {
  return { ok: false, text: USAGE };
}

async function setPath(rest: string, { paths, home }: PermissionsState): Promise<CommandText> {
  const [, path, access] = /^(.+)\s+(\S+)$/s.exec(rest) ?? [];
  if (path === undefined || access === undefined) return usage();
  const entry = { prefix: normalPrefix(unquoted(path), home), granted: parseAccess(access) };
  await paths.update((state) => withEntry(state, entry));
  return { ok: true, text: `${entry.prefix}  ${printAccess(entry.granted)}` };
}

async function resetPath(rest: string, { paths, home }: PermissionsState): Promise<CommandText> {
  if (rest === "") {
    const count = (await paths.load()).entries.length;
    await paths.update((state) => withoutEntry(state));
    return { ok: true, text: `${count} path permission${count === 1 ? "" : "s"} removed.` };
  }
  const prefix = normalPrefix(unquoted(rest), home);
  const known = (await paths.load()).entries.some((entry) => entry.prefix === prefix);
  if (!known) return { ok: false, text: `There is no path permission for ${prefix}.` };
  await paths.update((state) => withoutEntry(state, prefix));
  return { ok: true, text: `The path permission for ${prefix} is removed.` };
}

function revoke(rest: string, session: SessionRules): CommandText {
  if (rest === "all") {
    const count = session.clear();
    return { ok: true, text: `${count} rule${count === 1 ? "" : "s"} of this session removed.` };
  }
  if (!/^[0-9]+$/.test(rest)) return usage();
  return session.revoke(Number(rest)) ? { ok: true, text: `Rule ${rest} is removed.` } : noSuchRule(rest);
}

async function promote(rest: string, { session, appendToProfile }: PermissionsState): Promise<CommandText> {
  if (!/^[0-9]+$/.test(rest)) return usage();
  const rule = session.find(Number(rest));
  if (rule === undefined) return noSuchRule(rest);
  const text = promotion(rule);
  if ("refused" in text) return { ok: false, text: text.refused };
  const where = await appendToProfile(text.toml);
  return { ok: true, text: safeText(`Written to ${where}:\n${text.toml.trim()}`) };
}

function noSuchRule(number: string): CommandText {
  return { ok: false, text: `There is no rule ${number} in this session; /permissions lists them.` };
}

/** `oxbow permissions test "git push"`: the quotation marks of a client that did not take them off. */
function unquoted(text: string): string {
  return /^(["'])(?<inner>[^"']*)\1$/.exec(text)?.groups?.inner ?? text;
}

export function permissionsText({ policy, session }: Pick<PermissionsState, "policy" | "session">): string {
  const { mode, preset, edits, rules, paths } = policy();
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [`${title}: none`] : [`${title}:`, ...lines.map((line) => `  ${safeLine(line)}`)];
  const files = [...new Set(rules.map(({ source }) => source.file))];
  return [
    `Mode ${mode}; ${preset === "strict" ? "strict: reading asks too" : "reading does not ask"}; edits ${edits === "ask" ? "ask" : "inside the workspace do not ask when a sandbox is active"}.`,
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

/** `/why [CALL]`: the last decision, or that of a call. */
/** What the log says of a decision that is not remembered any more, or was made in an earlier run. */
export interface LoggedDecision {
  readonly call: CallId;
  readonly detail: string;
  readonly outcome: string;
  readonly time: string;
  readonly decided_by?: string;
  readonly reason?: string;
}

/** `logged`: newest last. */
export function whyCommand(
  args: string,
  decided: (call?: CallId) => readonly DecidedCall[],
  logged: readonly LoggedDecision[] = [],
): CommandText {
  const wanted = args.trim();
  const [found] = decided(wanted === "" ? undefined : (wanted as CallId));
  if (found !== undefined) {
    return { ok: true, text: `${safeLine(found.summary)}\n${safeText(explain(found.verdict))}` };
  }
  const entry = logged.findLast(
    ({ call, decided_by }) => decided_by !== undefined && (wanted === "" || call === wanted),
  );
  if (entry !== undefined) return { ok: true, text: loggedText(entry) };
  const text = wanted === "" ? "There are no decisions yet." : `No decision about ${wanted} is in the log.`;
  return { ok: wanted === "", text: safeLine(text) };
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

/** `/security`: everything that stands between the model and the machine. */
export function securityText({ sandbox, safeMode, permissions, audit, planMode }: SecurityParts): string {
  const plan = planMode ? ["", "Plan mode is on: until you approve the plan, tools can only read."] : [];
  return [`Sandbox: ${sandbox}`, ...plan, "", permissions, "", safeMode, "", audit].join("\n");
}
