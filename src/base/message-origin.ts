/**
 * Describes where in the log a message began, for callers that name the first message to keep. It is stored beside the message,
 * not in it, because the model gets the whole message. Results of calls have none, because no conversation can begin with them.
 */
import type { Message } from "../protocol/content.js";

const origins = new WeakMap<Message, number>();

/** The event with which the message began. */
export function withOrigin<M extends Message>(message: M, event: number): M {
  origins.set(message, event);
  return message;
}

export function originOf(message: Message): number | undefined {
  return origins.get(message);
}

const added = new WeakSet<Message>();

/** A message that Oxbow or a command added: not the user's own words. */
export function asAdded<M extends Message>(message: M): M {
  added.add(message);
  return message;
}

export function isAdded(message: Message): boolean {
  return added.has(message);
}
