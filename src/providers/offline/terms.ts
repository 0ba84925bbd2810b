/**
 * Describes what the words of a slot mean: the files that a request is about ("in src", "in all Markdown files", "here"), the file that it names,
 * what it searches for.
 */
import optionPhrases from "./phrases/search-options.txt";
import { MARK, type RequestText, type Term } from "./request-text.js";
import { type FileKind, findFileKind, KIND_WORDS, type Phrase, phraseBook } from "./tables.js";

export interface Scope {
  /** Absent: the whole project. */
  readonly path?: string | undefined;
  readonly kind?: FileKind | undefined;
}

const EVERYWHERE =
  /^(?:project|repo|repository|folder|directory|dir|code ?base|code|workspace|source code|tree|working (?:tree|directory)|checkout|files?|project files|source files|here|there|everything|everywhere|anything|total|all|place|package|root|project root|root folder|root directory|top[- ]level|\.|\.\/)$/i;

const DETERMINERS = /^(?:(?:all|any|every|each|of|the|this|that|these|our|my|your|whole|entire|current|complete) +)+/i;

const KIND_SCOPE = new RegExp(
  `^(${KIND_WORDS})(?: +source)? +(?:files?|code|sources?|documents?|docs?|ones)(?: +(?:in|inside|within|under|of|from|at) +(.+))?$`,
  "i",
);

const FOLDER_WORD = "(?:sub)?(?:folder|director(?:y|ies)|dir|file|module|path)";
const FOLDER = new RegExp(`^(?:${FOLDER_WORD}(?: +(?:called|named))? +(\\S+)|(\\S+) +${FOLDER_WORD}|(\\S+))$`, "i");

/** Finds the scope that the words after "in" name, or nothing if the rules do not understand them: a guess could give a wrong answer. */
export function parseScope(words: string, request: RequestText): Scope | undefined {
  const rest = words.trim().replace(DETERMINERS, "");
  if (rest === "" || EVERYWHERE.test(rest)) return {};
  const [whole, word = "", place = ""] = KIND_SCOPE.exec(rest) ?? [];
  if (whole !== undefined) return scopeOfKind(word, parseScope(place, request));
  if (rest.startsWith("*.")) return scopeOfKind(rest, {});
  const path = FOLDER.exec(rest)
    ?.slice(1)
    .find((group) => group !== undefined);
  const value = path === undefined ? "" : request.term(path).value;
  return value === "" || value.includes("\n") ? undefined : { path: cleanPath(value) };
}

/** Narrows a scope to the kind that a word names, unless it has one or there is no such kind. */
export function scopeOfKind(word: string, scope: Scope | undefined): Scope | undefined {
  const kind = findFileKind(word);
  return kind === undefined || scope === undefined || scope.kind !== undefined ? undefined : { ...scope, kind };
}

/** Shortens a path: `./src/` and `src` are the same place; `.` is the project itself. */
export function cleanPath(path: string): string {
  return path.replace(/^(?:\.\/)+(?=.)/, "").replace(/(?<=[^/])\/+$/, "") || ".";
}

export function describePlace({ path }: Scope, whole = "this project"): string {
  return path === undefined || path === "." ? whole : `\`${path}\``;
}

export function describeScope(scope: Scope): string {
  return `${scope.kind === undefined ? "" : `${scope.kind.label} files of `}${describePlace(scope)}`;
}

const KNOWN_NAMES =
  /^(?:makefile|gnumakefile|dockerfile|containerfile|licen[cs]e|readme|changelog|contributing|authors|notice|copying|procfile|gemfile|rakefile|justfile|vagrantfile|jenkinsfile|codeowners|version)$/i;

/** Tells whether an unquoted word means a file or folder rather than text to search for. */
export function looksLikePath(word: string): boolean {
  if (/[\s*?]/.test(word) || word.includes("://")) return false;
  return /^\.{0,2}\/.|[^/]\/[^/]|\w\/$/.test(word) || looksLikeFile(word);
}

/** Knows a name with an extension, a dot file, or one of the names that have neither. */
export function looksLikeFile(word: string): boolean {
  if (/[\s*?]/.test(word) || word.endsWith("/")) return false;
  const name = word.slice(word.lastIndexOf("/") + 1);
  if (KNOWN_NAMES.test(name) || /^\.[a-z][\w.-]+$/i.test(name)) return true;
  // "e.g", "v1.2" and "a.b()" are not files; "x.c" and "main.test.ts" are.
  return /^[\w@+~-][\w@+~. -]*\.[a-z][a-z0-9_]{0,9}$/i.test(name) && !/^(?:e\.g|i\.e)$/i.test(name);
}

export interface NamedFile {
  readonly path: string;
  /** A name without a folder or an extension ("the readme"): the plan searches for the file. */
  readonly lookUp?: true | undefined;
}

/** Finds the file or folder that a slot names, if any. */
export function namedPath(slot: string | undefined, request: RequestText): NamedFile | undefined {
  const { value, quoted } = request.term(slot ?? "");
  if (value === "" || value.includes("\n")) return undefined;
  if (!quoted && /^(?:readme|licen[cs]e|changelog|contributing|makefile|dockerfile)$/i.test(value))
    return { path: value, lookUp: true };
  // Only inside quotes may a file name hold spaces.
  const meant = looksLikePath(quoted ? value.trim().replaceAll(" ", "_") : value) && !value.endsWith("/");
  return meant ? { path: cleanPath(value) } : undefined;
}

/** Does the same, but only for a name that looks like a file. */
export function namedFile(slot: string | undefined, request: RequestText): NamedFile | undefined {
  const named = namedPath(slot, request);
  return named?.lookUp || looksLikeFile((named?.path ?? "").replaceAll(" ", "_")) ? named : undefined;
}

/* ---- search ---- */

export interface SearchTerms {
  /** Any of these; literal text unless `regex`. */
  readonly terms: readonly string[];
  readonly quoted: boolean;
  readonly regex?: true;
  /** The user wrote a tag in lower case ("todos"); the files may use any case. */
  readonly anyCase?: true | undefined;
}

const BEFORE =
  /^(?:(?:for|me|all|every|each|any|the|my|our|of|single|words?|strings?|text|phrase|terms?|identifier|symbol|name|keyword|literal|places? (?:with|where it says)|lines? (?:containing|with|that (?:contain|mention|have))|(?:occurrences?|instances?|mentions?|references?|uses?|usages?|appearances?|number|matches|calls?|hits?) (?:of|to|for)) +)+/i;

const AFTER =
  /(?: +(?:comments?|occurrences?|instances?|mentions?|markers?|notes?|annotations?|statements?|calls?|strings?|lines?|matches|tags?|items?|words?|entries|keywords?|references?|usages?|there))+$/i;

const REGEX_BEFORE =
  /^(?:(?:for|the|a|an|lines? matching|matching|all|every|matches of) +)*(?:regex|regexp|regular expression|pattern) +/i;

/** Things that only a reader who understands the code can find, and words for files and their parts; they are no search terms. */
const NOT_TEXT =
  /^(?:(?:bugs?|issues?|problems?|mistakes?|flaws?|weakness(?:es)?|vulnerabilit(?:y|ies)|leaks?|ways?|solutions?|reasons?|causes?|answers?|improvements?|duplicates?|duplication|typos?|smells?|unused|dead|slow|out|why|how|something|anything|everything|it|them|this|that|these|those|more|better|good|best|examples?|information|ideas?|dependenc(?:y|ies)|security|performance|me|you)\b|(?:files?|folders?|director(?:y|ies)|functions|methods|classes|types|interfaces|exports|imports|headings?|symbols?|tests|test suites?|commits?|branch(?:es)?|changes|projects?|repo(?:sitory)?|code|codebase|lines?|words?|characters?|scripts?|tree|outline|stuff|things?|people|times)$)/i;
/** Such a word is a search term only after a verb that asks for text ("grep for import"). */
const KEYWORD =
  /^(?:functions?|methods?|class(?:es)?|types?|interfaces?|exports?|imports?|tests?|changes?|users?|errors?|warnings?|exceptions?|failures?|an? .*)$/i;

const STOP_WORD = /^(?:the|an?|of|for|in|and|or|to|is|are|be|with|most|no|not|we|i|you|they)$/i;

/** After "and": a verb, not a second search term. */
const DEEDS =
  /^(?:fix|remove|delete|explain|replace|change|resolve|solve|implement|do|run|write|add|update|rename|refactor|summari[sz]e|improve|rewrite|tell|show|list|count|sort|then|make|create|open|print|read)\b/i;

/** Describes how a phrase interprets its term: `words` in one unquoted term; `verbatim`: the words clearly ask for text, a `keyword` or `any` word. */
type TermRules = Phrase["traits"];

/** Finds the search terms of a request, without the words around them. */
export function parseTerms(words: string, request: RequestText, rules: TermRules): SearchTerms | undefined {
  const pattern = words.trim().replace(REGEX_BEFORE, "");
  const { value, quoted } = request.term(pattern);
  if (pattern !== words.trim() && quoted) return { terms: [value], quoted, regex: true };
  const rest = withoutNoise(words);
  const parts = rest.split(/(?:,| and| or|,? as well as)+ +/i).map(withoutNoise);
  if (parts.length > 1 && !parts.every((part) => /^\S+$/.test(part) && !DEEDS.test(part))) return undefined;
  const each =
    parts.length > 1
      ? parts.map((part) => parseOne(part, request, { ...rules, words: "1" }))
      : [parseOne(rest, request, rules)];
  const found = each.filter((one) => one !== undefined);
  if (found.length < each.length) return undefined;
  const isTagWord = found.every((one) => !one.quoted && /^(?:todo|fixme|xxx)$/.test(one.value));
  return {
    terms: found.map((one) => one.value),
    quoted: found.every((one) => one.quoted),
    anyCase: isTagWord || undefined,
  };
}

function withoutNoise(words: string): string {
  const head = words.trim().replace(BEFORE, "");
  return head.replace(AFTER, "") || head;
}

function parseOne(words: string, request: RequestText, { words: most = "1", verbatim }: TermRules): Term | undefined {
  const term = request.term(words);
  if (term.quoted) return term.value.trim() === "" ? undefined : term;
  if (words === "" || (new RegExp(`[${MARK}]`).test(words) && /\s/.test(words))) return undefined;
  if (words.split(" ").length > Number(most) || /[,;]/.test(words) || STOP_WORD.test(words)) return undefined;
  if (verbatim !== "any" && NOT_TEXT.test(words)) return undefined;
  if (verbatim === undefined && KEYWORD.test(words)) return undefined;
  // "TODOs" asks for TODO: a tag in the plural.
  const isPlural = /^(?:todos|fixmes|[A-Z][A-Z_]{2,}(?:'?s|:s))$/.test(term.value);
  return { value: isPlural ? term.value.replace(/(?:'?s|:s)$/, "") : term.value, quoted: false };
}

/** A tag that people leave in code; it is literal after any verb. */
export function isTag(term: string): boolean {
  return /^[A-Z][A-Z_]{2,}:?$/.test(term);
}

export type SearchGoal = "lines" | "files" | "count" | "per-file" | "most" | "exists" | "definition";

export interface SearchOptions {
  goal?: SearchGoal;
  ignoreCase?: true;
  wholeWord?: true;
}

const endings = phraseBook(optionPhrases, "");

/** Takes the options at the end of a request off it: count the matches, list files, show lines, ignore case. */
export function takeOptions(text: string): { readonly text: string; readonly options: SearchOptions } {
  const options: SearchOptions = {};
  let rest = text;
  for (let before = ""; before !== rest; ) {
    before = rest;
    for (const { meaning, slots, index } of endings(rest)) {
      // "…which file has the most of them" may repeat the word; another word would be another question.
      const again = slots.again?.replace(/s$/, "").toLowerCase();
      const shorter = rest.slice(0, index) + (slots.keep ?? "");
      // If only the option would remain, it was not an option.
      if (again !== undefined && !rest.slice(0, index).toLowerCase().includes(again)) continue;
      if (!shorter.includes(" ")) continue;
      rest = shorter;
      if (meaning === "ignoreCase" || meaning === "wholeWord") options[meaning] = true;
      else if (meaning !== "nothing") options.goal ??= meaning as SearchGoal;
      break;
    }
  }
  return { text: rest, options };
}
