/** Quotes a text as one word of a shell command. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same for a command that a person reads: a plain word stays without quotes. */
export function readableShellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : shellWord(text);
}
