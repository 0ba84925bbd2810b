import { asAdded, withOrigin } from "../base/message-origin.js";
import type { Turn } from "../engine/turn.js";
import { contextMessage } from "../protocol/content.js";

/** Text that the model gets from now on. It is in the log, so a resumed session has it too. */
export interface AddedContext {
  /** The name of what adds it, for people: `hook SessionStart`, `memory`. */
  readonly source: string;
  readonly text: string;
}

/** Adds a message at the end of the conversation; not while calls wait for their results. */
export function addContext(turn: Turn, { source, text }: AddedContext): void {
  if (text.trim() === "") return;
  const event = turn.bus.publish("ContextAdded", { turn: turn.id, source, text });
  turn.conversation.push(asAdded(withOrigin(contextMessage(text), event)));
}
