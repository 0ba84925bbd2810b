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

const SIGN = "(?::[ \\t]{0,3}[A-Za-z][\\w<>]{0,20}[ \\t]{0,3}=|=>|:=|\\?=|!?={1,3}|:|\\|\\||<-|>|(?<=[\"'`]),)";
const TO_SIGN = `[\\w.-]{0,40}(?: [\\w-]{1,20})?(?:\\\\?["'\`]|\\]){0,3}[ \\t]{0,40}${SIGN}[ \\t]{0,40}`;

/** What every such name begins with, see grams.ts. */
export const NAME_GRAMS: readonly string[] = `${WORDS}|${SERVICES.join("|")}`.split("|").flatMap(nameGrams);

const SECRET_NAMES = `${WORDS}|${SERVICE}`;

const ASSIGNMENT = new RegExp(
  `(${SECRET_NAMES})(${TO_SIGN})(?:[a-z@]{0,2}\\\\?(["'\`])([^\\s"'\`\\\\]{6,1024})(?=["'\`\\\\\\s]|$)|([^\\s"'\`\\\\<>(){}[\\],;|&]{8,1024})(?=[\\s"'\`\\\\,;&<)|]|$))`,
  "gi",
);

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
  /^[\s#>+*|$"'\d:→│/;-]*(?:(?:export|set|env|setx|ENV|ARG|-e|--env|declare|local|readonly)\s+|\$env:)?["'-]*$/;

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
  ASSIGNMENT.lastIndex = 0;
  for (let match = ASSIGNMENT.exec(segment); match !== null; match = ASSIGNMENT.exec(segment)) {
    const [all, word = "", sign = "", , quoted, bare] = match;
    const value = quoted ?? bare ?? "";
    const end = match.index + all.length;
    const start = end - value.length;
    const before = /[\w.-]{0,40}$/.exec(segment.slice(Math.max(0, match.index - 40), match.index))?.[0] ?? "";
    const name = before.replace(/^-D/, "") + word + (/^[\w.-]*/.exec(sign)?.[0] ?? "");
    const kind = /,\s*$/.test(sign) && !KEY_NAME.test(name) ? undefined : kindOf(name, value);
    const isLiteral = () =>
      bare === undefined ||
      isPlainContext(segment, match.index - before.length, sign) ||
      (!IN_CALL.test(segment.slice(0, match.index - before.length)) && looksLikeKey(value));
    if (kind !== undefined && isLiteral()) findings.push({ start, end, kind });
    else ASSIGNMENT.lastIndex = match.index + word.length;
  }
  return findings;
}

/** A value without quotes is a literal in configuration and shell, a name in code. */
function isPlainContext(segment: string, nameStart: number, sign: string): boolean {
  if (/[\w"'\]]=$/.test(sign) || sign === "=" || />$/.test(sign)) return true;
  return LINE_START.test(segment.slice(segment.lastIndexOf("\n", nameStart - 1) + 1, nameStart));
}

function kindOf(name: string, value: string): string | undefined {
  if (OTHER_NAMES.test(name)) return undefined;
  const kind = KINDS.find(({ words }) => words.test(name))?.kind;
  if (hasService(name) && isServiceKey(value, kind !== undefined || KEY_WORD.test(name))) return "service-key";
  if (kind === undefined) return undefined;
  if ((kind === "secret" || kind === "password") && isSignSoup(value)) return kind;
  if (isStandIn(value) || MEMBER.test(value)) return undefined;
  if (/aws.*secret/i.test(name)) return value.length === 40 ? kind : undefined;
  return isValueOf(kind, name, value) ? kind : undefined;
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
