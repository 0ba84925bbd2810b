/** The ways to ask for text in files, tried in this order. `term` is what to look for, `scope` where. */

import type { FormGroup } from "../intent.js";
import { MARK } from "../request-text.js";
import type { SearchGoal } from "./search.js";
import { MOST } from "./search-wishes.js";

export interface SearchForm {
  readonly pattern: RegExp;
  readonly goal: SearchGoal;
  /** How many unquoted words a term may have here. */
  readonly mostWords: number;
  /** Unquoted, only a tag such as TODO is meant literally after this verb. */
  readonly tagOnly?: true;
  /** A name of the program, not any text. */
  readonly name?: true;
  /** The words around it leave no doubt that text is looked for: `keyword` may be one, `any` word may be meant. */
  readonly verbatim?: "keyword" | "any";
}

const IN = "(?:in|inside|within|under|across|throughout|through|from|over)";
const WHERE = `(?: ${IN} (?<scope>.+?))?`;
const FILES = "(?:(?:the|all|any|every|other|source|of the) )*(?:files?|modules?)(?: (?:still|also|actually|already))?";
const HAS =
  "(?:mention|contain|use|reference|import|include|have|call|need|require|say|talk about|refer to|match|hold)s?|has|uses|(?:containing|mentioning|using|importing|including|referencing|matching|with|having|calling)";
const COUNT = "(?:how many|count(?: all| the| all the)?|(?:the )?number of)";
const LIST = "(?:find|list|show|show me|give me|get|search for|look for|print|name)(?: me)?";
const SORT =
  "(?:function|class|method|type|interface|variable|const|constant|struct|enum|trait|module|component|macro|symbol|hook|object|field|property)";
const DEFINED =
  "(?:defined|declared|implemented|created|introduced|located|written|coming from|come from|set up|set|exported)";

function form(
  pattern: string,
  goal: SearchGoal,
  options: Partial<Omit<SearchForm, "pattern" | "goal">> = {},
): SearchForm {
  return { pattern: new RegExp(`^${pattern}$`, "i"), goal, mostWords: 1, ...options };
}

export const SEARCH_FORMS: readonly FormGroup<SearchForm>[] = [
  // Which file has most?
  {
    needs: /\b(?:most|highest|largest|greatest)\b/i,
    forms: [
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
    ],
  },
  // Definitions
  {
    needs:
      /^where|\b(?:defin\w+|declar\w+|implement\w+|exports?|created|introduced|located|written|function|class|method|type|interface|variable|const|constant|struct|enum|trait|module|component|macro|symbol|hook|object|field|property)\b/i,
    forms: [
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
      form(`(?:find|locate|where is|where's|look up)(?: the)? ${SORT} (?<term>.+?)${WHERE}`, "definition", {
        name: true,
      }),
      form(`where(?:'s| is)(?: the)? (?<term>[\\w$.]+(?:\\(\\))?)`, "definition", { name: true }),

      form(`(?:find|show|show me|locate)(?: the)? ${SORT} (?:called|named) (?<term>.+?)${WHERE}`, "definition", {
        name: true,
      }),
    ],
  },
  // Uses
  {
    needs:
      /^(?:where|who|what)|\b(?:where|lines?|uses?|usages?|references?|calls?|callers?|mentions?|occurrences?|instances?|appearances?)\b/i,
    forms: [
      form(
        `(?:${LIST} )?(?:(?:all|every|each|any|the) )*lines? (?:(?:that|which) (?:contain|mention|have|match|say)s?|containing|with|matching|mentioning|having|saying)(?: the (?:word|string|text|phrase))? (?<term>.+?)${WHERE}`,
        "lines",
        { mostWords: 3, verbatim: "any" },
      ),
      form(
        `(?:(?:find|show|show me|see|locate) )?where (?<term>.+?) (?:occurs?|appears?|comes up|shows up)${WHERE}`,
        "lines",
        { mostWords: 3, verbatim: "any" },
      ),
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
      form(`where does (?<term>.+?) (?:occur|appear|come up|show up)${WHERE}`, "lines", {
        verbatim: "any",
        mostWords: 3,
      }),
      form(
        `(?:find|show|show me|list|get|give me)(?: me)?(?: all| every| any)?(?: the)? (?:uses?|usages?|references?|calls?|callers?|mentions?|occurrences?|instances?|appearances?) (?:of|to|for) (?<term>.+?)${WHERE}`,
        "lines",
        { verbatim: "any", mostWords: 5 },
      ),
    ],
  },
  // How many files, and which?
  {
    needs: /\b(?:files?|modules?)\b/i,
    forms: [
      form(`${COUNT} files(?: that)? (?:${HAS}) (?<term>.+?)${WHERE}`, "files", { mostWords: 3 }),
      form(`${COUNT} files ${IN} (?<scope>.+?)(?: that)? (?:${HAS}) (?<term>.+?)`, "files", { mostWords: 3 }),
      form(
        `(?:in )?how many files (?:is|are|does|do) (?<term>.+?) (?:used|mentioned|referenced|imported|occur|appear|contained)${WHERE}`,
        "files",
        { mostWords: 3 },
      ),

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
    ],
  },
  // How often?
  {
    needs: /\b(?:how|count|number|total|sum)\b/i,
    forms: [
      form(
        `how (?:many times|often) (?:is|are|does|do|has)(?: the (?:word|string|text|phrase|term|name))? (?<term>.+?) (?:occur|occurs|appear|appears|used|mentioned|called|found|come up|show up|written|referenced|there)${WHERE}`,
        "count",
        { verbatim: "any", mostWords: 4 },
      ),
      form(
        `how (?:many times|often) (?<term>.+?) (?:occurs?|appears?|(?:is|are) (?:used|mentioned|called|found|referenced))${WHERE}`,
        "count",
        { mostWords: 4, verbatim: "any" },
      ),
      form(
        `how (?:many times|often) (?:does|do) (?<scope>\\S+) (?:mention|contain|use|say|call|reference|have) (?<term>.+?)`,
        "count",
        { verbatim: "any", mostWords: 4 },
      ),
      form(
        `how many (?:occurrences|instances|mentions|appearances|uses|usages|matches|hits) of (?<term>.+?)(?: (?:are there|are|do we have|exist))?${WHERE}`,
        "count",
        { verbatim: "any", mostWords: 4 },
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
        { verbatim: "any", mostWords: 4 },
      ),
      form(
        `(?:count|(?:what is |what's )?(?:the )?(?:number|count|total)(?: number)? of|count up)(?: all| every)?(?: the)? (?<term>.+?)${WHERE}`,
        "count",
        { tagOnly: true },
      ),
    ],
  },
  // Is there?
  {
    needs: /^(?:if|whether|are|is|do|does|have|any|there)\b/i,
    forms: [
      form(
        `(?:if |whether )?(?:are there|is there|do we have|have we|there (?:is|are))(?: still)? (?:any|some|a|an|one) (?<term>.+?)(?: (?:left|remaining))?${WHERE}`,
        "exists",
        { tagOnly: true },
      ),
      form(`(?:if |whether )?(?:any|there are any) (?<term>.+?)(?: (?:left|remaining))?${WHERE}`, "exists", {
        tagOnly: true,
      }),
      form(
        `(?:if |whether )?(?:do|does) (?<scope>(?!(?:we|i|you|they|it|any|anything|the|this|our) )\\S+|(?:any|the|this|our)(?: of the)? (?:files?|project|code|codebase|repo|repository|package)|anything) (?:mention|contain|use|say|reference|import|include|have)s?(?: the (?:word|string|text|phrase))? (?<term>.+?)`,
        "exists",
        { mostWords: 3 },
      ),
      form(
        `(?:if |whether )?(?:is|are)(?: the (?:word|string|text|phrase))? (?<term>.+?) (?:used|mentioned|called|referenced|imported|found|present|contained)${WHERE}`,
        "exists",
        { mostWords: 3 },
      ),

      form(
        `(?:if |whether )?(?:do|does) (?:we|i|they|it) (?:mention|contain|use|reference|import|include|call)s? (?<term>.+?)${WHERE}`,
        "exists",
      ),
      form(
        `(?:if |whether )?(?:is|are)(?: the (?:word|string|text|phrase))? (?<term>[${MARK}])(?: anywhere)? ${IN} (?<scope>.+?)`,
        "exists",
      ),
    ],
  },
  // Plain searches
  {
    needs: /./,
    forms: [
      form(
        `(?:search|scan|grep|look|look through|check|go through)(?: ${IN})? (?!for )(?<scope>.+?) for (?<term>.+)`,
        "lines",
        { mostWords: 6, verbatim: "keyword" },
      ),
      form(
        `(?:do a |run a )?(?:text |full[- ]text )?(?:search|grep|scan|look|hunt) for (?<term>.+?)${WHERE}`,
        "lines",
        {
          mostWords: 6,
          verbatim: "keyword",
        },
      ),
      form(`(?:search|grep|rg|ack)(?: -[rnRH]+)* (?!for )(?<term>[^ -]\\S*) (?<scope>[\\w./~-]+)`, "lines", {
        verbatim: "keyword",
      }),
      form(`(?:search|grep|rg|ack)(?: -[rnRH]+)* (?!for )(?<term>[^ -].*?)${WHERE}`, "lines", {
        mostWords: 4,
        verbatim: "keyword",
      }),
      form(`(?:find|locate|look up)(?: me)? (?<term>.+?)${WHERE}`, "lines"),
      form(`(?:show|list|give|get|print|display|collect|gather)(?: me)? (?<term>.+?)${WHERE}`, "lines", {
        tagOnly: true,
      }),
      form(`(?:what|which) (?<term>.+?) (?:are there|are left|do we have|exist|remain|there are)${WHERE}`, "lines", {
        tagOnly: true,
      }),
      form(`where are(?: all)?(?: the)? (?<term>.+?)${WHERE}`, "lines", { tagOnly: true }),
    ],
  },
];
