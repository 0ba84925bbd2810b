/** The answers when a plan cannot continue: a tool is not offered, or a call failed or was denied. */
import { hasEnded } from "./outputs/command-output.js";
import type { ToolFact } from "./plan.js";
import { code, count, fenced, paragraphs } from "./wording.js";

const SETS: readonly (readonly [set: string, tools: readonly string[]])[] = [
  ["read", ["read", "ls", "glob", "grep"]],
  ["edit", ["write", "edit"]],
  ["command", ["bash"]],
];

export function missingTool(tool: string): string {
  const set = SETS.find(([, tools]) => tools.includes(tool))?.[0] ?? tool;
  return `That needs the tool ${code(tool)}, which is not offered in this run, so this was not done. It belongs to the tool set ${code(set)}: add it with ${code(`--tool-set ${set}`)} (several: ${code("--tool-set read,edit")}). With ${code("--permission-mode deny")} no tools are offered at all.`;
}

export function failedCall(fact: ToolFact): string {
  return paragraphs(`I could not finish: ${describeCall(fact)} failed.`, fenced(fact.text.trim() || "(no message)"));
}

export function refusedCall(fact: ToolFact): string {
  const text = fact.text.trim();
  return paragraphs(
    `I stopped: ${describeCall(fact)} was not permitted, so it was not run.`,
    fenced(text),
    LAW.test(text)
      ? adviceOn(text)
      : `To allow it, answer the question when asked, or run again with ${code("--permission-mode allow")}.`,
  );
}

/** No answer and no mode changes what these decided. */
const LAW = /^Denied by (?!mode )/;

function adviceOn(text: string): string {
  if (!/ outside the workspace\b/.test(text)) return "";
  return `To let tools use that folder, add it to ${code("extra_roots")} in your own settings, or start Oxbow there.`;
}

export function tooManyCalls(limit: number): string {
  return `I stopped after ${count(limit, "tool call")}: this request needs more than the rules allow themselves. Ask for a smaller part of it.`;
}

/** The words with which permissions refuse a call; a file's own "permission denied" is an ordinary failure. */
const REFUSAL = /^(?:Denied\b|Permission denied for \S+ by\b|Permission for \S+ not answered\b)/;

export function isRefusal(fact: ToolFact): boolean {
  // A command that ran may print such words itself.
  return REFUSAL.test(fact.text.trimStart()) && !hasEnded(fact);
}

/** The argument that distinguishes a call from others of the same tool. */
function describeCall({ tool, args }: ToolFact): string {
  const subject = args.command ?? args.pattern ?? args.path ?? args.action;
  return typeof subject === "string" && subject.length <= 200 ? `${code(tool)} (${subject})` : code(tool);
}
