/**
 * The knowledge base of a session. Nothing loads before a command or the tool is used. Only a user who has a knowledge base gets
 * offers to record what an answer states, and only there the model has the tool.
 */
import { KB_TOOL } from "../../context/knowledge-base/kb-tool-definition.js";
import type { Tool } from "../../engine/ports.js";
import type { NamedHook } from "../../engine/turn.js";
import { hasKnowledge } from "../knowledge-base/has-knowledge.js";
import type { Opening } from "../opening.js";
import type { CreateBuiltIn } from "./built-in.js";
import type { LiveKnowledge } from "./live-knowledge.js";

export const knowledgeBase: CreateBuiltIn = (opening) => {
  if (opening.parent !== undefined) return { name: "knowledge base" };
  let live: Promise<LiveKnowledge> | undefined;
  const open = () => {
    live ??= import("./live-knowledge.js").then(({ LiveKnowledge }) => new LiveKnowledge(opening));
    return live;
  };
  const { loaded } = opening.engine;
  const { kb_offer, tool_sets } = loaded.settings;
  const isOffered = hasKnowledge(loaded.roots) && tool_sets.value.offers(KB_TOOL.name, "edit");
  const tool: Tool = {
    ...KB_TOOL,
    run: async (args) => {
      const [{ runKbTool }, live] = await Promise.all([import("../knowledge-base/kb-tool.js"), open()]);
      return runKbTool(args, await live.port());
    },
  };
  return {
    name: "knowledge base",
    ...(isOffered && { tools: [tool] }),
    ...(kb_offer.value && { hooks: { done: [offerHook(opening, open)] } }),
    commands: async () =>
      (await import("../commands/session-knowledge-base.js")).sessionKnowledgeCommands(await open()),
    statusRows: async () => [["knowledge", await projectText(opening, open)]],
    close: async () => (await live)?.close(),
  };
};

/** The project of this folder. A user without a knowledge base gets none by asking. */
async function projectText({ engine, root }: Opening, open: () => Promise<LiveKnowledge>): Promise<string> {
  if (!hasKnowledge(engine.loaded.roots)) return "none (/kb)";
  const { base } = await (await open()).port();
  return base.current(root)?.name ?? "no project in this folder (/kb)";
}

/** After a turn that was answered, when a person is there to accept. */
function offerHook({ engine, person }: Opening, open: () => Promise<LiveKnowledge>): NamedHook {
  const isHeadless = () => !person.present() || (engine.flags?.words.length ?? 0) > 0;
  return {
    name: "66-kb-offer",
    run: async (turn) => {
      const isAnswered = (turn.outcome ?? turn.failure ?? turn.stopped ?? turn.cancelReason) === undefined;
      if (isAnswered && !isHeadless() && hasKnowledge(engine.loaded.roots)) await (await open()).offer(turn);
      return undefined;
    },
  };
}
