/**
 * The part with the tool `agent`. Until the first call there is only its description; the types of files are read before the first
 * request, because the description lists them.
 */
import { existsSync, readdirSync } from "node:fs";
import { extensionStamp } from "../../base/extension-files.js";
import type { Tool, ToolLink, ToolOutcome } from "../../engine/ports.js";
import type { SessionPart } from "../../feature/part.js";
import { ownText } from "../../protocol/content.js";
import { type AgentType, agentTypes } from "./agent-types.js";
import type { SubagentsContext } from "./context.js";
import { AGENT_TOOL, agentTool } from "./definition.js";
import { worktreeRecords } from "./settings.js";
import type { SubagentCalls } from "./subagent-calls.js";

export async function subagents(context: SubagentsContext): Promise<SessionPart> {
  const { extensions, parent, settings } = context;
  const { types } = await agentTypes(extensions.of("agent"));
  const isOffered = context.mayOffer({ name: AGENT_TOOL, set: "agents" });
  const canStart = isOffered && (parent?.depth ?? 0) < settings.agent_depth.value;
  const listed = {
    commandsStamp: () => extensionStamp(extensions, ["agent"]),
    commands: async () => (await import("./commands.js")).sessionCommands(context, { canStart }),
  };
  const swept = parent === undefined ? sweep(context) : undefined;
  if (!canStart) return { name: "subagents", ...listed, close: () => swept };
  let calls: Promise<SubagentCalls> | undefined;
  const link: ToolLink = {
    name: "95-subagents",
    run: async (call, about, next) => {
      if (about.definition.set !== "agents") return next(call);
      calls ??= import("./subagent-calls.js").then(({ SubagentCalls }) => new SubagentCalls(context));
      return (await calls).answer(call, about);
    },
  };
  const offered = types.filter(({ name }) => parent?.agents?.includes(name) ?? true);
  return {
    name: "subagents",
    tools: [describedAgent(offered, { cheap: knowsCheaperModel(context) })],
    links: { tool: [link] },
    ...listed,
    close: async () => {
      await (await calls)?.close();
      await swept;
    },
  };
}

/** Ends the worktrees of subagents that were killed, beside the first request. */
async function sweep({ roots, git, notify, log }: SubagentsContext): Promise<void> {
  const records = worktreeRecords(roots);
  if (!existsSync(records) || readdirSync(records).length === 0) return;
  try {
    const { sweepWorktrees } = await import("./worktree.js");
    for (const line of await sweepWorktrees(records, await git())) notify(line);
  } catch (error) {
    log("warn", "subagents", "worktrees of killed subagents cannot be ended", { error: String(error) });
  }
}

/** Describes the tool as the model sees it. */
export function describedAgent(types: readonly AgentType[], models: { readonly cheap: boolean }): Tool {
  return { ...agentTool(types, models), run: outside };
}

function knowsCheaperModel({ models, settings }: SubagentsContext): boolean {
  return (
    settings.delegate_model.value !== undefined || /claude/i.test(models.first.model) || models.routes.mayHaveAny()
  );
}

/** The link answers every call of the chain. */
async function outside(): Promise<ToolOutcome> {
  return { status: "error", content: [ownText("A subagent can only be started in a turn.")] };
}
