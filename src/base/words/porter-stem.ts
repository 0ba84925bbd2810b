/**
 * Martin Porter's algorithm for English word stems ("An algorithm for suffix stripping", 1980), as SQLite's `porter` tokenizer has it, with the rule
 * for `y` of his later one (Porter2): it becomes `i` only behind a consonant. So `deploy` meets `deployment`, and `fly` meets `flies`.
 */

const CONSONANT = "[^aeiou]";
const VOWEL = "[aeiouy]";
const CONSONANTS = `${CONSONANT}[^aeiouy]*`;
const VOWELS = `${VOWEL}[aeiou]*`;
/** At least one, exactly one, and at least two sequences of vowels and consonants. */
const MEASURED = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}`);
const MEASURED_ONCE = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}(?:${VOWELS})?$`);
const MEASURED_TWICE = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}${VOWELS}${CONSONANTS}`);
const HAS_VOWEL = new RegExp(`^(?:${CONSONANTS})?${VOWEL}`);
const SHORT_END = new RegExp(`^${CONSONANTS}${VOWEL}[^aeiouwxy]$`);

const STEP_2: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["logi", "log"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
];
const STEP_3: readonly (readonly [string, string])[] = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];
const STEP_4 = /^(.+?)(ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|al|er|ic|ou)$|^(.+?[st])(ion)$/;

/** Takes a word in lower case; one with other letters than a to z stays as it is. */
export function porterStem(word: string): string {
  if (word.length < 3 || word.length > 64 || !/^[a-z]+$/.test(word)) return word;
  let stem = withoutPlural(word);
  stem = withoutPast(stem);
  stem = stem.replace(/(?<=.[^aeiou])y$/, "i");
  stem = replaceSuffix(stem, STEP_2);
  stem = replaceSuffix(stem, STEP_3);
  stem = withoutSuffix(stem);
  return withoutFinalE(stem);
}

function withoutPlural(word: string): string {
  if (/(ss|i)es$/.test(word)) return word.slice(0, -2);
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

function withoutPast(word: string): string {
  if (word.endsWith("eed")) return MEASURED.test(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const cut = /^(.+)(?:ed|ing)$/.exec(word)?.[1];
  if (cut === undefined || !HAS_VOWEL.test(cut)) return word;
  if (/(at|bl|iz)$/.test(cut)) return `${cut}e`;
  if (/([^aeiouylsz])\1$/.test(cut)) return cut.slice(0, -1);
  return SHORT_END.test(cut) ? `${cut}e` : cut;
}

function replaceSuffix(word: string, suffixes: readonly (readonly [string, string])[]): string {
  const found = suffixes.find(([suffix]) => word.endsWith(suffix));
  if (found === undefined) return word;
  const [suffix, other] = found;
  const stem = word.slice(0, -suffix.length);
  return MEASURED.test(stem) ? stem + other : word;
}

function withoutSuffix(word: string): string {
  const found = STEP_4.exec(word);
  const stem = found?.[1] ?? found?.[3];
  return stem !== undefined && MEASURED_TWICE.test(stem) ? stem : word;
}

function withoutFinalE(word: string): string {
  let stem = word;
  if (stem.endsWith("e")) {
    const cut = stem.slice(0, -1);
    if (MEASURED_TWICE.test(cut) || (MEASURED_ONCE.test(cut) && !SHORT_END.test(cut))) stem = cut;
  }
  return stem.endsWith("ll") && MEASURED_TWICE.test(stem) ? stem.slice(0, -1) : stem;
}
