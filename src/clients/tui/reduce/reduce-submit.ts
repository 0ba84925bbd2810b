/** Handles a text that the user sends. */

import type { TypedInput } from "../../../base/typed-input.js";
import { type ImageBlock, type InputContent, text as textBlock } from "../../../protocol/content.js";
import { type Effect, type Reduced, type State, without } from "../state.js";
import { hinted } from "./expire.js";

export interface Submitted {
  readonly sent: TypedInput;
  /** The text as typed. */
  readonly text: string;
  readonly images: readonly ImageBlock[];
  /** `later`: after the running turn, as a separate turn. */
  readonly when: "now" | "later";
}

export function reduceSubmit(before: State, submitted: Submitted, now: number): Reduced {
  const state = without(before, "passesReview");
  const { sent, text } = submitted;
  switch (sent.kind) {
    case "shell":
      return shell(state, sent, { text, now });
    case "slash":
      return {
        state: { ...state, command: { line: text, startedAt: now } },
        effects: [{ do: "command", line: text, verb: sent.name, args: sent.rest }],
      };
    case "prompt":
      return prompt(state, submitted, now);
  }
}

function prompt(state: State, { text, images, when }: Submitted, now: number): Reduced {
  if (text.trim() === "" && images.length === 0) return { state, effects: [] };
  const context = state.context.map((output) => textBlock(output));
  // The prompt comes first: it names the session.
  const content: readonly InputContent[] = [...images, textBlock(text), ...context];
  const { turn } = state;
  if (turn !== undefined) {
    const delivery = when === "later" ? { queue: true } : { steer: true };
    return {
      state: { ...state, context: [] },
      effects: [{ do: "send", kind: "SendInput", payload: { content, ...delivery } }],
    };
  }
  const begun = { startedAt: now, text, answered: false, cancelling: false };
  const effects: readonly Effect[] = [{ do: "send", kind: "SendInput", payload: { content } }];
  return { state: { ...without(state, "plan"), turn: begun, context: [] }, effects };
}

function shell(
  state: State,
  { command, share }: Extract<TypedInput, { readonly kind: "shell" }>,
  { text, now }: { readonly text: string; readonly now: number },
): Reduced {
  if (state.turn !== undefined || state.shell !== undefined) {
    const waits = hinted(state, "Your command has to wait until the turn has ended.", now);
    return { state: waits, effects: [{ do: "restore", text }] };
  }
  return {
    state: { ...state, shell: { command, unshared: !share, output: "", startedAt: now } },
    effects: [{ do: "shell", command, share }],
  };
}
