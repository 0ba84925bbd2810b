/**
 * The user's request as text that rules can match.
 *
 * 1. Everything quoted (`'…'`, `"…"`, `` `…` ``, a fenced block, what follows a line that ends in a colon) becomes one mark, a
 *    single private-use character, so that a rule never looks inside quoted text.
 * 2. `term` returns the literal of a mark unchanged: no trimming, no escapes.
 * 3. Polite words at both ends are removed and spaces are single, so rules stay short.
 */
const FIRST_MARK = 0xe000;
const LAST_MARK = 0xf8ff;

/** For use inside a character class of a rule. */
export const MARK = "\\uE000-\\uF8FF";

export interface Term {
  readonly value: string;
  readonly quoted: boolean;
}

export interface RequestText {
  /** With marks instead of literals. */
  readonly text: string;
  /** Exactly as it was typed. */
  readonly raw: string;
  /** The literal or the words of a captured slot. */
  term(slot: string): Term;
}

interface Literal {
  readonly value: string;
  readonly end: number;
}

export function parseRequestText(raw: string): RequestText {
  const literals: string[] = [];
  const mark = (value: string): string => {
    literals.push(value);
    return String.fromCharCode(FIRST_MARK + literals.length - 1);
  };
  let marked = "";
  const source = raw.replaceAll("\r\n", "\n").trim();
  const lastFence = source.lastIndexOf("\n```");
  let unended = 0;
  for (let at = 0; at < source.length; ) {
    NOTABLE.lastIndex = at;
    const next = NOTABLE.exec(source)?.index ?? source.length;
    marked += source.slice(at, next);
    at = next;
    if (at === source.length) break;
    const begins = beginsQuote(source, at);
    const isLooked = literals.length <= LAST_MARK - FIRST_MARK && (!begins || unended < MOST_UNENDED);
    const literal = isLooked ? literalAt(source, { at, lastFence }) : undefined;
    if (begins && literal === undefined) unended++;
    marked +=
      literal === undefined ? source.charAt(at) : `${source.charAt(at) === "\n" ? " " : ""}${mark(literal.value)}`;
    at = literal?.end ?? at + 1;
  }
  const text = withoutPoliteness(marked.replace(/\s+/g, " ").trim());
  return { text, raw, term: (slot) => resolve(slot, literals) };
}

function resolve(slot: string, literals: readonly string[]): Term {
  const trimmed = slot.trim();
  const literal = trimmed.length === 1 ? literals[trimmed.charCodeAt(0) - FIRST_MARK] : undefined;
  if (literal !== undefined) return { value: literal, quoted: true };
  const value = trimmed.replace(
    new RegExp(`[${MARK}]`, "g"),
    (character) => literals[character.charCodeAt(0) - FIRST_MARK] ?? "",
  );
  return { value, quoted: false };
}

const PAIRS: Readonly<Record<string, string>> = { '"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»" };

/** Matches where a literal can begin: the text between is taken whole, because a request can have 260,000 characters. */
const NOTABLE = new RegExp(`[${Object.keys(PAIRS).join("")}\\n${MARK}]`, "g");

/** Longer text is in a fence, or is not a quote. */
const LONGEST_QUOTE = 4_000;

/** A text with more quotes that do not end is no request, and each takes a look at all that follows. */
const MOST_UNENDED = 100;

/** Tells quotation marks from an apostrophe (`what's`): they begin and end words. */
function beginsQuote(source: string, at: number): boolean {
  return PAIRS[source.charAt(at)] !== undefined && !/[^\s([{:=,]/.test(source.charAt(at - 1));
}

function literalAt(
  source: string,
  { at, lastFence }: { readonly at: number; readonly lastFence: number },
): Literal | undefined {
  const character = source.charAt(at);
  // A fence. Its body keeps its last line break: it is a whole text, not a phrase.
  if (at < lastFence && source.startsWith("```", at)) {
    const body = source.indexOf("\n", at);
    const closing = source.indexOf("\n```", body);
    return { value: source.slice(body + 1, closing + 1), end: closing + 4 };
  }
  if (beginsQuote(source, at)) return quoted(source, at);
  // "create x.txt with:" and then lines: the lines are the content.
  const rest = character === "\n" && source.charAt(at - 1) === ":" ? source.slice(at + 1) : undefined;
  if (rest !== undefined && !rest.trimStart().startsWith("```")) return { value: `${rest}\n`, end: source.length };
  // A private-use character that the user typed must not pass as a mark.
  return character >= "\uE000" && character <= "\uF8FF" ? { value: character, end: at + 1 } : undefined;
}

function quoted(source: string, at: number): Literal | undefined {
  const close = PAIRS[source.charAt(at)] ?? "";
  const reach = source.slice(at + 1, at + 1 + LONGEST_QUOTE);
  for (let end = reach.indexOf(close); end !== -1; end = reach.indexOf(close, end + 1)) {
    const after = at + end + 2;
    if (end === 0 || !/[\p{L}\p{N}_]/u.test(source.charAt(after))) return { value: reach.slice(0, end), end: after };
    // A plural: `import`s.
    if (close !== "'" && /^s(?![\p{L}\p{N}_])/u.test(source.slice(after, after + 2)))
      return { value: reach.slice(0, end), end: after + 1 };
  }
  return undefined;
}

const OPENINGS: readonly RegExp[] = [
  /^(?:hi|hey|hello|ok|okay|so|well|now|also|then|and|oxbow)(?: there)?[,!.:]? +(?=\S)/i,
  /^(?:please|kindly|just|quickly)[,!]? +/i,
  /^(?:can|could|would|will) (?:you|we|i) (?:please |kindly |quickly |just )?/i,
  /^(?:would you mind|i(?:'d| would) like|i want|i need|i wish|let's|let us) (?:you )?(?:to )?/i,
  /^(?:do you know|i wonder|i was wondering|any idea|have a look and|go and|help me(?: to)?) +/i,
  /^(?:(?:please )?(?:tell|inform) me|let me know|find out|figure out|know|check|determine|say|work out) (?=(?:what|which|where|who|when|how|if|whether|in which)\b)/i,
];

const CLOSINGS: readonly RegExp[] = [
  /[,]? (?:please|thanks|thank you|thx|for me|if you can|right now|will you|would you|ok)[.!?]*$/i,
  /[?!:,;]+$/,
  // A full stop, but not the folder "." nor "..".
  /(?<=[^\s./])\.$/,
];

/** Long forms of questions that rules know in a short form. */
const REPHRASED: readonly (readonly [RegExp, string])[] = [
  [/^where (?:can|do|could|would|will) (?:i|we|you|one) (?:find|see|look for) /i, "where is "],
  [/^where is where is /i, "where is "],
  [/^(?:in )?(?:what|which) file (?:is|can i find) (\S+)(?: in)?$/i, "where is $1"],
  [/^count (?=how many )/i, ""],
  [/^(?:show|tell|give) me (?=(?:what|which|where|who|how)\b)/i, ""],
  [/^(?:show|list) (?=what(?:'s| is) )/i, ""],
];

function withoutPoliteness(text: string): string {
  let rest = text;
  for (let before = ""; before !== rest; ) {
    before = rest;
    for (const opening of OPENINGS) rest = rest.replace(opening, "");
    for (const closing of CLOSINGS) rest = rest.replace(closing, "");
    for (const [long, short] of REPHRASED) rest = rest.replace(long, short);
    rest = rest.trim();
  }
  return rest;
}

/** Numbers as people write them. */
const NUMBERS = new Map(
  "a=1 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 twelve=12 fifteen=15 twenty=20 thirty=30 fifty=50 hundred=100 few=10 couple=2"
    .split(" ")
    .map((pair) => pair.split("=") as [string, string]),
);

/** At least 1. */
export function numberOf(words: string): number {
  const word = words.toLowerCase().split(" ")[0] ?? "";
  return Math.max(1, Number(NUMBERS.get(word) ?? word));
}
