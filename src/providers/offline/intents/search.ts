/** Finding text: where it is, in which files, how often, where a name is defined. */
import { type Intent, possibleForms } from "../intent.js";
import { planSearch } from "../plans/search.js";
import type { RequestText } from "../request-text.js";
import { looksLikeFile, looksLikePath, parseScope, type Scope, WHOLE_PROJECT } from "../scope.js";
import { isTag, parseTerms, type SearchTerms } from "../search-terms.js";
import { SEARCH_FORMS, type SearchForm } from "./search-forms.js";
import { takeWishes, type Wishes } from "./search-wishes.js";

export type SearchGoal = "lines" | "files" | "count" | "per-file" | "most" | "exists" | "definition";

export interface SearchSlots {
  readonly goal: SearchGoal;
  readonly terms: readonly string[];
  readonly scope: Scope;
  readonly regex?: true;
  readonly ignoreCase?: true;
  readonly wholeWord?: true;
}

export function parseSearch(request: RequestText): SearchSlots | undefined {
  const { text, wishes } = takeWishes(request.text);
  for (const candidate of possibleForms(SEARCH_FORMS, text)) {
    const groups = candidate.pattern.exec(text)?.groups;
    if (groups?.term === undefined) continue;
    const found = parseTerms(groups.term, request, candidate);
    if (found === undefined || !isMeant(found, candidate)) continue;
    const scope = groups.scope === undefined ? WHOLE_PROJECT : parseScope(groups.scope, request);
    if (scope === undefined) continue;
    return slotsOf(found, scope, { form: candidate, wishes });
  }
  return undefined;
}

function isMeant(found: SearchTerms, candidate: SearchForm): boolean {
  if (candidate.name) return found.regex !== true && found.terms.every(isName);
  if (found.quoted) return true;
  if (candidate.tagOnly) return found.anyCase === true || found.terms.every(isTag);
  // "find package.json" asks for a file.
  return (
    candidate.mostWords > 1 ||
    !found.terms.some((term) => looksLikeFile(term) || looksLikePath(term) || /[*?]/.test(term))
  );
}

function isName(term: string): boolean {
  return /^#?[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[\w$]+)*(?:\(\))?$/.test(term);
}

interface Shape {
  readonly form: SearchForm;
  readonly wishes: Wishes;
}

function slotsOf(found: SearchTerms, scope: Scope, { form: shape, wishes }: Shape): SearchSlots {
  const goal = shape.goal === "lines" || shape.goal === "count" ? (wishes.goal ?? shape.goal) : shape.goal;
  const ignoreCase = wishes.ignoreCase === true || found.anyCase === true;
  return {
    goal,
    terms: shape.name ? found.terms.map((term) => term.replace(/\(\)$/, "")) : found.terms,
    scope,
    ...(found.regex && { regex: true as const }),
    ...(ignoreCase && { ignoreCase: true as const }),
    ...((wishes.wholeWord || shape.name) && { wholeWord: true as const }),
  };
}

export const searchIntent: Intent<SearchSlots> = { name: "search", parse: parseSearch, plan: planSearch };
