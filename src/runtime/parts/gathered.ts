/**
 * Text that the user gives the model with commands: for the next input, and pinned. Both follow the input in the conversation, with a
 * label that names the command.
 */

import { GatheredContext } from "../../context/pinned/gathered-context.js";
import { PinnedContext } from "../../context/pinned/pinned-context.js";
import type { Turn } from "../../engine/turn.js";
import { addContext } from "../../feature/add-context.js";
import type { CreateBuiltIn } from "./built-in.js";

export const gathered: CreateBuiltIn = (opening) => {
  const { before, resumed, parent, built } = opening;
  const pinned =
    resumed === undefined
      ? new PinnedContext(parent === undefined ? before?.pinned.text : undefined)
      : PinnedContext.from(resumed.rebuilt.messages);
  const texts = new GatheredContext();
  built.add({ pinned, gathered: texts });
  const add = (turn: Turn): undefined => {
    const news = pinned.takeNews();
    if (news !== undefined) addContext(turn, { source: "pinned context", text: news });
    for (const { label, text } of texts.take()) addContext(turn, { source: label, text: `${label}\n${text}` });
  };
  return {
    name: "gathered context",
    hooks: { start: [{ name: "11-gathered", run: add }] },
    pinned: () => pinned.blocks,
    commands: async () => (await import("../commands/context/commands.js")).contextCommands(opening),
  };
};
