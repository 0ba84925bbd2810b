/**
 * Globs of permission rules, skills and instruction files.
 *
 * 1. A glob is anchored: it matches the whole text.
 * 2. Three kinds. `text` (arguments, tool names): `*` is any characters. `words` (commands): compared word by word with a command
 *    that was parsed, so nothing inside a word can look like the end of it; `*` alone is any number of words, inside a word
 *    any characters of that word. `path`: compared name by name; `*` stays within a name, `**` alone is any number of names,
 *    so `a/**` is `a` and all that is below it.
 * 3. Everywhere `?` is one character, `[a-z]` and `[!a]` one of or none of a set, and `\` makes the next character literal.
 *    `{a,b}` gives alternatives in `text` and `path`; commands keep their braces.
 * 4. A glob that is not well formed is a problem when it is read; it never matches less than its author thinks.
 * 5. Time is bounded by the product of both lengths: no input makes a glob slow.
 */

export type GlobKind = "text" | "words" | "path";

export interface Glob {
  readonly kind: GlobKind;
  /** As it was written. */
  readonly source: string;
  /** The number of characters that it spells out: more is more specific. */
  readonly literals: number;
  /** It matches only one text. */
  readonly exact: boolean;
  /** Of a command: the first word, when it is spelled out. Most rules are about another program, and this tells at once. */
  readonly program: string | undefined;
  readonly alternatives: readonly Alternative[];
}

type Alternative = readonly Segment[];
type Segment = typeof MANY | readonly Token[];
type Token = string | typeof STAR | typeof ANY | CharacterSet;

interface CharacterSet {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [low: string, high: string])[];
}

const MANY = Symbol("any number of segments");
const STAR = Symbol("any characters");
const ANY = Symbol("one character");

const MAX_LENGTH = 1000;
const MAX_ALTERNATIVES = 64;

/** A text that is not a glob; the message says why. */
export class GlobError extends Error {
  override readonly name = "GlobError";
}

export function compileGlob(source: string, kind: GlobKind): Glob {
  if (source.trim() === "") throw new GlobError("it is empty");
  if (source.length > MAX_LENGTH) throw new GlobError(`it is longer than ${MAX_LENGTH} characters`);
  const texts = kind === "words" ? [source.trim()] : expandBraces(source.normalize("NFC"));
  const alternatives = texts.map((text) => splitSegments(text, kind).map((segment) => compileSegment(segment, kind)));
  const tokens = alternatives.flat();
  const exact = alternatives.length === 1 && tokens.every((segment) => segment !== MANY && segment.every(isCharacter));
  const literals = Math.min(...alternatives.map(countLiterals));
  return { kind, source, literals, exact, program: kind === "words" ? spelled(tokens[0]) : undefined, alternatives };
}

/** Compares a whole text. */
export function matchesText(glob: Glob, text: string): boolean {
  const normal = text.normalize("NFC");
  return glob.alternatives.some(([segment]) => fitsSegment(segment ?? [], normal));
}

/** Compares the words of a command; a word that is not known (undefined) fits `*` alone and nothing else. */
export function matchesWords(glob: Glob, words: readonly (string | undefined)[]): boolean {
  if (glob.program !== undefined && glob.program !== words[0]) return false;
  return glob.alternatives.some((alternative) => matchesSegments(alternative, words));
}

/** Tells whether there are values for the words that are not known with which the glob would match. */
export function mayMatchWords(glob: Glob, words: readonly (string | undefined)[]): boolean {
  if (glob.program !== undefined && words[0] !== undefined && glob.program !== words[0]) return false;
  const unknown = words.indexOf(undefined);
  if (unknown === -1) return matchesWords(glob, words);
  return glob.alternatives.some((alternative) => {
    for (const [index, word] of words.slice(0, unknown).entries()) {
      const segment = alternative[index];
      if (segment === MANY) return true;
      if (segment === undefined || !fitsSegment(segment, word ?? "")) return false;
    }
    return true;
  });
}

/** Compares a path with forward slashes. */
export function matchesPath(glob: Glob, path: string): boolean {
  const names = path.normalize("NFC").split("/");
  return glob.alternatives.some((alternative) => matchesSegments(alternative, names));
}

/** The same glob for texts in lower case. */
export function withoutCase(glob: Glob): Glob {
  return compileGlob(glob.source.toLowerCase(), glob.kind);
}

function matchesSegments(alternative: Alternative, items: readonly (string | undefined)[]): boolean {
  return matchWithStars(alternative, items, {
    star: MANY,
    fits: (segment, item) => segment !== MANY && item !== undefined && fitsSegment(segment, item),
  });
}

function fitsSegment(segment: Segment, text: string): boolean {
  return segment === MANY || matchWithStars(segment, text, { star: STAR, fits: fitsToken });
}

function fitsToken(token: Token, character: string): boolean {
  if (typeof token === "string") return token === character;
  if (typeof token === "symbol") return token === ANY;
  return token.negated !== token.ranges.some(([low, high]) => low <= character && character <= high);
}

/** Backtracking to the last star is enough: the last one can take what an earlier one leaves. */
function matchWithStars<Part, Item>(
  pattern: readonly Part[],
  items: ArrayLike<Item>,
  { star, fits }: { readonly star: symbol; readonly fits: (part: Part, item: Item) => boolean },
): boolean {
  let at = 0;
  let item = 0;
  let lastStar = -1;
  let retry = 0;
  while (item < items.length) {
    const part = pattern[at];
    if (part === star) {
      lastStar = at++;
      retry = item;
    } else if (part !== undefined && fits(part, items[item] as Item)) {
      at++;
      item++;
    } else if (lastStar >= 0) {
      at = lastStar + 1;
      item = ++retry;
    } else return false;
  }
  while (pattern[at] === star) at++;
  return at === pattern.length;
}

function splitSegments(text: string, kind: GlobKind): readonly string[] {
  if (kind === "text") return [text];
  const separator = kind === "path" ? "/" : /\s/;
  const segments: string[] = [];
  let current = "";
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "\\") current += character + text.charAt(++at);
    else if (typeof separator === "string" ? character === separator : separator.test(character)) {
      segments.push(current);
      current = "";
    } else current += character;
  }
  segments.push(current);
  return kind === "words" ? segments.filter((segment) => segment !== "") : segments;
}

function compileSegment(text: string, kind: GlobKind): Segment {
  if ((kind === "words" && text === "*") || (kind === "path" && text === "**")) return MANY;
  if (kind === "path" && text.includes("**")) throw new GlobError('"**" must be a whole name: write "a/**/b"');
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "*") tokens.push(STAR);
    else if (character === "?") tokens.push(ANY);
    else if (character === "[") {
      const { set, end } = readSet(text, at);
      tokens.push(set);
      at = end;
    } else if (character === "\\") tokens.push(escaped(text, ++at));
    else tokens.push(character);
  }
  return tokens;
}

function escaped(text: string, at: number): string {
  if (at >= text.length) throw new GlobError('it ends in "\\"; write "\\\\" for the character itself');
  return text.charAt(at);
}

/** `]` directly after the opening is a member, as in shells. */
function readSet(text: string, start: number): { readonly set: CharacterSet; readonly end: number } {
  const negated = /[!^]/.test(text.charAt(start + 1));
  const first = start + (negated ? 2 : 1);
  const ranges: [string, string][] = [];
  for (let at = first; at < text.length; at++) {
    if (text[at] === "]" && at > first) return { set: { negated, ranges }, end: at };
    const low = text[at] === "\\" ? escaped(text, ++at) : text.charAt(at);
    const isRange = text[at + 1] === "-" && at + 2 < text.length && text[at + 2] !== "]";
    const high = isRange ? text.charAt(at + 2) : low;
    if (high < low) throw new GlobError(`"${low}-${high}" in "[…]" is the wrong way round`);
    if (isRange) at += 2;
    ranges.push([low, high]);
  }
  throw new GlobError('"[" is not closed; write "\\[" for the character itself');
}

function expandBraces(text: string): readonly string[] {
  const open = unescaped(text, "{", 0);
  if (open === -1) return [text];
  const branches: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at++;
    else if (character === "{") depth++;
    else if (character === "," && depth === 1) {
      branches.push(text.slice(from, at));
      from = at + 1;
    } else if (character === "}" && --depth === 0) {
      branches.push(text.slice(from, at));
      const before = text.slice(0, open);
      const out = branches.flatMap((branch) => expandBraces(before + branch + text.slice(at + 1)));
      if (out.length > MAX_ALTERNATIVES) throw new GlobError(`it has more than ${MAX_ALTERNATIVES} alternatives`);
      return out;
    }
  }
  throw new GlobError('"{" is not closed; write "\\{" for the character itself');
}

function unescaped(text: string, wanted: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === wanted) return at;
  }
  return -1;
}

function isCharacter(token: Token): boolean {
  return typeof token === "string";
}

function spelled(segment: Segment | undefined): string | undefined {
  return segment !== undefined && segment !== MANY && segment.every(isCharacter) ? segment.join("") : undefined;
}

function countLiterals(alternative: Alternative): number {
  return alternative.reduce((sum, segment) => sum + (segment === MANY ? 0 : segment.filter(isCharacter).length), 0);
}
