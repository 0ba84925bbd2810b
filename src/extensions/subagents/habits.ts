/** How models of other harnesses start a subagent. */
import { shorten } from "../../base/cap-text.js";
import type { Conversion, ToolHabits } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";

const PROMPT = ["message", "task", "objective", "task_description", "query", "instruction", "instructions", "input"];

const AGENT: ToolHabits = {
  names:
    `task spawn_agent new_task dispatch_agent delegate_to_agent subagent run_subagent start_agent delegate delegate_task
    codebase_investigator create_agent invoke_agent call_agent subagent_task task_agent`.split(/\s+/),
  parameters: {
    prompt: PROMPT,
    type: ["subagent_type", "agent_type", "agent_name", "agent", "subagent_name", "subagent", "name"],
    description: ["title", "summary", "short_description"],
  },
  unused: {
    todos: "",
    response: "",
    readonly: "",
    mode: "the type decides what it may do.",
    runinbackground: "the call waits for the report; several calls in one answer run in parallel.",
    reasoningeffort: "the type decides it.",
    maxturns: "the limits of the session apply.",
    background: "the call waits for the report; several calls in one answer run in parallel.",
  },
};

/** Names of models belong to the other harness; those of small models mean the cheap one, as `delegate` does. */
function agentArguments(sent: JsonObject, called: string, knowsCheap: boolean): Conversion {
  const { model = called === "delegate" ? "cheap" : undefined, ...rest } = sent;
  if (typeof model !== "string") return { args: described(sent, called) };
  const isCheap = knowsCheap && /^cheap$|haiku|mini\b|nano|flash|fast|small/i.test(model);
  if (isCheap) return { args: described({ ...rest, model: "cheap" }, called) };
  const notes =
    called === "delegate" ? [] : [`model ${JSON.stringify(model)} was not used: the type decides the model.`];
  return { args: described(rest, called), notes };
}

function described(args: JsonObject, called: string): JsonObject {
  const { prompt, type, description } = args;
  const named = called === "codebaseinvestigator" && type === undefined ? { ...args, type: "explore" } : args;
  if (typeof prompt !== "string" && typeof description === "string") return { ...named, prompt: description };
  if (typeof prompt !== "string" || description !== undefined) return named;
  return { ...named, description: shorten(prompt.trim().split(/\s+/).slice(0, 6).join(" "), 60) };
}

/** Types of other harnesses, unless the session has a type of that name. */
const TYPES: Readonly<Record<string, string>> = {
  "general-purpose": "general",
  general_purpose: "general",
  generalist: "general",
  default: "general",
  worker: "general",
  explorer: "explore",
};

export function agentHabits(types: readonly string[], { cheap }: { readonly cheap: boolean }): ToolHabits {
  const own = new Set(types.map((name) => name.toLowerCase()));
  const others = Object.entries(TYPES).filter(([name]) => !own.has(name));
  const convert = (sent: JsonObject, called: string) => agentArguments(sent, called, cheap);
  return { ...AGENT, values: { type: Object.fromEntries(others) }, convert };
}

export const DELEGATE: ToolHabits = {
  parameters: { prompt: PROMPT },
  unused: { description: "", type: "", subagenttype: "" },
};
