/**
 * The knowledge base of a session. Nothing loads before a command is used. Only a user who has a knowledge base gets offers
 * to record what an answer states.
 */
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
  const { kb_offer } = opening.engine.loaded.settings;
  return {
    name: "knowledge base",
    ...(kb_offer.value && { hooks: { done: [offerHook(opening, open)] } }),
    commands: async () =>
      (await import("../commands/session-knowledge-base.js")).sessionKnowledgeCommands(await open()),
    close: async () => (await live)?.close(),
  };
};

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
