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

/** Splits the line of a slash command: only a whole word may be in quotation marks. By hand, because a line can have 100,000 words. */
export function wordsOf(line: string): readonly Word[] {
  const words: Word[] = [];
  for (let start = 0; start < line.length; start++) {
    if (isSpace(line, start)) continue;
    const quote = line.charAt(start);
    const close = quote === '"' || quote === "'" ? line.indexOf(quote, start + 1) : -1;
    const isQuoted = close !== -1 && (close + 1 === line.length || isSpace(line, close + 1));
    let end = isQuoted ? close + 1 : start + 1;
    while (!isQuoted && end < line.length && !isSpace(line, end)) end++;
    words.push({ value: isQuoted ? line.slice(start + 1, close) : line.slice(start, end), start, end });
    start = end;
  }
  return words;
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 ? code === 32 || (code >= 9 && code <= 13) : /\s/.test(text.charAt(at));
}
