/** Finding text: where it is, in which files, how often, where a name is defined. */
import type { Matcher } from "../intent.js";
import phrases from "../phrases/search.txt";
import { PhraseBook } from "../phrases.js";
import { planSearch } from "../plans/search.js";
import type { RequestText } from "../request-text.js";
import { looksLikeFile, looksLikePath, parseScope, type Scope } from "../scope.js";
import { takeOptions } from "../search-options.js";
import { isTag, parseTerms, type SearchTerms, type TermRules } from "../search-terms.js";

export type SearchGoal = "lines" | "files" | "count" | "per-file" | "most" | "exists" | "definition";

export interface SearchSlots {
  readonly goal: SearchGoal;
  readonly terms: readonly string[];
  readonly scope: Scope;
  readonly regex?: true;
  readonly ignoreCase?: true;
  readonly wholeWord?: true;
}

/** How a phrase interprets its search term. */
interface SearchForm extends TermRules {
  /** After this verb, only a tag such as TODO is literal without quotes. */
  readonly tagOnly: boolean;
  /** A name of the program, not any text. */
  readonly name: boolean;
}

const PHRASES = new PhraseBook(phrases);

function parseSearch(request: RequestText): SearchSlots | undefined {
  const { text, options } = takeOptions(request.text);
  for (const { meaning, traits, slots } of PHRASES.matches(text)) {
    const form: SearchForm = {
      mostWords: Number(traits.words ?? 1),
      tagOnly: traits.tagOnly !== undefined,
      name: traits.name !== undefined,
      ...(traits.verbatim !== undefined && { verbatim: traits.verbatim as "keyword" | "any" }),
    };
    const found = parseTerms(slots.term ?? "", request, form);
    const scope = parseScope(slots.scope ?? "", request);
    if (found === undefined || scope === undefined || !isMeant(found, form)) continue;
    const goal = meaning as SearchGoal;
    return {
      goal: goal === "lines" || goal === "count" ? (options.goal ?? goal) : goal,
      terms: form.name ? found.terms.map((term) => term.replace(/\(\)$/, "")) : found.terms,
      scope,
      ...(found.regex && { regex: true }),
      ...((options.ignoreCase || found.anyCase) && { ignoreCase: true }),
      ...((options.wholeWord || form.name) && { wholeWord: true }),
    };
  }
  return undefined;
}

function isMeant(found: SearchTerms, form: SearchForm): boolean {
  if (form.name) return found.regex !== true && found.terms.every(isName);
  if (found.quoted) return true;
  if (form.tagOnly) return found.anyCase === true || found.terms.every(isTag);
  // "find package.json" asks for a file.
  const isFile = (term: string) => looksLikeFile(term) || looksLikePath(term) || /[*?]/.test(term);
  return form.mostWords > 1 || !found.terms.some(isFile);
}

function isName(term: string): boolean {
  return /^#?[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[\w$]+)*(?:\(\))?$/.test(term);
}

export const matchSearch: Matcher = (request) => {
  const slots = parseSearch(request);
  return slots && { intent: "search", slots, plan: () => planSearch(slots) };
};
