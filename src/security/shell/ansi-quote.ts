/** The text between `$'` and `'`. */

const SIMPLE: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
  "?": "?",
};

const ESCAPE = /\\(?:([abeEfnrtv\\"?])|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|([0-7]{1,3})|([\s\S]))/g;

/**
 * The resulting text; undefined if shells disagree: an escaped quote ends the quotation in shells without `$'`, a
 * NUL ends the text, and bytes past ASCII depend on the encoding.
 */
export function decodeAnsiQuote(raw: string): string | undefined {
  let known = true;
  const value = raw.replace(
    ESCAPE,
    (_, simple?: string, hex?: string, unicode?: string, octal?: string, other?: string) => {
      if (simple !== undefined) return SIMPLE[simple] ?? "";
      const code = hex ?? unicode;
      const number = code !== undefined ? Number.parseInt(code, 16) : Number.parseInt(octal ?? "", 8);
      if (other !== undefined || number === 0 || number > 127 || Number.isNaN(number)) known = false;
      return known ? String.fromCharCode(number) : "";
    },
  );
  return known ? value : undefined;
}
