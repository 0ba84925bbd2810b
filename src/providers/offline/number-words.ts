/** Numbers as people write them. */
const WORDS: Readonly<Record<string, number>> = Object.fromEntries(
  "a=1 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 twelve=12 fifteen=15 twenty=20 thirty=30 fifty=50 hundred=100 few=10 couple=2"
    .split(" ")
    .map((pair) => pair.split("="))
    .map(([word = "", value]) => [word, Number(value)]),
);

/** At least 1. */
export function numberOf(word: string): number {
  return Math.max(1, WORDS[word.toLowerCase().split(" ")[0] ?? ""] ?? Number(word));
}
