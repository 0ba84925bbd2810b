/**
 * The part with the tools `agent` and `delegate`. Until the first call there are only their descriptions; the types of files are read
 * before the first request, because the description lists them.
 */
import { existsSync, readdirSync } from "node:fs";
import { extensionStamp } from "../../base/extension-files.js";
import type { Tool, ToolLink, ToolOutcome } from "../../engine/ports.js";
import type { SessionPart } from "../../feature/part.js";
import { ownText } from "../../protocol/content.js";
import { type AgentType, agentTypes } from "./agent-types.js";
import type { SubagentsContext } from "./context.js";
import { agentTool, delegateTool } from "./definition.js";
import { worktreeRecords } from "./settings.js";
import type { SubagentCalls } from "./subagent-calls.js";

export async function subagents(context: SubagentsContext): Promise<SessionPart> {
  const { extensions, parent, settings } = context;
  const { types } = await agentTypes(extensions.of("agent"));
  const isOffered = ["agent", "delegate"].some((name) => context.mayOffer({ name, set: "agents" }));
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
    tools: agentTools(offered, { delegate: knowsCheaperModel(context) ? "offered" : "left out" }),
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

/** Describes the tools as the model sees them. */
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
function knowsCheaperModel({ models, settings }: SubagentsContext): boolean {
  return (
    settings.delegate_model.value !== undefined || /claude/i.test(models.first.model) || models.routes.mayHaveAny()
  );
}

/** The link answers every call of the chain. */
async function outside(): Promise<ToolOutcome> {
  return { status: "error", content: [ownText("A subagent can only be started in a turn.")] };
}
