/** `/why`: a decision in a few lines: what was decided, by what, and what would change it. */
import { shorten } from "../../base/cap-text.js";
import type { JsonValue } from "../../protocol/json.js";
import type { Decision } from "./facts.js";
import { ruleName, ruleText } from "./rule.js";
import { draftText } from "./session-rules.js";
import type { Law, Verdict } from "./verdict.js";

const DECIDED: Readonly<Record<Decision, string>> = {
  allow: "Allowed",
  ask: "Needs your answer",
  deny: "Denied",
};

const CHANGE: Readonly<Record<Law, string>> = {
  "mode deny": "Start with another --permission-mode.",
  "plan mode": "Approve the plan to leave plan mode.",
  boundary: "Add its folder with /add-dir, or to extra_roots in your own settings.",
  "no sandbox":
    "'oxbow doctor' says what the sandbox lacks. Without --sandbox required, Oxbow asks before each command.",
  blocklist:
    'In your own profile, a rule with decision = "allow", a command or path, and lift_blocklist = true would allow it.',
  "safe mode": "/safemode allow COMMAND puts a program on the list, /safemode off ends safe mode.",
  "path permission": "/permissions set PATH PERMS grants more, /permissions reset PATH removes the entry.",
  guarded:
    "Answer yes each time. In your own profile, a rule with exactly this path lets a file tool change it, and one with exactly this command runs it; no rule lets a command change it.",
  rule: "Change that rule, or write one with a higher priority.",
  "mode allow": 'A rule with decision = "ask" or "deny" would stop it; so would --permission-mode ask.',
  session: "/permissions revoke NUMBER removes it.",
  "quiet preset": "--strict-permissions also asks before reading; a rule can ask or deny.",
  "mode review": "/mode auto, or Shift-Tab, lets edits inside the workspace run without a question.",
  "contained edit": '/mode review, or edits = "ask" under [permissions], asks for edits; a rule can ask or deny.',
  "contained command":
    "--permission-mode ask asks before every command that does more than read; a rule can ask or deny.",
  "auto-approve": "Start without --auto-approve to be asked.",
  hook: "Change or remove the hook; 'oxbow hooks' lists the hooks and their files.",
  default: "Allow it for the session when asked, or add a rule under [[permissions.rules]].",
};

const ADD_RULE = "Add a rule under [[permissions.rules]].";
const OF_PROJECT = "The project decides this, and none of your rules can loosen it: change the rule in its file.";

export function explain(verdict: Verdict): string {
  const { decision, decidedBy, reason, rule, about, offer = [], once } = verdict;
  const lines = [
    `${DECIDED[decision]}${about === undefined ? "" : `: ${oneLine(about)}`}`,
    `By: ${decidedBy}`,
    ...(rule === undefined ? [] : [`Rule: ${ruleText(rule)} (${ruleName(rule)})`]),
    `Because: ${reason}`,
    ...(offer.length === 0 ? [] : [`You can allow for this session: ${offer.map(draftText).join("; ")}`]),
    ...(once ? ["Oxbow asks each time."] : []),
    `To change it: ${adviceOn(verdict)}`,
  ];
  return lines.join("\n");
}

/** Names what a person can do about it. */
export function adviceOn({ law, once, rule }: Verdict): string {
  return once ? ADD_RULE : rule?.source.scope === "project" && law === "rule" ? OF_PROJECT : CHANGE[law];
}

/** For the model: what was denied and why, and nothing about how to get around it. `command`: the whole text, if the call has one. */
export function denialText(verdict: Verdict, command?: JsonValue): string {
  return `Denied by ${verdict.decidedBy}. ${reasonIn(verdict, command)}`;
}

const MOST_QUOTED = 120;

/** The reason, behind the part of a longer command that it is about. */
export function reasonIn({ reason, about }: Verdict, command: JsonValue | undefined): string {
  if (about === undefined || typeof command !== "string" || command.trim() === about.trim()) return reason;
  return `In "${shorten(about.replaceAll(/\s+/g, " "), MOST_QUOTED)}": ${reason}`;
}

function oneLine(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ");
  return shorten(flat, 160);
}
