/** Reads git's configuration format, for the few settings that name places on the disk. What git would refuse is passed over. */

export interface GitSetting {
  /** In lower case; without the name in quotes that may follow it. */
  readonly section: string;
  /** In lower case. */
  readonly key: string;
  /** Empty for a key that stands alone. */
  readonly value: string;
}

const HEADER = /\[[ \t]*([-.A-Za-z0-9]+)(?:[ \t]+"(?:[^"\\\n]|\\.)*")?[ \t]*\]/y;
const KEY = /([A-Za-z][-A-Za-z0-9]*)[ \t]*(=)?[ \t]*/y;
const BLANK = /(?:[ \t\r\n\ufeff]|[#;][^\n]*)+/y;
const LINE_REST = /[^\n]*/y;

export function readGitConfig(text: string): readonly GitSetting[] {
  const settings: GitSetting[] = [];
  let section = "";
  let position = 0;
  const take = (shape: RegExp): RegExpExecArray | null => {
    shape.lastIndex = position;
    const found = shape.exec(text);
    if (found !== null) position += found[0].length;
    return found;
  };
  while (position < text.length) {
    if (take(BLANK) !== null) continue;
    const header = take(HEADER);
    if (header !== null) {
      section = (header[1] ?? "").toLowerCase();
      continue;
    }
    const key = take(KEY);
    if (key === null) {
      take(LINE_REST);
      position += 1;
      continue;
    }
    const { value, end } = key[2] === undefined ? { value: "", end: position } : readValue(text, position);
    position = end;
    settings.push({ section, key: (key[1] ?? "").toLowerCase(), value });
  }
  return settings;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** To the end of the line: quotes and escapes are resolved, a comment and the blanks before it are left out. */
function readValue(text: string, start: number): { readonly value: string; readonly end: number } {
  let value = "";
  let kept = 0;
  let quoted = false;
  let position = start;
  for (; position < text.length && text[position] !== "\n"; position++) {
    const sign = text.charAt(position);
    if (sign === "\\") {
      position += 1;
      const next = text.startsWith("\r\n", position) ? "\n" : text.charAt(position);
      if (next === "\n") position = text.indexOf("\n", position);
      else value += ESCAPES[next] ?? next;
      kept = value.length;
    } else if (sign === '"') {
      quoted = !quoted;
      kept = value.length;
    } else if (!quoted && (sign === "#" || sign === ";")) {
      while (position + 1 < text.length && text[position + 1] !== "\n") position += 1;
    } else {
      value += sign;
      if (quoted || !/[ \t\r]/.test(sign)) kept = value.length;
    }
  }
  return { value: value.slice(0, kept), end: position };
}
