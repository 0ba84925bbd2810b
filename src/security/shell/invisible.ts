/** Characters that are invisible or look like others. A command with one always asks. */
const INVISIBLE =
  /[^\S \t\n]|[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800](?<![\t\n])/u;
/** Enough for almost every command, and much faster. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

export function invisibleProblem(text: string): string | undefined {
  if (PLAIN.test(text)) return undefined;
  const found = INVISIBLE.exec(text)?.[0];
  if (found === undefined) return undefined;
  const code = found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  return `The command contains an invisible character (U+${code}).`;
}
