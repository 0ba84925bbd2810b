/** The answers to a question whether a call may run, in the words of all clients. It offers only what the engine would honour. */
import { safeLine } from "../../base/terminal-text.js";
import type { EventPayloads, PermissionDecision } from "../../protocol/events.js";

type Question = EventPayloads["PermissionRequested"];

/** The scope of a lasting rule: this project, or every folder of the person. */
export type RulePlace = "project" | "user";

export interface PermissionAnswer {
  readonly decision: PermissionDecision;
  /** With a denial, for the model; otherwise the values of a form. */
  readonly message?: string;
  /** The engine also writes the rule to a file. */
  readonly always?: RulePlace;
}

/** An answer by letter or digit. */
export interface Choice<A> {
  readonly key: string;
  readonly label: string;
  readonly answer: A;
}

/** Some choices need more than a key: where a rule holds, or why not. */
export type PermissionChoice = Choice<PermissionAnswer | "where" | "why">;

/** What the tools that change files do, in questions and in the names of rules. */
const CHANGES: Readonly<Record<string, { readonly ask: string; readonly rule: string; readonly any: string }>> = {
  edit: { ask: "Edit", rule: "edits of", any: "any edit" },
  write: { ask: "Write", rule: "writing", any: "writing any file" },
  apply_patch: { ask: "Change", rule: "patches of", any: "any patch" },
};

/** The whole question, where one line says it: `Run npm test?`, `Edit src/a.ts?`. Other calls are quoted below their question. */
export function shortQuestion(question: Question): string | undefined {
  const command = askedCommand(question);
  if (command !== undefined) return `Run ${command}?`;
  const { tool, summary, subagent } = question;
  const change = CHANGES[tool];
  const isShort = change !== undefined && subagent === undefined && summary.startsWith(`${tool} `);
  return isShort ? `${change.ask} ${safeLine(summary.slice(tool.length + 1))}?` : undefined;
}

/** A command of one line. */
export function askedCommand({ tool, args, subagent }: Question): string | undefined {
  const { command } = args;
  const isShort = tool === "bash" && subagent === undefined && typeof command === "string" && !/[\r\n]/.test(command);
  return isShort ? safeLine(command) : undefined;
}

export function permissionChoices(question: Question): readonly PermissionChoice[] {
  const { once_only: onceOnly = false, offer = [], always = [], tool } = question;
  const any = tool === "bash" ? "any command" : (CHANGES[tool]?.any ?? `any call of ${safeLine(tool)}`);
  const again = "yes, and not again this session for";
  const choices: readonly (PermissionChoice | false)[] = [
    { key: "y", label: onceOnly ? "yes, this once" : "yes", answer: { decision: "allow_once" } },
    !onceOnly &&
      offer.length > 0 && {
        key: "s",
        label: `${again}${exactly(offer) ?? `: ${listed(offer)}`}`,
        answer: { decision: "allow_pattern" },
      },
    !onceOnly && { key: "t", label: `${again} ${any}`, answer: { decision: "allow_tool" } },
    !onceOnly && always.length > 0 && { key: "a", label: `always allow: ${listed(always)}`, answer: "where" },
    { key: "n", label: "no, and tell the model why", answer: "why" },
  ];
  return choices.filter((choice) => choice !== false);
}

export const RULE_PLACES: readonly PermissionChoice[] = [
  { key: "p", label: "in this project", answer: { decision: "allow_pattern", always: "project" } },
  { key: "u", label: "in all your projects", answer: { decision: "allow_pattern", always: "user" } },
];

function listed(rules: readonly string[]): string {
  return rules.map((rule) => ofCommand(safeLine(rule))).join(", ");
}

/** The call is in the question already. */
function exactly([rule = "", ...others]: readonly string[]): string | undefined {
  if (others.length > 0 || !rule.startsWith("only this: ")) return undefined;
  return rule.startsWith("only this: bash") ? " exactly this command" : " exactly this call";
}

/** `bash+network: git push *` as people say it: `git push *, with network`; `edit: src/**`: `edits of src/**`. */
function ofCommand(rule: string): string {
  const { tool = "", path } = /^(?<tool>\w+): (?:path=)?(?<path>.*)$/s.exec(rule)?.groups ?? {};
  const change = CHANGES[tool];
  if (change !== undefined) return `${change.rule} ${path}`;
  const { openings, command } = /^bash(?<openings>(?:\+\w+)*): (?:command=)?(?<command>.*)$/s.exec(rule)?.groups ?? {};
  if (command === undefined) return rule;
  const more = (openings ?? "").split("+").filter((each) => each !== "");
  return more.length === 0 ? command : `${command}, with ${more.join(" and ").replaceAll("_", " ")}`;
}
