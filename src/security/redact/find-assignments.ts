/** `name = "value"` in the many ways of configuration and code, where the name tells that the value is a secret. */
import type { Finding } from "./finding.js";
import { isStandIn, looksRandom, variety } from "./looks-random.js";
import { OTHER_NAMES, SECRET_WORDS, SERVICES } from "./secret-names.js";

const WORDS = Object.values(SECRET_WORDS).join("|");
/** In a list, only the name of a key makes the next entry its value. */
const KEY_NAME = new RegExp(`${WORDS}|key`, "i");
const KINDS = Object.entries(SECRET_WORDS).map(([kind, words]) => ({ kind, words: new RegExp(words, "i") }));
const SERVICE = `(?:${SERVICES.join("|")})`;

const SIGN = "(?::[ \\t]{0,3}[A-Za-z][\\w<>]{0,20}[ \\t]{0,3}=|=>|:=|\\?=|={1,3}|:|\\|\\||<-|>|(?<=[\"'`]),)";
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
const UUID = /^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$/;
/** Parsers have tokens, too: the vaguest word asks for the longest value. */
const LEAST_TOKEN = 18;
const LEAST_SECRET = 12;
const LINE_START =
  /^[\s#>+*|$"'\d:→│/;-]*(?:(?:export|set|env|setx|ENV|ARG|-e|--env|declare|local|readonly)\s+|\$env:)?["'-]*$/;

function nameGrams(name: string): string[] {
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
    const name = before + word + (/^[\w.-]*/.exec(sign)?.[0] ?? "");
    const kind = /,\s*$/.test(sign) && !KEY_NAME.test(name) ? undefined : kindOf(name, value);
    if (kind !== undefined && (bare === undefined || isPlainContext(segment, match.index - before.length, sign)))
      findings.push({ start, end, kind });
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
  if (kind === undefined || isStandIn(value) || UUID.test(value)) return undefined;
  if (/aws.*secret/i.test(name)) return value.length === 40 ? kind : undefined;
  if (kind === "password") return looksLikePassword(value) ? kind : undefined;
  return value.length >= (kind === "token" ? LEAST_TOKEN : LEAST_SECRET) && looksRandom(value) ? kind : undefined;
}

/** The name is compared with its humps taken apart: `SetSysctl` has nothing of Etsy. */
function hasService(name: string): boolean {
  return SERVICE_NAME.test(name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase());
}

function isServiceKey(value: string, named: boolean): boolean {
  if (/x{6,}|0{8,}|\*{3,}|[<>{}$]/i.test(value)) return false;
  if (named && /^\d{15,40}$/.test(value)) return variety(value) >= 4;
  if (variety(value) < 7) return false;
  if (UUID.test(value)) return named;
  if (named)
    return value.length >= 12 && (looksRandom(value) || /^(?=.*\d)(?:[A-Z0-9]{20,}|[a-z0-9]{20,})$/.test(value));
  return /^[A-Za-z0-9_=-]{20,128}$/.test(value) && !isStandIn(value) && looksRandom(value);
}

function looksLikePassword(value: string): boolean {
  if (value.length < 7 || variety(value) < 5) return false;
  return /\d/.test(value) && /[A-Za-z]/.test(value) && !/^[a-z]+[A-Za-z]*\d$|^[\w$]+\.[\w$.]+$|[()]/.test(value);
}
