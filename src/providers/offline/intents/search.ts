/** Finding text: where it is, in which files, how often, where a name is defined. */
import type { Intent } from "../intent.js";
import { planSearch } from "../plans/search.js";
import type { RequestText } from "../request-text.js";
import { looksLikeFile, looksLikePath, parseScope, type Scope, WHOLE_PROJECT } from "../scope.js";
import { isTag, parseTerms, type SearchTerms } from "../search-terms.js";

export type SearchGoal = "lines" | "files" | "count" | "per-file" | "most" | "exists" | "definition";

export interface SearchSlots {
  readonly goal: SearchGoal;
  readonly terms: readonly string[];
  readonly scope: Scope;
  readonly regex?: true;
  readonly ignoreCase?: true;
  readonly wholeWord?: true;
}

interface Flags {
  goal?: SearchGoal;
  ignoreCase?: true;
  wholeWord?: true;
}

interface Tail {
  readonly pattern: RegExp;
  readonly set: Flags;
}

const LEAD =
  ",?;?(?: (?:and|then|but))*(?: (?:please|also))?(?: (?:tell|show|give) me| say| report| let me know| list| print| see)?";
const MOST =
  "(?:the )?(?:most|highest (?:number|count)|largest number|greatest number)(?: of (?:them|those|these|matches))?(?: of all)?(?: (?:occurrences|matches|hits))?";

/** Wishes at the end of a request, in any number: each is taken off and remembered. The first one taken sets the goal. */
const TAILS: readonly Tail[] = [
  {
    pattern: new RegExp(
      `${LEAD} (?:which|what|in which|the)(?: one)?(?: of the)? (?:files?|one|of them)(?: that)? (?:has|have|contains?|holds|with) ${MOST}$`,
      "i",
    ),
    set: { goal: "most" },
  },
  { pattern: new RegExp(`${LEAD} where (?:most of them are|there are (?:the )?most)$`, "i"), set: { goal: "most" } },
  {
    pattern: new RegExp(
      `${LEAD} (?:count (?:them|those|it)|how many(?: of them)?(?: there are| are there| they are)?) (?:per|by|in each|for each|in every) file$`,
      "i",
    ),
    set: { goal: "per-file" },
  },
  {
    pattern: new RegExp(
      `${LEAD}(?: (?:grouped|broken down|counted|sorted|split))? (?:per|by|for each|in each|for every|in every) file$`,
      "i",
    ),
    set: { goal: "per-file" },
  },
  { pattern: /,? file by file$/i, set: { goal: "per-file" } },
  {
    pattern: new RegExp(
      `${LEAD} (?:count (?:them|those|it)|how many(?: of them)?(?: there are| are there| they are)?|(?:the )?(?:total|number|count)(?: of them)?)$`,
      "i",
    ),
    set: { goal: "count" },
  },
  {
    pattern: new RegExp(
      `${LEAD} (?:in )?(?:which|what|the) files?(?: (?:they are in|contain them|have them|names?|it is in))?$`,
      "i",
    ),
    set: { goal: "files" },
  },
  {
    pattern: new RegExp(
      `${LEAD} (?:where(?: (?:they|it) (?:are|is))?|them|(?:the |all )?(?:matching )?lines|the (?:matches|results|locations))$`,
      "i",
    ),
    set: { goal: "lines" },
  },
  {
    pattern:
      /,? (?:with|including|along with)(?: the| their)? (?:files? names?|files? and lines?|line numbers?|lines?|locations?|paths?)$/i,
    set: { goal: "lines" },
  },
  {
    pattern:
      /,? (?:\(?(?:ignoring|ignore|regardless of|no matter the) (?:the )?(?:upper |lower )?case\)?|\(?case[- ]?insensitive(?:ly)?\)?|in (?:any|upper or lower) case)$/i,
    set: { ignoreCase: true },
  },
  { pattern: /,? \(?(?:case[- ]?sensitive(?:ly)?|(?:with|matching) (?:the )?exact case)\)?$/i, set: {} },
  { pattern: /,? \(?(?:as )?(?:a )?whole words?(?: only)?\)?$/i, set: { wholeWord: true } },
  { pattern: /,? (?:at all|anywhere|somewhere|currently|right now|in total|altogether|overall)$/i, set: {} },
];

function takeTails(text: string): { readonly text: string; readonly flags: Flags } {
  const flags: Flags = {};
  let rest = text;
  for (let before = ""; before !== rest; ) {
    before = rest;
    for (const { pattern, set } of TAILS) {
      const shorter = rest.replace(pattern, "");
      // A tail that is all there is left was no tail.
      if (shorter === rest || !shorter.includes(" ")) continue;
      rest = shorter;
      const goal = flags.goal ?? set.goal;
      Object.assign(flags, set, goal === undefined ? {} : { goal });
    }
  }
  return { text: rest, flags };
}

interface Form {
  readonly pattern: RegExp;
  readonly goal: SearchGoal;
  /** How many unquoted words a term may have here. */
  readonly mostWords: number;
  /** Unquoted, only a tag such as TODO is meant literally after this verb. */
  readonly tagOnly?: true;
  /** A name of the program, not any text. */
  readonly name?: true;
  /** The verb leaves no doubt that text is looked for. */
  readonly verbatim?: true;
}

const IN = "(?:in|inside|within|under|across|throughout|through|from|over)";
const WHERE = `(?: ${IN} (?<scope>.+?))?`;
const FILES = "(?:(?:the|all|any|every|other|source|of the) )*files?";
const HAS =
  "(?:mention|contain|use|reference|import|include|have|call|need|require|say|talk about|refer to|match|hold)s?|has|uses|(?:containing|mentioning|using|importing|including|referencing|matching|with|having|calling)";
const COUNT = "(?:how many|count(?: all| the| all the)?|(?:the )?number of)";
const LIST = "(?:find|list|show|show me|give me|get|search for|look for|print|name)(?: me)?";
const SORT =
  "(?:function|class|method|type|interface|variable|const|constant|struct|enum|trait|module|component|macro|symbol|hook|object|field|property)";
const DEFINED =
  "(?:defined|declared|implemented|created|introduced|located|written|coming from|come from|set up|set|exported)";

function form(pattern: string, goal: SearchGoal, options: Partial<Omit<Form, "pattern" | "goal">> = {}): Form {
  return { pattern: new RegExp(`^${pattern}$`, "i"), goal, mostWords: 1, ...options };
}

const FORMS: readonly Form[] = [
  // Which file has most?
  form(
    `(?:which|what) (?:of the )?files?(?: ${IN} (?<scope>.+?))? (?:has|have|contains?|mentions?|uses?) ${MOST}(?: of)?(?: the)? (?<term>.+)`,
    "most",
    { mostWords: 3 },
  ),
  form(
    `(?:which|what) files?(?: ${IN} (?<scope>.+?))? (?:mentions?|uses?|contains?|has|have) (?<term>.+?) ${MOST}(?: often)?`,
    "most",
    { mostWords: 3 },
  ),
  form(
    `(?:${LIST} )?(?:the )?files? (?:with|that (?:has|have|contains?)|containing|having) ${MOST}(?: of)?(?: the)? (?<term>.+?)${WHERE}`,
    "most",
    { mostWords: 3 },
  ),
  form(`(?:where are|where do we have) ${MOST} (?<term>.+?)`, "most"),

  // Definitions
  form(`where(?:'s| is| are|s)(?: the)?(?: ${SORT})? (?<term>.+?)(?: ${SORT})? ${DEFINED}${WHERE}`, "definition", {
    name: true,
  }),
  form(
    `(?:(?:find|show|show me|locate|go to|jump to|see|get|give me|list|where is|where's|what is) )?(?:the )?(?:definition|declaration|implementation)s? (?:of|for)(?: the)?(?: ${SORT})? (?<term>.+?)${WHERE}`,
    "definition",
    { name: true },
  ),
  form(
    `(?:which|what) (?:files?|module)(?: ${IN} (?<scope>.+?))? (?:defines?|declares?|implements?|exports?)(?: the)?(?: ${SORT})? (?<term>.+?)`,
    "definition",
    { name: true },
  ),
  form(`(?:in )?(?:which|what) files? is(?: the)?(?: ${SORT})? (?<term>.+?) ${DEFINED}(?: in)?`, "definition", {
    name: true,
  }),
  form(
    `(?:(?:find|show|show me|see|locate)(?: out)? )?where(?: the)?(?: ${SORT})? (?<term>.+?) (?:is|are|was|gets) ${DEFINED}${WHERE}`,
    "definition",
    { name: true },
  ),
  form(`(?:find|locate|where is|where's|look up)(?: the)? ${SORT} (?<term>.+?)${WHERE}`, "definition", { name: true }),
  form(`where(?:'s| is)(?: the)? (?<term>[\\w$.]+(?:\\(\\))?)`, "definition", { name: true }),

  // Uses
  form(
    `where (?:is|are|do we|do i|does anything|'s)(?: the)?(?: ${SORT})? (?<term>.+?) (?:used|mentioned|called|referenced|imported|invoked|needed|read|handled|found|occurring|present)${WHERE}`,
    "lines",
    { mostWords: 3 },
  ),
  form(
    `(?:(?:find|show|show me|see|locate)(?: out)? )?where(?: the)?(?: ${SORT})? (?<term>.+?) (?:is|are|gets) (?:used|mentioned|called|referenced|imported|invoked|needed|read|handled)${WHERE}`,
    "lines",
    { mostWords: 3 },
  ),
  form(
    `where (?:do|does|did) (?:we|i|it|the code|the project|this project) (?:use|mention|call|reference|import|invoke|have) (?<term>.+?)${WHERE}`,
    "lines",
    { mostWords: 3 },
  ),
  form(`(?:who|what) (?:uses|calls|references|imports|invokes) (?<term>.+?)${WHERE}`, "lines", { name: true }),
  form(`where does (?<term>.+?) (?:occur|appear|come up|show up)${WHERE}`, "lines", { mostWords: 3 }),
  form(
    `(?:find|show|show me|list|get|give me)(?: me)?(?: all| every| any)?(?: the)? (?:uses?|usages?|references?|calls?|callers?|mentions?|occurrences?|instances?|appearances?) (?:of|to|for) (?<term>.+?)${WHERE}`,
    "lines",
    { mostWords: 5 },
  ),

  // How many files?
  form(`${COUNT} files(?: that)? (?:${HAS}) (?<term>.+?)${WHERE}`, "files", { mostWords: 3 }),
  form(`${COUNT} files ${IN} (?<scope>.+?)(?: that)? (?:${HAS}) (?<term>.+?)`, "files", { mostWords: 3 }),
  form(
    `(?:in )?how many files (?:is|are|does|do) (?<term>.+?) (?:used|mentioned|referenced|imported|occur|appear|contained)${WHERE}`,
    "files",
    { mostWords: 3 },
  ),

  // Which files?
  form(`(?:in )?(?:which|what) ${FILES}(?: that)? (?:${HAS}) (?<term>.+?)${WHERE}`, "files", { mostWords: 3 }),
  form(`(?:in )?(?:which|what) ${FILES} ${IN} (?<scope>.+?)(?: that)? (?:${HAS}) (?<term>.+?)`, "files", {
    mostWords: 3,
  }),
  form(`(?:${LIST} )?${FILES}(?: that| which| where)? (?:${HAS}) (?<term>.+?)${WHERE}`, "files", { mostWords: 3 }),
  form(`(?:${LIST} )?${FILES} ${IN} (?<scope>.+?)(?: that| which| where)? (?:${HAS}) (?<term>.+?)`, "files", {
    mostWords: 3,
  }),
  form(
    `in (?:which|what) files? (?:is|are|do|does)(?: we| the)? (?<term>.+?) (?:used|mentioned|referenced|imported|use|occur|appear|contained|found)${WHERE}`,
    "files",
    { mostWords: 3 },
  ),

  // How often?
  form(
    `how (?:many times|often) (?:is|are|does|do|has)(?: the (?:word|string|text|phrase|term|name))? (?<term>.+?) (?:occur|occurs|appear|appears|used|mentioned|called|found|come up|show up|written|referenced|there)${WHERE}`,
    "count",
    { mostWords: 4 },
  ),
  form(
    `how (?:many times|often) (?:does|do) (?<scope>\\S+) (?:mention|contain|use|say|call|reference|have) (?<term>.+?)`,
    "count",
    { mostWords: 4 },
  ),
  form(
    `how many (?:occurrences|instances|mentions|appearances|uses|usages|matches|hits) of (?<term>.+?)(?: (?:are there|are|do we have|exist))?${WHERE}`,
    "count",
    { mostWords: 4 },
  ),
  form(
    `how many (?<term>.+?)(?: (?:are there|are left|are|there are|do we have|exist|have we got|remain|is there|does it have|occur|appear))${WHERE}`,
    "count",
    { tagOnly: true },
  ),
  form(`how many (?<term>.+?) (?:does|do|has) (?:each|every)(?: of the)? files? (?:have|contain|got)`, "per-file", {
    tagOnly: true,
  }),
  form(`how many (?<term>.+?) (?:does|do|has) (?<scope>\\S+) (?:have|contain|got)`, "count", { tagOnly: true }),
  form(`how many (?<term>.+?)${WHERE}`, "count", { tagOnly: true }),
  form(
    `(?:count|(?:the )?(?:number|count|total)(?: number)? of|count up|sum up)(?: all| every)?(?: the)? (?:occurrences?|instances?|mentions?|appearances?|uses?|usages?|matches|hits) (?:of|for|to) (?<term>.+?)${WHERE}`,
    "count",
    { mostWords: 4 },
  ),
  form(
    `(?:count|(?:what is |what's )?(?:the )?(?:number|count|total)(?: number)? of|count up)(?: all| every)?(?: the)? (?<term>.+?)${WHERE}`,
    "count",
    { tagOnly: true },
  ),

  // Is there?
  form(
    `(?:if |whether )?(?:are there|is there|do we have|have we|there (?:is|are))(?: still)? (?:any|some|a|an|one) (?<term>.+?)(?: (?:left|remaining))?${WHERE}`,
    "exists",
    { tagOnly: true },
  ),
  form(`(?:if |whether )?(?:any|there are any) (?<term>.+?)(?: (?:left|remaining))?${WHERE}`, "exists", {
    tagOnly: true,
  }),
  form(
    `(?:if |whether )?(?:do|does) (?<scope>(?!(?:we|i|you|they|it|any|the|this|our) )\\S+|(?:any|the|this|our)(?: of the)? (?:files?|project|code|codebase|repo|repository|package)) (?:mention|contain|use|say|reference|import|include|have)s?(?: the (?:word|string|text|phrase))? (?<term>.+?)`,
    "exists",
    { mostWords: 3 },
  ),
  form(
    `(?:if |whether )?(?:is|are)(?: the (?:word|string|text|phrase))? (?<term>.+?) (?:used|mentioned|called|referenced|imported|found|present|contained)${WHERE}`,
    "exists",
    { mostWords: 3 },
  ),

  // Plain searches
  form(
    `(?:search|scan|grep|look|look through|check|go through)(?: ${IN})? (?!for )(?<scope>.+?) for (?<term>.+)`,
    "lines",
    { mostWords: 6, verbatim: true },
  ),
  form(`(?:do a |run a )?(?:text |full[- ]text )?(?:search|grep|scan|look|hunt) for (?<term>.+?)${WHERE}`, "lines", {
    mostWords: 6,
    verbatim: true,
  }),
  form(`(?:search|grep|rg|ack)(?: -[rnRH]+)* (?!for )(?<term>[^ -]\\S*) (?<scope>[\\w./~-]+)`, "lines", {
    verbatim: true,
  }),
  form(`(?:search|grep|rg|ack)(?: -[rnRH]+)* (?!for )(?<term>[^ -].*?)${WHERE}`, "lines", {
    mostWords: 4,
    verbatim: true,
  }),
  form(`(?:find|locate|look up)(?: me)? (?<term>.+?)${WHERE}`, "lines"),
  form(`(?:show|list|give|get|print|display|collect|gather)(?: me)? (?<term>.+?)${WHERE}`, "lines", { tagOnly: true }),
  form(`(?:what|which) (?<term>.+?) (?:are there|are left|do we have|exist|remain|there are)${WHERE}`, "lines", {
    tagOnly: true,
  }),
  form(`where are(?: all)?(?: the)? (?<term>.+?)${WHERE}`, "lines", { tagOnly: true }),
];

export function parseSearch(request: RequestText): SearchSlots | undefined {
  const { text, flags } = takeTails(request.text);
  for (const candidate of FORMS) {
    const groups = candidate.pattern.exec(text)?.groups;
    if (groups?.term === undefined) continue;
    const found = parseTerms(groups.term, request, candidate);
    if (found === undefined || !isMeant(found, candidate)) continue;
    const scope = groups.scope === undefined ? WHOLE_PROJECT : parseScope(groups.scope, request);
    if (scope === undefined) continue;
    return slotsOf(found, scope, { form: candidate, flags });
  }
  return undefined;
}

function isMeant(found: SearchTerms, candidate: Form): boolean {
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
  readonly form: Form;
  readonly flags: Flags;
}

function slotsOf(found: SearchTerms, scope: Scope, { form: shape, flags }: Shape): SearchSlots {
  const goal = shape.goal === "lines" || shape.goal === "count" ? (flags.goal ?? shape.goal) : shape.goal;
  const ignoreCase = flags.ignoreCase === true || found.anyCase === true;
  return {
    goal,
    terms: shape.name ? found.terms.map((term) => term.replace(/\(\)$/, "")) : found.terms,
    scope,
    ...(found.regex && { regex: true as const }),
    ...(ignoreCase && { ignoreCase: true as const }),
    ...((flags.wholeWord || shape.name) && { wholeWord: true as const }),
  };
}

export const searchIntent: Intent<SearchSlots> = { name: "search", parse: parseSearch, plan: planSearch };
