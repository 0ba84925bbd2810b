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

/** Names what a call that changes files does, in questions and in the names of rules; undefined for another one. */
function changeOf({ tool_kind: kind, args }: Question) {
  if (kind !== "edit") return undefined;
  if (typeof args.patch === "string") return { ask: "Change", rule: "patches of", any: "any patch" };
  if (typeof args.content === "string") return { ask: "Write", rule: "writing", any: "writing any file" };
  return { ask: "Edit", rule: "edits of", any: "any edit" };
}

/** Oxbow itself asks, about no call of the model: the question is its summary, and a no tells the model nothing. */
export function isOwnQuestion({ tool }: Pick<Question, "tool">): boolean {
  return tool === "a summary" || tool === "an answer";
}

/** A longer text stands below its question. */
const MOST_ASKED = 100;

/** The whole question, where one line says it: `Run npm test?`, `Edit src/a.ts?`. Other calls are quoted below their question. */
export function shortQuestion(question: Question): string | undefined {
  const command = askedCommand(question);
  if (command !== undefined) return `Run ${command}?`;
  const { tool, summary, subagent } = question;
  const asQuestion = () =>
    safeLine(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}${summary.endsWith("?") ? "" : "?"}`);
  // The tool says in words what it would do.
  const isSaid =
    subagent === undefined && !summary.startsWith(tool) && summary.length <= MOST_ASKED && !/[\r\n]/.test(summary);
  if (isOwnQuestion(question) || isSaid) return asQuestion();
  const change = changeOf(question);
  const isShort = change !== undefined && subagent === undefined && summary.startsWith(`${tool} `);
  return isShort ? `${change.ask} ${safeLine(summary.slice(tool.length + 1))}?` : undefined;
}

/** A command of one line. */
export function askedCommand({ tool_kind: kind, args, subagent }: Question): string | undefined {
  const { command } = args;
  const isShort = kind === "run" && subagent === undefined && typeof command === "string" && !/[\r\n]/.test(command);
  return isShort ? safeLine(command) : undefined;
}

export function permissionChoices(question: Question): readonly PermissionChoice[] {
  if (isOwnQuestion(question)) {
    return [
      { key: "y", label: "yes", answer: { decision: "allow_once" } },
      { key: "n", label: "no", answer: { decision: "deny" } },
    ];
  }
  const { once_only: onceOnly = false, offer = [], always = [], tool } = question;
  const listed = (rules: readonly string[]) => rules.map((rule) => ruleWords(safeLine(rule), question)).join(", ");
  const exactly = question.tool_kind === "run" ? " exactly this command" : " exactly this call";
  const isExact = offer.length === 1 && offer[0]?.startsWith("only this: ");
  const any =
    question.tool_kind === "run" ? "any command" : (changeOf(question)?.any ?? `any call of ${safeLine(tool)}`);
  const again = "yes, and not again this session for";
  const choices: readonly (PermissionChoice | false)[] = [
    { key: "y", label: onceOnly ? "yes, this once" : "yes", answer: { decision: "allow_once" } },
    !onceOnly &&
      offer.length > 0 && {
        key: "s",
        label: `${again}${isExact ? exactly : `: ${listed(offer)}`}`,
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

/** `bash+network: git push *` as people say it: `git push *, with network`; `edit: src/**`: `edits of src/**`. */
function ruleWords(rule: string, question: Question): string {
  const found = /^(?<tool>\w+)(?<openings>(?:\+\w+)*): (?:(?:path|command)=)?(?<about>.*)$/s.exec(rule)?.groups;
  const { tool, openings = "", about = "" } = found ?? {};
  if (tool !== question.tool) return rule;
  const change = changeOf(question);
  if (change !== undefined) return `${change.rule} ${about}`;
  if (question.tool_kind !== "run") return about === "*" ? `any call of ${tool}` : rule;
  const more = openings.split("+").filter((each) => each !== "");
  return more.length === 0 ? about : `${about}, with ${more.join(" and ").replaceAll("_", " ")}`;
}
