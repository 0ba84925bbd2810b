/** Running what the project itself declares: its tests, its build, a script by name. */
import type { Intent } from "../intent.js";
import phrases from "../phrases/script.txt";
import { PhraseBook } from "../phrases.js";
import { planScript } from "../plans/script.js";
import type { RequestText } from "../request-text.js";

export interface ScriptSlots {
  /** `test` is looked for in every ecosystem, other names among package scripts and make targets. */
  readonly script: string;
}

const PHRASES = new PhraseBook(phrases);

/** Other words for a script that is usually called something else. */
const SYNONYMS: readonly (readonly [RegExp, string])[] = [
  [/^lint/, "lint"],
  [/^format/, "format"],
  [/^checks?$/, "check"],
  [/^type/, "typecheck"],
  [/^bench/, "bench"],
  [/^compile$/, "build"],
];

export function parseScript(request: RequestText): ScriptSlots | undefined {
  for (const { meaning, slots } of PHRASES.matches(request.text)) {
    if (meaning === "test") return { script: "test" };
    const word = slots.script?.toLowerCase() ?? "";
    const known = SYNONYMS.find(([pattern]) => pattern.test(word))?.[1] ?? word;
    const script = slots.named === undefined ? known : request.term(slots.named).value;
    if (/^[\w:.@/-]+$/.test(script)) return { script };
  }
  return undefined;
}

export const scriptIntent: Intent<ScriptSlots> = { name: "script", parse: parseScript, plan: planScript };
