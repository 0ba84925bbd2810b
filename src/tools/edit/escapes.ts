/**
 * Quotations that were escaped twice: `\"` for `"`, `\n` for a line break, `\\` for `\`.
 *
 * 1. Nothing is unescaped on suspicion: the caller checks the interpretation against the file.
 * 2. The replacement is interpreted like the quotation, or literally, if its own text proves which; otherwise it has no
 *    interpretation.
 */
const SEQUENCES = /\\([\s\S])/g;

const MEANINGS: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  '"': '"',
  "'": "'",
  "`": "`",
  $: "$",
  "/": "/",
  "\\": "\\",
};

/** A quote after an even number of backslashes: the model escaped the quotes, but not the backslashes before them. */
const HALF_ESCAPED = /(?<!\\)(?:\\\\)+["'`]/;

const MAX_COMPARED = 100;

export interface Reading {
  readonly old: string;
  /** Absent if both the literal and the escaped meaning are possible. */
  readonly new?: string;
}

/** The possible interpretations of an edit of `actual`, the literal one first. */
export function readings({ old, new: fresh }: Required<Reading>, actual: string): readonly Reading[] {
  const out: Reading[] = [{ old, new: fresh }];
  for (const kinds of [`"'\`$/`, `ntr"'\`$/\\`]) {
    const plain = unescaped(old, kinds);
    if (out.some((reading) => reading.old === plain)) continue;
    const meant = readLike(fresh, { old, kinds, actual });
    out.push(meant === undefined ? { old: plain } : { old: plain, new: meant });
  }
  return out;
}

function unescaped(text: string, kinds: string): string {
  return text.replace(SEQUENCES, (sequence, char: string) =>
    kinds.includes(char) ? (MEANINGS[char] ?? sequence) : sequence,
  );
}

/** The replacement if the model escaped the quotation, or undefined if both meanings are possible. */
function readLike(
  fresh: string,
  { old, kinds, actual }: { old: string; kinds: string; actual: string },
): string | undefined {
  if (!fresh.includes("\\")) return fresh;
  const known = escapedKinds(old);
  const used = known.filter((kind) => kinds.includes(kind));
  const escaped = escapedKinds(fresh);
  const newLines = fresh.split("\n");
  // Whether each line is nearer to the file unescaped (1), unchanged (-1), or the same (0).
  const nearness = (line: string) => Math.sign(likeness(unescaped(line, kinds), actual) - likeness(line, actual));
  const signs = new Set(newLines.filter((line) => line.includes("\\")).map(nearness));
  const keepsEscaped = old.split("\n").some((line) => unescaped(line, kinds) !== line && newLines.includes(line));
  const looksEscaped = signs.has(1) || keepsEscaped;
  const looksLiteral = signs.has(-1) || used.some((kind) => hasPlain(fresh, { kind, known }));
  if (looksEscaped === looksLiteral || HALF_ESCAPED.test(fresh)) return undefined;
  if (looksLiteral) return fresh;
  // A doubled backslash alone proves nothing: code is full of them. Then every line must be nearer to the file when unescaped.
  const hasSign = escaped.some((kind) => kind !== "\\" && used.includes(kind));
  const isSure = (hasSign || !signs.has(0)) && escaped.every((kind) => known.includes(kind));
  return isSure ? unescaped(fresh, kinds) : undefined;
}

/** Tells how much the lines of a text begin and end like lines of another, in characters. */
function likeness(text: string, other: string): number {
  const others = other.split("\n", MAX_COMPARED);
  let sum = 0;
  for (const line of text.split("\n", MAX_COMPARED)) {
    sum += Math.max(...others.map((each) => sharedEnds(line.trim(), each.trim())));
  }
  return sum;
}

function sharedEnds(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return head + tail;
}

function escapedKinds(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(SEQUENCES), (match) => match[1] as string))];
}

/** Tells whether the text contains the unescaped form of `kind`. `known`: sequences that prove nothing. */
function hasPlain(text: string, { kind, known }: { kind: string; known: readonly string[] }): boolean {
  if (kind !== "\\") return plainPart(text).includes(MEANINGS[kind] as string);
  return escapedKinds(text).some((other) => MEANINGS[other] === undefined && !known.includes(other));
}

function plainPart(text: string): string {
  return text.trimEnd().replace(SEQUENCES, "");
}

/** The backslashes of a text, to compare two spellings of it. */
export function backslashes(text: string): string {
  return (text.match(/\\+[^\s]?/g) ?? []).join(" ");
}
