/** Quotes a text as one word of a shell command. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same for a command that a person reads: a plain word stays without quotes. */
export function readableShellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : shellWord(text);
}

/** Splits words like a shell, without other special characters. */
export function wordsIn(line: string): readonly string[] {
  const words: string[] = [];
  for (const match of line.matchAll(/((?:[^\s"']+|"(?:[^"\\]|\\.)*"|'[^']*'|["'])+)/g)) {
    const word = (match[1] ?? "").replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
      double === undefined ? (single ?? "") : double.replace(/\\(["\\])/g, "$1"),
    );
    words.push(word);
  }
  return words;
}

/** A word of a line, and where it is. */
export interface Word {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** A word, or several in quotation marks. */
const WORD = /"([^"]*)"(?=\s|$)|'([^']*)'(?=\s|$)|(\S+)/g;

/** Splits the line of a slash command: only a whole word may be in quotation marks. */
export function wordsOf(line: string): readonly Word[] {
  return [...line.matchAll(WORD)].map((match) => {
    const [whole, double, single, plain] = match;
    return { value: double ?? single ?? plain ?? "", start: match.index, end: match.index + whole.length };
  });
}
