/**
 * Tokens known by their shape. The first two characters find the beginnings. A pattern is compiled when its beginning first occurs, because
 * compiling all of them would slow down every run.
 */
import type { Finding } from "./finding.js";
import { variety } from "./looks-random.js";
import { TOKEN_PATTERNS, type TokenPattern } from "./token-patterns.js";

/**
 * A token starts where no letter or digit precedes it, except when those belong to an escape: `\n`, `\u003d`, `%20`, a colour.
 * Within base64, `+` and `/` are not borders either.
 */
const BORDER =
  "(?:(?<![A-Za-z0-9])|(?<=\\x1b\\[[\\d;]{0,12}m)|(?<=\\\\(?:[nrt]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}))|(?<=%[0-9A-F]{2}))";
const LETTERS_ONLY = /^[A-Za-z0-9]+$/;
const BLOB = "(?<![A-Za-z0-9][+/])";
/** No letter follows a token, and it is not the name of an image. */
const END = "(?![A-Za-z0-9])(?!\\.(?:png|jpe?g|gif|svg|webp|ico|css|js)\\b)";

const STAND_IN = /[xX]{6,}|[*#.]{3,}/;

/** Lists what every token begins with or holds, see grams.ts. */
export const TOKEN_GRAMS: readonly string[] = TOKEN_PATTERNS.flatMap(
  ({ starts, anchors }) => starts?.flatMap(startGrams) ?? anchors ?? [],
);

const STARTED = TOKEN_PATTERNS.filter(({ starts }) => starts !== undefined);
const ANCHORED = TOKEN_PATTERNS.filter(({ starts }) => starts === undefined);

interface Beginning {
  readonly start: string;
  readonly pattern: TokenPattern;
}

const HEAD_LENGTH = 2;
/** In characters from the beginning of a token. */
const FARTHEST_HELD = 128;
const BY_HEAD = new Map<string, Beginning[]>();
for (const pattern of STARTED) {
  for (const start of pattern.starts ?? []) {
    const head = start.slice(0, HEAD_LENGTH);
    BY_HEAD.set(head, [...(BY_HEAD.get(head) ?? []), { start, pattern }]);
  }
}
const NEXT_HEAD = new RegExp([...BY_HEAD.keys()].map(literally).join("|"), "g");
/** Holds what the anchors of all patterns without a beginning have around them. */
const ANCHOR_HERE =
  /.{0,3}(?:\dQ~|\.atlasv1\.|[MNO][A-Za-z0-9_-]{23,27}\.|\d:A|\d(?:\||%7)|NRAL|_mmk|:APA91b|JQQJ9|\+A(?:St|Sb|Eh|CR)|A(?:CDb|IoT|ZDO)|Az(?:Se|Fu|Ca)|msh)/sy;

const made = new Map<TokenPattern, RegExp>();

function expression(pattern: TokenPattern): RegExp {
  let expression = made.get(pattern);
  if (expression === undefined) {
    expression = new RegExp(`${BORDER}(?:${source(pattern)})`, pattern.starts === undefined ? "g" : "y");
    made.set(pattern, expression);
  }
  return expression;
}

function source({ starts, rest }: TokenPattern): string {
  if (starts === undefined) return `(?:${rest})${END}`;
  const inBlob = starts.every((start) => LETTERS_ONLY.test(start));
  const literals = starts.map(literally).join("|");
  return `${inBlob ? BLOB : ""}(?:${literals})(?:${rest})${END}${inBlob ? "(?![+/][A-Za-z0-9])" : ""}`;
}

/** Short beginnings are looked for at the border of a word only, or behind the letter of an escape. */
function startGrams(start: string): string[] {
  const gram = start.slice(0, 4).toLowerCase();
  if (gram.length === 4) return [gram];
  return gram.length === 3 ? [`^${gram}`, `n${gram}`, `r${gram}`, `t${gram}`, `m${gram}`] : [`^${gram}?`];
}

function literally(literal: string): string {
  return literal.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&");
}

/** Tells whether a token begins at `at` or has its anchor there. */
export function tokenTouches(text: string, at: number): boolean {
  ANCHOR_HERE.lastIndex = at;
  return tokenAt(text, at) !== undefined || ANCHOR_HERE.test(text);
}

export function findTokens(segment: string): Finding[] {
  const findings: Finding[] = [];
  NEXT_HEAD.lastIndex = 0;
  for (let start = NEXT_HEAD.exec(segment); start !== null; start = NEXT_HEAD.exec(segment)) {
    const finding = tokenAt(segment, start.index);
    if (finding !== undefined) findings.push(finding);
    NEXT_HEAD.lastIndex = finding?.end ?? start.index + 1;
  }
  for (const pattern of ANCHORED) {
    if (!pattern.holds?.some((literal) => segment.includes(literal))) continue;
    for (const { 0: token, index } of segment.matchAll(expression(pattern)))
      if (!isStandInToken(token, pattern))
        findings.push({ start: index, end: index + token.length, kind: pattern.kind });
  }
  return findings;
}

function tokenAt(text: string, at: number): Finding | undefined {
  for (const { start, pattern } of BY_HEAD.get(text.slice(at, at + HEAD_LENGTH)) ?? []) {
    if (!text.startsWith(start, at) || !holdsNear(text, at, pattern)) continue;
    const shape = expression(pattern);
    shape.lastIndex = at;
    const token = shape.exec(text)?.[0];
    if (token !== undefined && !isStandInToken(token, pattern))
      return { start: at, end: at + token.length, kind: pattern.kind };
  }
  return undefined;
}

/** A quick look, because the pattern takes a step for each character that may come before. */
function holdsNear(text: string, at: number, { holds }: TokenPattern): boolean {
  if (holds === undefined) return true;
  const near = text.slice(at, at + FARTHEST_HELD);
  return holds.some((literal) => near.includes(literal));
}

function isStandInToken(token: string, { starts, variety: asked }: TokenPattern): boolean {
  if (asked === 1) return /[xX]{10,}/.test(token);
  const start = starts?.find((one) => token.startsWith(one)) ?? "";
  return STAND_IN.test(token) || variety(token.slice(start.length)) < asked;
}
