/**
 * The knowledge base of a session. Nothing loads before a command or the tool is used. Only a user who has a knowledge base gets
 * offers to record what an answer states, and only there the model has the tool.
 */
import type { Tool } from "../../engine/ports.js";
import type { NamedHook } from "../../engine/turn.js";
import type { SessionPart } from "../../feature/part.js";
import { KB_TOOL } from "./kb-tool-definition.js";
import type { KnowledgeContext, SessionKnowledge } from "./session-knowledge.js";
import { hasKnowledge } from "./settings.js";

export function knowledgeBase(context: KnowledgeContext): SessionPart {
  if (context.parent !== undefined) return { name: "knowledge base" };
  const { roots, settings } = context;
  let live: Promise<SessionKnowledge> | undefined;
  const open = () => {
    live ??= import("./session-knowledge.js").then(({ SessionKnowledge }) => new SessionKnowledge(context));
    return live;
  };
  const tool: Tool = {
    ...KB_TOOL,
    run: async (args) => {
      const [{ runKbTool }, live] = await Promise.all([import("./kb-tool.js"), open()]);
      return runKbTool(args, await live.port());
    },
  };
  return {
    name: "knowledge base",
    tools: hasKnowledge(roots) ? [tool] : [],
    hooks: { done: settings.kb_offer.value ? [offerHook(context, open)] : [] },
    commands: async () => (await import("./commands.js")).sessionCommands(await open()),
    statusRows: async () => [["knowledge", await projectText(context, open)]],
    close: async () => (await live)?.close(),
  };
}

/** The project of this folder. A user without a knowledge base gets none by asking. */
async function projectText({ roots, root }: KnowledgeContext, open: () => Promise<SessionKnowledge>): Promise<string> {
  if (!hasKnowledge(roots)) return "none (/kb)";
  const { base } = await (await open()).port();
  return base.current(root)?.name ?? "no project in this folder (/kb)";
}

/** After a turn that was answered, when a person is there to accept. */
function offerHook({ roots, person, ...context }: KnowledgeContext, open: () => Promise<SessionKnowledge>): NamedHook {
  const isHeadless = () => !person.present() || context.isHeadless;
  return {
    name: "66-kb-offer",
    run: async (turn) => {
      const isAnswered = (turn.outcome ?? turn.failure ?? turn.stopped ?? turn.cancelReason) === undefined;
      if (isAnswered && !isHeadless() && hasKnowledge(roots)) await (await open()).offer(turn);
      return undefined;
    },
  };
}
