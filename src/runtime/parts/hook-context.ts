/** Text that a hook adds for the model. It waits until it fits into the conversation: never between a call and its result. */
import { withOrigin } from "../../base/message-origin.js";
import { TurnFailure } from "../../engine/cancel.js";
import type { Turn } from "../../engine/turn.js";
import { type Message, text } from "../../protocol/content.js";

const MAX_CHARACTERS = 32_000;
/** By conversation: text that comes too late for a turn is added to the next one. */
const waiting = new WeakMap<readonly Message[], string[]>();

export function contextTo(turn: Turn, words: string): void {
  const list = waiting.get(turn.conversation) ?? [];
  waiting.set(turn.conversation, [...list, words.slice(0, MAX_CHARACTERS)]);
}

/** Before a request is assembled: answers every call, and adds the text of hooks to the conversation. */
export async function prepareConversation(turn: Turn): Promise<void> {
  try {
    await finishCalls(turn);
  } catch (error) {
    if (error instanceof TurnFailure) turn.fail(error.failure);
    else throw error;
  }
  addContext(turn);
}

/** Runs the remaining calls and adds all results to the conversation. */
export async function finishCalls(turn: Turn): Promise<void> {
  const { dispatch } = turn;
  if (dispatch === undefined || dispatch.size === 0) return;
  turn.dispatch = undefined;
  const { results, failure } = await dispatch.finish();
  turn.conversation.push({ role: "user", content: results });
  if (failure !== undefined) throw new TurnFailure(failure);
}

/** In the log it is an input that steers the turn. */
function addContext(turn: Turn): void {
  const list = waiting.get(turn.conversation);
  if (list === undefined) return;
  waiting.delete(turn.conversation);
  const input = [text(list.join("\n\n"))];
  const from = turn.bus.originator;
  turn.bus.publish("InputQueued", { input, delivery: "steer", from });
  const event = turn.bus.publish("InputSteered", { turn: turn.id, input, from });
  turn.conversation.push(withOrigin({ role: "user", content: input }, event));
}
