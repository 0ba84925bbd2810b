/**
 * Text as words to search by, without a dictionary: lower case, no accents, common endings removed. Scripts without blanks between words
 * are cut into pairs of characters. The patterns take a millisecond to make, so no code on the path to the first request loads this.
 */
const WORD = /[\p{L}\p{N}]+/gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;
/** `readConfigFile` is also read, config and file. */
const CAMEL = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u;

/** Words that say nothing about the subject of a text. */
const COMMON: ReadonlySet<string> = new Set(
  (
    "a about after all also am an and any are as at be been before being but by can could did do does doing done for from get give go got had has " +
    "have having he her here him his how i if in into is it its just let like make may me might more most much must my no not now of off on once " +
    "one only or other our out over own please said same she should so some such than that the their them then there these they this those " +
    "through to too under until up us use used user uses using very was we well were what when where which while who why will with would yes you your"
  ).split(" "),
);

/** Every word of the text in its order, repeated where it is repeated; without those that say nothing. */
export function searchWords(text: string): string[] {
  const words: string[] = [];
  const isPlain = ASCII.test(text);
  for (const [run] of (isPlain ? text : text.normalize("NFKC")).matchAll(isPlain ? PLAIN_WORD : WORD)) {
    const parts = isPlain ? plainParts(run) : run.split(CAMEL);
    const add = isPlain ? addPlain : addAny;
    if (parts.length > 1) add(words, run);
    for (const part of parts) add(words, part);
  }
  return words;
}

const ASCII = /^[\0-\x7f]*$/;
const PLAIN_WORD = /[A-Za-z0-9]+/g;

/** Most words have no capital within them. */
function plainParts(run: string): readonly string[] {
  return /[a-z0-9][A-Z]/.test(run) ? run.split(/(?<=[a-z0-9])(?=[A-Z])/) : [run];
}

function addPlain(words: string[], part: string): void {
  const word = part.toLowerCase();
  if (!COMMON.has(word)) words.push(stem(word));
}

function addAny(words: string[], part: string): void {
  const plain = part
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  const spaced = plain.replace(UNSPACED, (run) => {
    words.push(...pairsOf(run));
    return " ";
  });
  for (const word of spaced.split(" ")) if (word !== "") addPlain(words, word);
}

function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

const STEMS = new Map<string, string>();
const MOST_STEMS = 20_000;

function stem(word: string): string {
  let known = STEMS.get(word);
  if (known !== undefined) return known;
  known = withoutEnding(word);
  if (STEMS.size >= MOST_STEMS) STEMS.clear();
  STEMS.set(word, known);
  return known;
}

/** The common endings of English, so that `tests`, `testing` and `tested` meet `test`. */
function withoutEnding(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  const cut = word
    .replace(/ies$/, "y")
    .replace(/(?<=(?:s|x|z|ch|sh))es$/, "")
    .replace(/(?<=[^s])s$/, "")
    .replace(/(?<=..[^aeiou])(?:ing|ed)$/, "")
    .replace(/(?<=...)(?:ation|ment|ly)$/, "");
  // A doubled consonant comes with the ending: `running`.
  const single = cut.length < word.length ? cut.replace(/([bdgmnprt])\1$/, "$1") : cut;
  return single.length > 4 ? single.replace(/e$/, "") : single;
}
