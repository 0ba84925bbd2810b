/** What happens with a text that the person sends. */
import { type ImageBlock, type InputContent, text as textBlock } from "../../../protocol/content.js";
import type { Effect, Reduced, State } from "../state.js";

export interface Submission {
  readonly text: string;
  readonly images: readonly ImageBlock[];
  /** `later`: after the turn that runs, as a turn of its own. */
  readonly when: "now" | "later";
}

export function reduceSubmit(state: State, { text, images, when }: Submission, now: number): Reduced {
  const typed = text.trim();
  if (typed === "" && images.length === 0) return { state, effects: [] };
  if (typed.startsWith("!")) return shell(state, typed, now);
  const [, verb, args = ""] = /^\/(\S+)\s*(.*)$/s.exec(typed) ?? [];
  if (verb !== undefined && isCommandName(verb)) return command(state, { line: typed, verb, args }, now);
  const context = state.context.map((output) => textBlock(output));
  const content: readonly InputContent[] = [...images, ...context, textBlock(text)];
  if (state.turn !== undefined) {
    const delivery = when === "later" ? { queue: true } : { steer: true };
    return {
      state: { ...state, context: [] },
      effects: [{ do: "send", kind: "SendInput", payload: { content, ...delivery } }],
    };
  }
  const turn = { startedAt: now, text, answered: false, modelMs: 0, cancelling: false };
  const effects: readonly Effect[] = [{ do: "send", kind: "SendInput", payload: { content } }];
  return { state: { ...state, turn, context: [] }, effects };
}

/** `/usr/bin/x is broken` is a prompt, not a command. */
function isCommandName(verb: string): boolean {
  return /^[a-z][\w:-]*$/i.test(verb);
}

function shell(state: State, typed: string, now: number): Reduced {
  const share = typed.startsWith("!!");
  const line = typed.slice(share ? 2 : 1).trim();
  if (line === "") return { state, effects: [] };
  if (state.turn !== undefined || state.shell !== undefined) {
    const hint = { text: "A command of yours has to wait until the turn has ended.", until: now + 4000 };
    return { state: { ...state, hint }, effects: [{ do: "restore", text: typed }] };
  }
  return {
    state: { ...state, shell: { command: line, output: "", startedAt: now } },
    effects: [{ do: "shell", command: line, share }],
  };
}

function command(
  state: State,
  { line, verb, args }: { readonly line: string; readonly verb: string; readonly args: string },
  now: number,
): Reduced {
  return {
    state: { ...state, command: { line, startedAt: now } },
    effects: [{ do: "command", line, verb, args }],
  };
}
