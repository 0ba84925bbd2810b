/** Completion for the line editor of Node. */
import type { AsyncCompleter } from "node:readline";

/** Describes what Tab completes: the texts that continue the typed one, and the typed one. */
export type LineCompletion = (line: string) => Promise<readonly [readonly string[], string]>;

/** A failed completion completes nothing. */
export function completerOf(complete: LineCompletion, isPrompt: () => boolean): AsyncCompleter {
  return (line, done) => {
    const found = isPrompt() ? complete(line) : Promise.resolve([[], line] as const);
    found.then(
      ([texts, typed]) => done(null, [[...texts], typed]),
      () => done(null, [[], line]),
    );
  };
}
