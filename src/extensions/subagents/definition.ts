/** The descriptions of the tools `agent` and `delegate`, separate from their code: every request pays for these bytes. */
import type { Tool } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";
import agent from "./agent.md";
import type { AgentType } from "./agent-type.js";
import delegate from "./delegate.md";

export type AgentToolName = "agent" | "delegate";
export type AgentToolDefinition = Omit<Tool, "run"> & { readonly name: AgentToolName };

/**
 * They may run concurrently. They count as changing, because an interrupted call must not start again automatically; every call of the
 * subagent is decided and recorded separately.
 */
const TRAITS = { set: "agents", concurrencySafe: true, mutating: true } as const;

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
    canonical: withOurNames,
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
    canonical: withOurNames,
  };
}

export function isAgentTool(name: string): name is AgentToolName {
  return name === "agent" || name === "delegate";
}

/** Models that were trained on another harness call the type `subagent_type`. */
function withOurNames({ subagent_type, ...args }: JsonObject): JsonObject {
  return subagent_type === undefined || args.type !== undefined ? args : { ...args, type: subagent_type };
}

function short(description: string): string {
  const line = description.replace(/\s+/g, " ").trim();
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1)}…` : line;
}
