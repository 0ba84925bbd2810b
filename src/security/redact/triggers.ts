/** Finds the places that may belong to a secret. */
import { CONTEXT_PATTERNS } from "./context-patterns.js";
import { ASSIGNMENT_TRIGGER, NAME_GRAMS } from "./find-assignments.js";
import { TOKEN_GRAMS, tokenTouches } from "./find-tokens.js";
import { GramTable } from "./grams.js";

const GRAMS = new GramTable([...TOKEN_GRAMS, ...NAME_GRAMS, ...CONTEXT_PATTERNS.flatMap(({ grams }) => grams), "----"]);

const TRIGGER = new RegExp(
  `.?(?:${[ASSIGNMENT_TRIGGER, ...CONTEXT_PATTERNS.map(({ trigger }) => trigger), "-----BEGIN"].join("|")})`,
  "isy",
);

/** The next place that may belong to a secret, or -1. */
export function findTrigger(text: string, from: number): number {
  let at = from === 0 ? findHint(text, 0) : findHint(text, from - 1);
  while (at !== -1) {
    TRIGGER.lastIndex = at;
    // A gram that starts with a border lies one before the beginning.
    if (TRIGGER.test(text) || tokenTouches(text, at) || tokenTouches(text, at + 1)) return Math.max(at, from);
    at = findHint(text, at + 1);
  }
  return -1;
}

/** Like `findTrigger`, without the closer look: what a stream may have to wait for. */
export function findHint(text: string, from: number): number {
  return GRAMS.find(text, from);
}
