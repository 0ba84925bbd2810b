/**
 * Text that the user gives the model with commands: for the next input, and pinned. Both follow the input in the conversation, with a
 * label that names the command.
 */
import type { Turn } from "../../engine/turn.js";
import { addContext } from "../../feature/add-context.js";
import type { SessionPart } from "../../feature/part.js";
import type { Gathering } from "./commands.js";
import type { GatheredContext } from "./gathered-context.js";
import type { PinnedContext } from "./pinned-context.js";

export interface GivenContext {
  readonly pinned: PinnedContext;
  readonly gathered: GatheredContext;
  gathering(): Promise<Gathering>;
}

export function given({ pinned, gathered, gathering }: GivenContext): SessionPart {
  const add = (turn: Turn): undefined => {
    const news = pinned.takeNews();
    if (news !== undefined) addContext(turn, { source: "pinned context", text: news });
    for (const { label, text } of gathered.take()) addContext(turn, { source: label, text: `${label}\n${text}` });
  };
  return {
    name: "gathered context",
    hooks: { start: [{ name: "11-gathered", run: add }] },
    pinned: () => pinned.blocks,
    commands: async () => (await import("./commands.js")).sessionCommands(gathering),
  };
}
