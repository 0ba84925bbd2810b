/** The description of the tool `agent`, separate from its code: every request pays for these bytes. */
import { shorten } from "../../base/cap-text.js";
import type { Conversion, Tool, ToolHabits } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";
import agent from "./agent.md";
import type { AgentType } from "./agent-types.js";

export const AGENT_TOOL = "agent";

/**
 * Its calls may run concurrently. They count as changing, because an interrupted call must not start again automatically; every call of
 * the subagent is decided and recorded separately.
 */
const TRAITS = { set: "agents", concurrencySafe: true, mutating: true, expendable: true } as const;

const string = { type: "string" } as const;
const words = { type: "string", description: "3 to 6 words for the user" } as const;

/** The most types that the description lists; a call may still name the others. */
const MOST_LISTED = 40;
const LONGEST_LINE = 200;

/** `cheap`: whether a cheaper model is known. */
export function agentTool(types: readonly AgentType[], { cheap }: { readonly cheap: boolean }): Omit<Tool, "run"> {
  const listed = types.slice(0, MOST_LISTED).map(({ name, description }) => `- ${name}: ${short(description)}`);
  return {
    name: AGENT_TOOL,
    kind: "ask",
    description: `${agent.trim()}\nTypes (default: general):\n${listed.join("\n")}`,
    ...TRAITS,
    inputSchema: {
      type: "object",
      properties: {
        type: string,
        prompt: string,
        description: words,
        ...(cheap && { model: { enum: ["cheap"], description: "for simple, fully described work" } }),
      },
      required: ["prompt", "description"],
    },
    habits: agentHabits(
      types.map(({ name }) => name),
      { cheap },
    ),
  };
}

function short(description: string): string {
  const line = description.replace(/\s+/g, " ").trim();
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1)}…` : line;
}

const PROMPT = ["message", "task", "objective", "task_description", "query", "instruction", "instructions", "input"];

/** Lists how models of other harnesses start a subagent. */
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

/** Names of models belong to the other harness; those of small models mean the cheap one, as the name `delegate` does. */
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

function agentHabits(types: readonly string[], { cheap }: { readonly cheap: boolean }): ToolHabits {
  const own = new Set(types.map((name) => name.toLowerCase()));
  const others = Object.entries(TYPES).filter(([name]) => !own.has(name));
  const convert = (sent: JsonObject, called: string) => agentArguments(sent, called, cheap);
  return { ...AGENT, values: { type: Object.fromEntries(others) }, convert };
}
