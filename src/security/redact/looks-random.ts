/** Whether a value was made by a machine, or by a person who wrote a stand-in. */

const STAND_IN =
  /x{4,}|X{4,}|\*{3,}|\.{3}|…|#{4,}|_{4,}|[<>]|\$[{(\w]|\{\{|%[({]|^\{.*\}$|^\[.*\]$|^%\w+%$|example|your[-_]|yourkey|change[-_]?(?:me|it)|placeholder|redact|dummy|sample|insert|replace|todo|foobar|process\.env|(?:^|[-_])(?:fake|my|test|here)[-_]|encrypted:|0{8,}/i;

const ASCENDING = /01234567|12345678|23456789|abcdefgh|qwertyui/i;

export function isStandIn(value: string): boolean {
  return STAND_IN.test(value) || ASCENDING.test(value) || /([A-Za-z0-9]{3,})[-_.]?\1[-_.]?\1/.test(value);
}

export function variety(value: string): number {
  return new Set(value).size;
}

/** How unlike words a value is: changes between letters, digits and cases, and runs of consonants, for its length. */
export function looksRandom(value: string): boolean {
  if (value.length < 10 || variety(value) < 7) return false;
  if (isMixedCaseHex(value)) return false;
  if (/^[\d.,:_-]+$/.test(value)) return false;
  let changes = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])|[A-Z]{2}(?=[a-z])|[a-z][A-Z](?=[A-Z\d])/g)?.length ?? 0;
  changes += 2 * (value.match(/[bcdfghjklmnpqrstvwxz]{5,}/gi)?.length ?? 0);
  return changes >= 2 && changes / value.length >= 0.11;
}

/** Machines write hex in one case; the mixed kind was typed to look like a key. */
function isMixedCaseHex(value: string): boolean {
  return /^[A-Fa-f0-9]{24,}$/.test(value) && /[a-f]/.test(value) && /[A-F]/.test(value);
}
