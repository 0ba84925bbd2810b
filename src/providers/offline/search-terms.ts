/** The search terms of a request, without the words around them. */
import { MARK, type RequestText, type Term } from "./request-text.js";

export interface SearchTerms {
  /** Any of these; literal text unless `regex`. */
  readonly terms: readonly string[];
  readonly quoted: boolean;
  readonly regex?: true;
  /** The user wrote a tag in lower case ("todos"); the files may use any case. */
  readonly anyCase?: true;
}

const BEFORE =
  /^(?:(?:for|me|all|every|each|any|the|my|our|of|single|words?|strings?|text|phrase|terms?|identifier|symbol|name|keyword|literal|places? (?:with|where it says)|lines? (?:containing|with|that (?:contain|mention|have))|(?:occurrences?|instances?|mentions?|references?|uses?|usages?|appearances?|number|matches|calls?|hits?) (?:of|to|for)) +)+/i;

const AFTER =
  /(?: +(?:comments?|occurrences?|instances?|mentions?|markers?|notes?|annotations?|statements?|calls?|strings?|lines?|matches|tags?|items?|words?|entries|keywords?|references?|usages?|there))+$/i;

const REGEX_BEFORE =
  /^(?:(?:for|the|a|an|lines? matching|matching|all|every|matches of) +)*(?:regex|regexp|regular expression|pattern) +/i;

/** Things that only a reader who understands the code can find. */
const JUDGEMENTS =
  /^(?:bugs?|issues?|problems?|mistakes?|flaws?|weakness(?:es)?|vulnerabilit(?:y|ies)|leaks?|ways?|solutions?|reasons?|causes?|answers?|improvements?|duplicates?|duplication|typos?|smells?|unused|dead|slow|out|why|how|something|anything|everything|it|them|this|that|these|those|more|better|good|best|examples?|information|ideas?|dependenc(?:y|ies)|security|performance|me|you)\b/i;

const STOP_WORD = /^(?:the|an?|of|for|in|and|or|to|is|are|be|with|most|no|not|we|i|you|they)$/i;

/** Words for files and their parts; they are not search terms. */
const NOT_TEXT =
  /^(?:files?|folders?|director(?:y|ies)|functions|methods|classes|types|interfaces|exports|imports|headings?|symbols?|tests|test suites?|commits?|branch(?:es)?|changes|projects?|repo(?:sitory)?|code|codebase|lines?|words?|characters?|scripts?|tree|outline|stuff|things?|people|times)$/i;
/** Such a word is a search term only after a verb that asks for text ("grep for import"). */
const KEYWORD =
  /^(?:functions?|methods?|class(?:es)?|types?|interfaces?|exports?|imports?|tests?|changes?|users?|errors?|warnings?|exceptions?|failures?|an? .*)$/i;

/** After "and": a verb, not a second search term. */
const DEEDS =
  /^(?:fix|remove|delete|explain|replace|change|resolve|solve|implement|do|run|write|add|update|rename|refactor|summari[sz]e|improve|rewrite|tell|show|list|count|sort|then|make|create|open|print|read)\b/i;

export interface TermRules {
  /** How many unquoted words may form one term. */
  readonly mostWords: number;
  /** The words around it clearly ask for text: the term may be a `keyword`, or `any` word. */
  readonly verbatim?: "keyword" | "any";
}

export function parseTerms(words: string, request: RequestText, rules: TermRules): SearchTerms | undefined {
  const pattern = regexTerm(words, request);
  if (pattern !== undefined) return pattern;
  const rest = withoutNoise(words.trim());
  const parts = rest.split(/(?:,| and| or|,? as well as)+ +/i).map((part) => withoutNoise(part.trim()));
  if (parts.length > 1 && parts.every((part) => /^\S+$/.test(part) && !DEEDS.test(part))) {
    const each = parts.map((part) => parseOne(part, request, { ...rules, mostWords: 1 }));
    return each.every((one) => one !== undefined) ? asTerms(each) : undefined;
  }
  if (parts.length > 1) return undefined;
  const one = parseOne(rest, request, rules);
  return one === undefined ? undefined : asTerms([one]);
}

function asTerms(each: readonly Term[]): SearchTerms {
  const anyCase = each.every((one) => !one.quoted && /^(?:todo|fixme|xxx)$/.test(one.value));
  return {
    terms: each.map((one) => one.value),
    quoted: each.every((one) => one.quoted),
    ...(anyCase && { anyCase }),
  };
}

function regexTerm(words: string, request: RequestText): SearchTerms | undefined {
  const rest = words.trim().replace(REGEX_BEFORE, "");
  const { value, quoted } = request.term(rest);
  return rest !== words.trim() && quoted ? { terms: [value], quoted, regex: true } : undefined;
}

function withoutNoise(words: string): string {
  const head = words.replace(BEFORE, "");
  const tail = head.replace(AFTER, "");
  return tail === "" ? head : tail;
}

function parseOne(words: string, request: RequestText, rules: TermRules): Term | undefined {
  if (words === "") return undefined;
  const term = request.term(words);
  if (term.quoted) return term.value.trim() === "" ? undefined : term;
  if (new RegExp(`[${MARK}]`).test(words) && /\s/.test(words)) return undefined;
  if (words.split(" ").length > rules.mostWords || /[,;]/.test(words) || STOP_WORD.test(words)) return undefined;
  if (rules.verbatim !== "any" && (JUDGEMENTS.test(words) || NOT_TEXT.test(words))) return undefined;
  if (rules.verbatim === undefined && KEYWORD.test(words)) return undefined;
  return { value: singular(term.value), quoted: false };
}

/** "TODOs" asks for TODO: a tag in the plural. */
function singular(term: string): string {
  if (/^(?:todos|fixmes)$/.test(term)) return term.slice(0, -1);
  return /^[A-Z][A-Z_]{2,}(?:'?s|:s)$/.test(term) ? term.replace(/(?:'?s|:s)$/, "") : term;
}

/** A tag that people leave in code; it is literal after any verb. */
export function isTag(term: string): boolean {
  return /^[A-Z][A-Z_]{2,}:?$/.test(term);
}
