/**
 * The keys that this process holds. Redaction hides their exact values, whatever they look like: patterns recognise only keys of known
 * forms.
 */

/** A shorter value is no key, and would hide ordinary words. */
const LEAST_LENGTH = 8;
/** Set where a server needs no key. */
const PLACEHOLDER =
  /^(?:lm-?studio|not-?needed|no-?key.*|sk-no-key-required|unused-?key|placeholder|api-?key|test-?key|dummy-?key)$/i;
/** Passwords are left out: in development they are words such as the name of the database. */
const KEY_VARIABLE = /(?:^|_)(?:KEY|TOKEN|SECRET|PAT|OXBOW_PASSPHRASE)$|APIKEY$/i;
/** Many variables name the file of a key. */
const PATH = /^(?:~?\/|\.{1,2}\/|[A-Za-z]:\\).*\.\w{1,5}$/;

const known = new Set<string>();
let pattern: RegExp | undefined;

export function noteSecret(value: string): void {
  const secret = value.trim();
  if (secret.length < LEAST_LENGTH || /\s/.test(secret) || PLACEHOLDER.test(secret) || known.has(secret)) return;
  known.add(secret);
  // A longer one may begin with a shorter one.
  const longestFirst = [...known].sort((a, b) => b.length - a.length);
  pattern = new RegExp(longestFirst.map((each) => each.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"), "g");
}

/** Notes the values of those variables whose names say that they hold a key. */
export function noteKeyVariables(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value = ""] of Object.entries(variables)) {
    if (KEY_VARIABLE.test(name) && !PATH.test(value)) noteSecret(value);
  }
}

/** The next of them in the text; undefined if there is none. */
export function findOwnSecret(
  text: string,
  from: number,
): { readonly start: number; readonly end: number } | undefined {
  if (pattern === undefined) return undefined;
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  return match === null ? undefined : { start: match.index, end: match.index + match[0].length };
}
