/** The descriptions of the tools `agent` and `delegate`, separate from their code: every request pays for these bytes. */
import type { Tool } from "../../engine/ports.js";
import agent from "./agent.md";
import type { AgentType } from "./agent-type.js";
import delegate from "./delegate.md";
import { agentHabits, DELEGATE } from "./habits.js";

export type AgentToolName = "agent" | "delegate";
export type AgentToolDefinition = Omit<Tool, "run"> & { readonly name: AgentToolName };

/**
 * They may run concurrently. They count as changing, because an interrupted call must not start again automatically; every call of the
 * subagent is decided and recorded separately.
 */
const TRAITS = { set: "agents", concurrencySafe: true, mutating: true, expendable: true } as const;

const string = { type: "string" } as const;
const words = { type: "string", description: "3 to 6 words for the user" } as const;

/** The most types that the description lists; a call may still name the others. */
const MOST_LISTED = 40;
const LONGEST_LINE = 200;

/** `cheap`: whether a cheaper model is known. */
export function agentTool(types: readonly AgentType[], { cheap }: { readonly cheap: boolean }): AgentToolDefinition {
  const listed = types.slice(0, MOST_LISTED).map(({ name, description }) => `- ${name}: ${short(description)}`);
  return {
    name: "agent",
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

export function delegateTool(): AgentToolDefinition {
  return {
    name: "delegate",
    description: delegate.trim(),
    ...TRAITS,
    // Its model `cheap` does the same.
    replacedBy: { tool: "agent" },
    inputSchema: { type: "object", properties: { prompt: string }, required: ["prompt"] },
    habits: DELEGATE,
  };
}

export function isAgentTool(name: string): name is AgentToolName {
  return name === "agent" || name === "delegate";
}

function short(description: string): string {
  const line = description.replace(/\s+/g, " ").trim();
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1)}…` : line;
}
