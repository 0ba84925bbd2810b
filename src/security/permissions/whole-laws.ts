/** The laws about a call as a whole, in their order (`decide.ts` states them). */
import { safeModeRefusal } from "../safe-mode/safe-mode.js";
import type { DecisionFacts } from "./facts.js";
import { placed, printAccess, refusingBelow, refusingEntry } from "./path-permissions.js";
import { isOwn, type PermissionPolicy } from "./policy.js";
import { callOf, decidingRule, rulesAbout, type Subject } from "./rule.js";
import type { Verdict } from "./verdict.js";

type WholeLaw = (facts: DecisionFacts, policy: PermissionPolicy) => Verdict | undefined;

export function modeDenies(): Verdict {
  return { decision: "deny", law: "mode deny", decidedBy: "mode deny", reason: "All tools are switched off." };
}

const modeDeny: WholeLaw = (_facts, { mode }) => (mode === "deny" ? modeDenies() : undefined);

const planMode: WholeLaw = ({ tool, command, planMode: planning }) => {
  if (planning === false || !tool.mutating || command?.verdict === "read-only") return undefined;
  const isSubagent = planning === "subagent";
  const who = isSubagent ? "This subagent" : "Plan mode";
  const what =
    command === undefined
      ? `${who} only reads, and ${tool.name} makes changes.`
      : `${who} runs only what is known to read and stays in the workspace. ${sentence(command.reason)}`;
  const instead = isSubagent ? "Say in your answer what should be done." : "Put it in the plan.";
  const decidedBy = isSubagent ? "read-only subagent" : "plan mode";
  return { decision: "deny", law: "plan mode", decidedBy, reason: `${what} ${instead}` };
};

const boundary: WholeLaw = ({ paths }) => {
  const path = paths.find(({ place }) => place === "unreachable");
  if (path === undefined) return undefined;
  const reason = `${path.display} is outside the workspace, and this tool works only inside it. Ask the user if you need it.`;
  return { decision: "deny", law: "boundary", decidedBy: "workspace boundary", reason, about: path.display };
};

const blocklist: WholeLaw = (facts, policy) => {
  const { command, paths } = facts;
  const { rules } = policy;
  const lifted = (subject: Subject) => {
    const match = decidingRule(rulesAbout(rules, callOf(facts)), facts.args, subject);
    return match?.rule.liftsBlocklist === true;
  };
  const denied = (problem: string, about: string): Verdict => {
    const reason = `${problem} No answer of the user allows it here.`;
    return { decision: "deny", law: "blocklist", decidedBy: "blocklist", reason, about };
  };
  if (command?.verdict === "blocked" && command.parts.length === 0) return denied(command.reason, command.text);
  for (const part of command?.parts ?? []) {
    // The outputs of commands are read-only in the sandbox.
    const own = part.paths.find((path) => isOwn({ ...path, access: "read" }, policy));
    const reason = part.verdict === "blocked" ? part.reason : own && `${own.display} is one of Oxbow's own files.`;
    if (reason !== undefined && command !== undefined && !lifted({ kind: "command", part, whole: command }))
      return denied(reason, part.text);
  }
  const own = paths.find((path) => isOwn(path, policy) && !lifted({ kind: "path", path }));
  return own && denied(`${own.display} is one of Oxbow's own files.`, own.display);
};

const safeMode: WholeLaw = ({ tool, args, command }, { safeMode: state }) => {
  if (!state.on || tool.set !== "command") return undefined;
  if (command === undefined && typeof args.command !== "string") return undefined;
  const reason = command === undefined ? "The command was not checked." : safeModeRefusal(state, command);
  if (reason === undefined) return undefined;
  return { decision: "deny", law: "safe mode", decidedBy: "safe mode", reason };
};

const pathPermissions: WholeLaw = (facts, policy) => pathVerdict(facts, policy, "here");

export function pathVerdict(
  { paths, command }: DecisionFacts,
  { paths: state, workspace, ownFolders }: PermissionPolicy,
  where: "here" | "below",
): Verdict | undefined {
  const own = where === "below" ? ownFolders.map((prefix) => ({ prefix, granted: [] })) : [];
  const entries = placed({ entries: [...state.entries, ...own] }, workspace);
  if (entries.length === 0) return undefined;
  const touched = [...paths, ...(command?.parts ?? []).flatMap((part) => part.paths)];
  for (const path of touched) {
    const entry = where === "here" ? refusingEntry(entries, path) : refusingBelow(entries, path);
    if (entry === undefined) continue;
    const name = `${entry.prefix} ${printAccess(entry.granted)}`;
    const reason =
      where === "here"
        ? `${path.access} is not granted for ${path.display} (${name}).`
        : `${path.display} holds ${entry.prefix}, where ${path.access} is not granted.`;
    const decision = where === "here" ? "deny" : "ask";
    const decidedBy = `path permission ${name}`;
    return { decision, law: "path permission", decidedBy, reason, about: path.display };
  }
  return undefined;
}

/** Those that no mode and no answer of the user change come first: their reason stays true. */
export const WHOLE_LAWS: readonly WholeLaw[] = [modeDeny, boundary, blocklist, planMode, safeMode, pathPermissions];

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
