/** Decides whether a value is random, or a placeholder that a person wrote. */

const STAND_IN =
  /x{4,}|X{4,}|\*{3,}|\.{3}|…|#{4,}|_{4,}|[<>]|\$[{(\w]|\{\{|%[({]|^\{.*\}$|^\[.*\]$|^%\w+%$|example|your[-_]|yourkey|change[-_]?(?:me|it)|placeholder|redact|dummy|sample|insert|replace|todo|foobar|process\.env|(?:^|[-_])(?:fake|my|here)[-_]|(?:^|[-_])test[-_](?<!^(?:[a-z]{2}_)?test_)|encrypted:|0{8,}/i;

const REPEATED = /([A-Za-z0-9]{3,})[-_.]?\1[-_.]?\1/;

/** A person writes short placeholders. Looking at more takes time with the square of the length. */
const LONGEST_STAND_IN = 128;

export function isStandIn(value: string): boolean {
  const begin = value.slice(0, LONGEST_STAND_IN);
  return STAND_IN.test(begin) || isTyped(begin) || REPEATED.test(begin);
}

const ROWS = "abcdefghijklmnopqrstuvwxyz 0123456789012345678901234567890 qwertyuiop asdfghjkl";
const LEAST_RUN = 5;

/** More than half of it runs along the alphabet, the digits or the keyboard. */
function isTyped(value: string): boolean {
  const small = value.toLowerCase();
  let typed = 0;
  for (let at = 0; at < small.length; ) {
    let length = 1;
    while (at + length < small.length && ROWS.includes(small.slice(at, at + length + 1))) length++;
    if (length >= LEAST_RUN) typed += length;
    at += length;
  }
  return typed > value.length / 2;
}

export function variety(value: string): number {
  return new Set(value).size;
}

/** Tells how unlike words a value is: changes between letters, digits and cases, and runs of consonants, for its length. */
export function looksRandom(value: string): boolean {
  if (value.length < 10 || isMixedCaseHex(value) || /^[\d.,:_-]+$/.test(value)) return false;
  let changes = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])|[A-Z]{2}(?=[a-z])|[a-z][A-Z](?=[A-Z\d])/g)?.length ?? 0;
  changes += 2 * (value.match(/[bcdfghjklmnpqrstvwxz]{5,}/gi)?.length ?? 0);
  return changes >= 2 && changes / value.length >= 0.11 && variety(value) >= 7;
}

/** Machines write hex in one case; the mixed kind was typed to look like a key. */
function isMixedCaseHex(value: string): boolean {
  return /^[A-Fa-f0-9]{24,}$/.test(value) && /[a-f]/.test(value) && /[A-F]/.test(value);
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/** For vague names: a value that no person would write and no program would use as a name. */
export function looksLikeKey(value: string): boolean {
  if (isUuid(value)) return true;
  if (!/^[A-Za-z0-9+/_.~=-]+$/.test(value) || /[/.][a-z]+[/.]/i.test(value)) return false;
  return /\d/.test(value) && looksRandom(value) && !isEncodedText(value);
}

/** Base64 of readable text. */
function isEncodedText(value: string): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value) || value.length % 4 !== 0) return false;
  return /^[\t\n\r\x20-\x7e]+$/.test(Buffer.from(value, "base64").toString("latin1"));
}

/** Letters with digits or signs among them, and nothing of code. */
export function looksLikePassword(value: string): boolean {
  if (value.length < 7 || !/[A-Za-z]/.test(value)) return false;
  if (/(?:^|\/)[a-z]{3,}(?:\/|[#@]|$)/.test(value) && value.includes("/")) return false;
  if (/[()]|&lt;|^[A-Z][A-Z0-9]*_[A-Z0-9_]*$|^[a-z]+[A-Za-z]*\d$|^[\w$]+\.[\w$.]+$/.test(value)) return false;
  const isMixed = /\d/.test(value) || /[a-z][!@#$%^&*?+~][a-z]/i.test(value) || looksRandom(value);
  return isMixed && variety(value) >= 5;
}

const SIGNS = /[!@#$%^&*()+=~?]/g;

/** Uses all kinds of characters; such a value may contain the mark of a placeholder by chance. */
export function isSignSoup(value: string): boolean {
  return (
    value.length >= 24 && /\d/.test(value) && new Set(value.match(SIGNS)).size >= 4 && !/\$\{|\{\{|\.{3}/.test(value)
  );
}
