/** Cuts the text of a model into deltas. */
import type { Pace, TextAction, ThinkingAction, ToolAction } from "../script/script.js";

/** The approximate length of a token of argument JSON. */
const ARGUMENT_PIECE = 12;

/** By default one delta per word, as the services do. */
export function* textDeltas(action: TextAction | ThinkingAction): Generator<string> {
  const { text, repeat = 1, chunks, size } = action;
  if (chunks !== undefined || size !== undefined) {
    yield* pieces(text.repeat(repeat), { chunks, size });
    return;
  }
  const words = text.match(/\s*\S+(?:\s+$)?|\s+$/g) ?? [];
  for (let i = 0; i < repeat; i++) yield* words;
}

export function argumentDeltas({ args, chunks, size }: ToolAction): Generator<string> {
  return pieces(args, { chunks, size: size ?? (chunks === undefined ? ARGUMENT_PIECE : undefined) });
}

/** The whole text, never cut inside a character. */
export function fullText({ text, repeat = 1 }: TextAction | ThinkingAction): string {
  return text.repeat(repeat);
}

type Cut = { readonly [K in "chunks" | "size"]: Pace[K] | undefined };

function* pieces(text: string, { chunks, size }: Cut): Generator<string> {
  const letters = Array.from(text);
  const count =
    chunks === undefined ? Math.ceil(letters.length / (size ?? letters.length)) : Math.min(chunks, letters.length);
  for (let i = 0; i < count; i++) {
    const from = chunks === undefined ? i * (size ?? 0) : Math.floor((i * letters.length) / count);
    const to = chunks === undefined ? from + (size ?? letters.length) : Math.floor(((i + 1) * letters.length) / count);
    yield letters.slice(from, to).join("");
  }
}
