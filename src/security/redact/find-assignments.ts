/** `name = "value"` in the many ways of configuration and code, where the name shows that the value is a secret. */
import type { Finding } from "./finding.js";
import {
  isSignSoup,
  isStandIn,
  isUuid,
  looksLikeKey,
  looksLikePassword,
  looksRandom,
  variety,
} from "./looks-random.js";
import { OTHER_KEYS, OTHER_NAMES, SECRET_WORDS, SERVICES } from "./secret-names.js";

const WORDS = Object.values(SECRET_WORDS).join("|");
/** In a list, only the name of a key makes the next entry its value. */
const KEY_NAME = new RegExp(WORDS, "i");
const KINDS = Object.entries(SECRET_WORDS).map(([kind, words]) => ({ kind, words: new RegExp(words, "i") }));
const SERVICE = `(?:${SERVICES.join("|")})`;

/** `: Type =`, or the beginning of a value that ends with a sign. */
const TYPED = ":[ \\t]{0,3}[A-Za-z][\\w<>]{0,20}[ \\t]{0,3}=";
const IS_TYPED = new RegExp(TYPED);
const SIGN = "(?:=>|:=|\\?=|!?={1,3}|:|\\|\\||<-|>|(?<=[\"'`]),)";
const toSign = (sign: string) =>
  `[\\w.-]{0,40}(?: [\\w-]{1,20})?(?:\\\\?["'\`]|\\]){0,3}[ \\t]{0,40}${sign}[ \\t]{0,40}`;
const TO_SIGN = toSign(`(?:${TYPED}|${SIGN})`);

/** Lists what every such name begins with, see grams.ts. */
export const NAME_GRAMS: readonly string[] = `${WORDS}|${SERVICES.join("|")}`.split("|").flatMap(nameGrams);

const SECRET_NAMES = `${WORDS}|${SERVICE}`;

const BARE = "[^\\s\"'`\\\\<>(){}[\\],;|&]";
const BARE_END = /[\s"'`\\<>(){}[\],;|&]/g;
const AFTER_BARE = /[\s"'`\\,;&<)|]/;
const MOST_BARE = 1024;
/**
 * The most names that share one value, as in `a.key=b.key=…`. What follows the next one is hidden unseen, because each takes another look
 * at the rest.
 */
const MOST_SHARED = 8;

const assignment = (toValue: string, flags: string) =>
  new RegExp(
    `(${SECRET_NAMES})(${toValue})(?:[a-z@]{0,2}\\\\?(["'\`])([^\\s"'\`\\\\]{6,1024})(?=["'\`\\\\\\s]|$)|(?=${BARE}{8}))`,
    flags,
  );
const ASSIGNMENT = assignment(TO_SIGN, "gi");
const WITHOUT_TYPE = assignment(toSign(SIGN), "iy");

/** Cheap and never narrower than `ASSIGNMENT`. */
export const ASSIGNMENT_TRIGGER = `(?:${SECRET_NAMES})${TO_SIGN}[a-z@]{0,2}\\\\?["'\`]?[^\\s"'\`\\\\<>()]{6}`;

const SERVICE_NAME = new RegExp(
  `(?<![a-z])${SERVICE}(?![a-z])|^[_.-]*(?:${SERVICES.filter((name) => name.length >= 7).join("|")})`,
);
const KEY_WORD = /key|login|auth|pass|pat|cred|(?:client|access)_?id/i;
/** Under a bare `token` a UUID is the name of something more often than not. */
const QUALIFIED_TOKEN = /[a-z0-9][_.-]?token$/i;
/** Parsers have tokens, too: the vaguest word needs the longest value. */
const LEAST_TOKEN = 18;
const LEAST_SECRET = 12;
const LEAST_KEY = 16;
const LINE_START =
  /^[\s#>+*|$"'\d:→│/;-]*(?:(?:(?:export|set|env|setx|ENV|ARG|-e|--env|declare|local|readonly)\s+|\$env:)["'-]*)?$/;
const MOST_INDENT = 500;
/** Of a name, before the word that makes it one of a secret. */
const MOST_BEFORE = 40;

/** `ed25519.PrivateKey2`: too short for a key with dots, which are long. */
const MEMBER = /^(?=.{1,40}$)[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/;
/** The name is an argument or a field, so that what follows may be another name. */
const IN_CALL = /[({,][ \t]{0,20}$/;

function nameGrams(word: string): string[] {
  const name = word.replace("(?<![a-z])", "").replace("(?![a-z])", "^");
  const choice = /^(\w+)\[([^\]]+)\]\?(.*)$/.exec(name);
  const [, head = "", signs = "", tail = ""] = choice ?? [];
  if (choice === null || head.length >= 4) return [`${name}???`.slice(0, 4).replace(/^(...)\(/, "$1?")];
  return ["", ...signs].map((sign) => `${head}${sign}${tail}???`.slice(0, 4));
}

export function findAssignments(segment: string): Finding[] {
  const findings: Finding[] = [];
  const run: Run = { start: 0, end: -1, names: 0 };
  ASSIGNMENT.lastIndex = 0;
  for (let match = ASSIGNMENT.exec(segment); match !== null; match = ASSIGNMENT.exec(segment)) {
    const finding = judge(segment, match, run) ?? judgeWithoutType(segment, match, run);
    if (finding !== undefined) findings.push(finding);
    ASSIGNMENT.lastIndex = finding?.end ?? match.index + (match[1] ?? "").length;
  }
  return findings;
}

/** `token: VALUE= more` looks like a name with a type, before something that is no value. */
function judgeWithoutType(segment: string, match: RegExpExecArray, run: Run): Finding | undefined {
  const [all, , sign = "", , quoted] = match;
  if (quoted !== undefined || !IS_TYPED.test(sign) || isWhole(segment, match.index + all.length, run.end)) return;
  WITHOUT_TYPE.lastIndex = match.index;
  const other = WITHOUT_TYPE.exec(segment);
  return other === null ? undefined : judge(segment, other, run);
}

function judge(segment: string, match: RegExpExecArray, run: Run): Finding | undefined {
  const [all, word = "", sign = "", , quoted] = match;
  const past = match.index + all.length;
  const nameStart = startOfName(segment, match.index);
  const name = segment.slice(nameStart, match.index).replace(/^-D/, "") + word + (/^[\w.-]*/.exec(sign)?.[0] ?? "");
  const kindFor = (value: string) => (/,\s*$/.test(sign) && !KEY_NAME.test(name) ? undefined : kindOf(name, value));
  if (quoted !== undefined) {
    const kind = kindFor(quoted);
    return kind === undefined ? undefined : { start: past - quoted.length, end: past, kind };
  }
  follow(run, segment, past);
  const { end } = run;
  if (!isWhole(segment, past, end)) return undefined;
  if (++run.names > MOST_SHARED) return { start: past, end, kind: "secret" };
  const value = segment.slice(past, end);
  const kind = kindFor(value);
  const isLiteral = () =>
    isPlainContext(segment, nameStart, sign) ||
    (!IN_CALL.test(segment.slice(Math.max(0, nameStart - 21), nameStart)) && looksLikeKey(value));
  return kind !== undefined && isLiteral() ? { start: past, end, kind } : undefined;
}

function startOfName(segment: string, word: number): number {
  let start = word;
  while (start > 0 && word - start < MOST_BEFORE && /[\w.-]/.test(segment.charAt(start - 1))) start--;
  return start;
}

/** Characters that may form a value without quotes, and how many names were judged that have it as their value. */
interface Run {
  start: number;
  end: number;
  names: number;
}

function follow(run: Run, segment: string, at: number): void {
  if (at >= run.start && at < run.end) return;
  BARE_END.lastIndex = at;
  const end = BARE_END.exec(segment)?.index ?? segment.length;
  Object.assign(run, { start: at, end, names: 0 });
}

/** A value that goes on in brackets is code. */
function isWhole(segment: string, start: number, end: number): boolean {
  return end - start <= MOST_BARE && (end === segment.length || AFTER_BARE.test(segment.charAt(end)));
}

/** A value without quotes is a literal in configuration and shell, a name in code. */
function isPlainContext(segment: string, nameStart: number, sign: string): boolean {
  if (/[\w"'\]]=$/.test(sign) || sign === "=" || />$/.test(sign)) return true;
  const lineStart = segment.lastIndexOf("\n", nameStart - 1) + 1;
  return nameStart - lineStart <= MOST_INDENT && LINE_START.test(segment.slice(lineStart, nameStart));
}

function kindOf(name: string, value: string): string | undefined {
  if (OTHER_NAMES.test(name)) return undefined;
  const kind = KINDS.find(({ words }) => words.test(name))?.kind;
  if (hasService(name) && isServiceKey(value, kind !== undefined || KEY_WORD.test(name))) return "service-key";
  if (kind === undefined) return undefined;
  if ((kind === "secret" || kind === "password") && isSignSoup(value)) return kind;
  const isValue = /aws.*secret/i.test(name) ? value.length === 40 : isValueOf(kind, name, value);
  return isValue && !isStandIn(value) && !MEMBER.test(value) ? kind : undefined;
}

function isValueOf(kind: string, name: string, value: string): boolean {
  switch (kind) {
    case "password":
      return looksLikePassword(value);
    case "token":
      return isUuid(value) ? QUALIFIED_TOKEN.test(name) : value.length >= LEAST_TOKEN && looksRandom(value);
    case "key":
      return value.length >= LEAST_KEY && !OTHER_KEYS.test(parted(name)) && looksLikeKey(value);
    default:
      return value.length >= LEAST_SECRET && (looksRandom(value) || isUuid(value));
  }
}

/** Compares the single words of a name in camel case: `SetSysctl` does not contain Etsy. */
function hasService(name: string): boolean {
  return SERVICE_NAME.test(parted(name));
}

function parted(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

function isServiceKey(value: string, named: boolean): boolean {
  if (/x{6,}|0{8,}|\*{3,}|[<>{}$]/i.test(value)) return false;
  if (named && /^\d{15,40}$/.test(value)) return variety(value) >= 4;
  if (variety(value) < 7) return false;
  if (isUuid(value)) return named;
  if (named)
    return value.length >= 12 && (looksRandom(value) || /^(?=.*\d)(?:[A-Z0-9]{20,}|[a-z0-9]{20,})$/.test(value));
  return /^[A-Za-z0-9_=-]{20,128}$/.test(value) && !isStandIn(value) && looksRandom(value);
}
