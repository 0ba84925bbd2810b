/** Finding text: where it is, in which files, how often, where a name is defined. */
import type { Intent } from "../intent.js";
import phrases from "../phrases/search.txt";
import { PhraseBook } from "../phrases.js";
import { planSearch } from "../plans/search.js";
import type { RequestText } from "../request-text.js";
import { looksLikeFile, looksLikePath, parseScope, type Scope, WHOLE_PROJECT } from "../scope.js";
import { isTag, parseTerms, type SearchTerms, type TermRules } from "../search-terms.js";
import { type SearchOptions, takeOptions } from "./search-options.js";

export type SearchGoal = "lines" | "files" | "count" | "per-file" | "most" | "exists" | "definition";

export interface SearchSlots {
  readonly goal: SearchGoal;
  readonly terms: readonly string[];
  readonly scope: Scope;
  readonly regex?: true;
  readonly ignoreCase?: true;
  readonly wholeWord?: true;
}

/** How a way of asking reads what is looked for. */
interface SearchForm extends TermRules {
  readonly goal: SearchGoal;
  /** Unquoted, only a tag such as TODO is meant literally after this verb. */
  readonly tagOnly: boolean;
  /** A name of the program, not any text. */
  readonly name: boolean;
}

const PHRASES = new PhraseBook(phrases);

export function parseSearch(request: RequestText): SearchSlots | undefined {
  const { text, options } = takeOptions(request.text);
  for (const { meaning, traits, slots } of PHRASES.matches(text)) {
    const form: SearchForm = {
      goal: meaning as SearchGoal,
      mostWords: Number(traits.words ?? 1),
      tagOnly: traits.tagOnly !== undefined,
      name: traits.name !== undefined,
      ...(traits.verbatim !== undefined && { verbatim: traits.verbatim as "keyword" | "any" }),
    };
    const found = slots.term === undefined ? undefined : parseTerms(slots.term, request, form);
    if (found === undefined || !isMeant(found, form)) continue;
    const scope = slots.scope === undefined ? WHOLE_PROJECT : parseScope(slots.scope, request);
    if (scope !== undefined) return slotsOf(found, scope, { form, options });
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

interface Shape {
  readonly form: SearchForm;
  readonly options: SearchOptions;
}

function slotsOf(found: SearchTerms, scope: Scope, { form: shape, options }: Shape): SearchSlots {
  const goal = shape.goal === "lines" || shape.goal === "count" ? (options.goal ?? shape.goal) : shape.goal;
  const ignoreCase = options.ignoreCase === true || found.anyCase === true;
  return {
    goal,
    terms: shape.name ? found.terms.map((term) => term.replace(/\(\)$/, "")) : found.terms,
    scope,
    ...(found.regex && { regex: true as const }),
    ...(ignoreCase && { ignoreCase: true as const }),
    ...((options.wholeWord || shape.name) && { wholeWord: true as const }),
  };
}

export const searchIntent: Intent<SearchSlots> = { name: "search", parse: parseSearch, plan: planSearch };
