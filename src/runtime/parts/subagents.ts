/**
 * The part with the tools `agent` and `delegate`. Until the first call there are only their descriptions; the types of files are read
 * before the first request, because the description lists them.
 */

import { existsSync, readdirSync } from "node:fs";
import { extensionStamp } from "../../base/extension-files.js";
import type { Tool, ToolLink, ToolOutcome } from "../../engine/ports.js";
import type { Turn } from "../../engine/turn.js";
import type { AgentType } from "../../extensions/subagents/agent-type.js";
import { type AgentTypes, agentTypes } from "../../extensions/subagents/agent-types.js";
import { agentTool, delegateTool } from "../../extensions/subagents/definition.js";
import { Slots, TurnCount } from "../../extensions/subagents/limits.js";
import { ownText } from "../../protocol/content.js";
import type { SessionParts } from "../open-engine.js";
import type { Opening } from "../opening.js";
import type { SessionPart } from "../part.js";
import { worktreeRecords } from "../subagents/running-subagents.js";
import type { SubagentCalls } from "../subagents/subagent-calls.js";
import { SUBAGENT_TOOLS } from "./own-tools.js";

export interface SessionAgents {
  readonly types: AgentTypes;
  readonly slots: Slots;
  countOf(turn: Turn): TurnCount;
}

export async function subagents(opening: Opening): Promise<SessionPart> {
  const { engine, extensions, parent } = opening;
  const { tool_sets, agent_depth, agents_at_once, agents_per_turn } = engine.loaded.settings;
  const types = await agentTypes(extensions.of("agent"));
  const canStart =
    SUBAGENT_TOOLS.some((tool) => tool_sets.value.offers(tool, "agents")) && (parent?.depth ?? 0) < agent_depth.value;
  const listed = {
    commandsStamp: () => extensionStamp(extensions, ["agent"]),
    commands: async () => (await import("../commands/agents.js")).sessionAgentCommands(opening, { canStart }),
  };
  const swept = parent === undefined ? sweep(engine) : undefined;
  if (!canStart) return { name: "subagents", ...listed, close: () => swept };
  const counts = new WeakMap<Turn, TurnCount>();
  const agents: SessionAgents = {
    types,
    slots: new Slots(agents_at_once.value),
    countOf: (turn) => {
      const count = parent?.count ?? counts.get(turn) ?? new TurnCount(agents_per_turn.value);
      counts.set(turn, count);
      return count;
    },
  };
  let calls: Promise<SubagentCalls> | undefined;
  const link: ToolLink = {
    name: "95-subagents",
    run: async (call, context, next) => {
      if (context.definition.set !== "agents") return next(call);
      calls ??= import("../subagents/subagent-calls.js").then(
        ({ SubagentCalls }) => new SubagentCalls(opening, agents),
      );
      return (await calls).answer(call, context);
    },
  };
  const offered = types.types.filter(({ name }) => parent?.agents?.includes(name) ?? true);
  return {
    name: "subagents",
    tools: agentTools(offered, { delegate: knowsCheaperModel(engine) ? "offered" : "left out" }),
    links: { tool: [link] },
    ...listed,
    close: async () => {
      await (await calls)?.close();
      await swept;
    },
  };
}

/** Ends the worktrees of subagents that were killed, beside the first request. */
async function sweep({ loaded, variables, notify, log }: SessionParts): Promise<void> {
  const records = worktreeRecords(loaded.roots);
  if (!existsSync(records) || readdirSync(records).length === 0) return;
  try {
    const { sweepWorktrees } = await import("../subagents/worktree.js");
    for (const line of await sweepWorktrees(records, variables)) notify(line);
  } catch (error) {
    log("warn", "subagents", "worktrees of killed subagents cannot be ended", { error: String(error) });
  }
}

/** The tools as the model sees them. */
export function agentTools(
  types: readonly AgentType[],
  { delegate }: { readonly delegate: "offered" | "left out" },
): readonly Tool[] {
  const definitions = [
    agentTool(types, { cheap: delegate === "offered" }),
    ...(delegate === "offered" ? [delegateTool()] : []),
  ];
  return definitions.map((definition) => ({ ...definition, run: outside }));
}

/** Without a cheaper model, `delegate` would do what `agent` does, and every request would pay for its description. */
export function knowsCheaperModel({
  loaded,
  routes,
  model,
}: Pick<SessionParts, "loaded" | "routes" | "model">): boolean {
  const { delegate_model } = loaded.settings;
  return delegate_model.value !== undefined || /claude/i.test(model.model) || routes.mayHaveAny();
}

/** The link answers every call of the chain. */
async function outside(): Promise<ToolOutcome> {
  return { status: "error", content: [ownText("A subagent can only be started in a turn.")] };
}
