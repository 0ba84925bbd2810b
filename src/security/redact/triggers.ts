/** Finds the places that may belong to a secret. */
import { findOwnSecret } from "../../system/own-secrets.js";
import { CONTEXT_PATTERNS } from "./context-patterns.js";
import { ASSIGNMENT_TRIGGER, NAME_GRAMS } from "./find-assignments.js";
import { TOKEN_GRAMS, tokenTouches } from "./find-tokens.js";
import { GramTable } from "./grams.js";

const GRAMS = new GramTable([...TOKEN_GRAMS, ...NAME_GRAMS, ...CONTEXT_PATTERNS.flatMap(({ grams }) => grams), "----"]);

const TRIGGER = new RegExp(
  `.?(?:${[ASSIGNMENT_TRIGGER, ...CONTEXT_PATTERNS.map(({ trigger }) => trigger), "-----BEGIN"].join("|")})`,
  "isy",
);

/** So many closer looks cost more than to judge a segment. */
const MOST_LOOKS = 64;

/** The next place that may belong to a secret of a known form, or infinity. */
export function findTrigger(text: string, from: number): number {
  let at = GRAMS.find(text, Math.max(0, from - 1));
  for (let looks = 0; at !== -1; looks++) {
    TRIGGER.lastIndex = at;
    // A gram that starts with a border lies one before the beginning.
    const isHit = () => TRIGGER.test(text) || tokenTouches(text, at) || tokenTouches(text, at + 1);
    if (looks === MOST_LOOKS || isHit()) return Math.max(at, from);
    at = GRAMS.find(text, at + 1);
  }
  return Number.POSITIVE_INFINITY;
}

/** Finds where a stream may have to wait, or -1: like `findTrigger`, without the closer look, and the keys of this process. */
export function findHint(text: string, from: number): number {
  const form = GRAMS.find(text, from);
  const own = findOwnSecret(form === -1 ? text : text.slice(0, form), from)?.start ?? -1;
  return own === -1 ? form : own;
}
