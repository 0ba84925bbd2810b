/** The `key: value` lines between two `---` at the beginning of a file: the part of YAML that a message needs. */

export interface FrontMatter {
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
  /** The number of the body's first line in the file, from 1. */
  readonly bodyLine: number;
}

export type FrontMatterFields = Readonly<Record<string, string | number | boolean | undefined>>;

const KEY_LINE = /^([A-Za-z_][\w-]*):(?:[ \t]+(.*))?$/s;

/** The body begins after an empty line and ends with our own line feed. */
export function renderFrontMatter(fields: FrontMatterFields, body: string): string {
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}: ${typeof value === "string" ? renderText(value) : String(value)}`);
  return `---\n${lines.join("\n")}\n---\n\n${body}\n`;
}

/** Files written by hand need none: everything else is the body. */
export function splitFrontMatter(file: string): FrontMatter {
  const text = unmarked(file);
  const found = text.startsWith("---\n") ? block(text) : undefined;
  if (found === undefined) return handWritten(text);
  const rest = text.slice(found.end);
  const gap = rest.startsWith("\n") ? 1 : 0;
  return { fields: found.fields, body: withoutLastLineFeed(rest.slice(gap)), bodyLine: found.lines + gap + 1 };
}

function handWritten(text: string): FrontMatter {
  const [empty = ""] = /^\n*/.exec(text) ?? [];
  return { fields: new Map(), body: withoutLastLineFeed(text.slice(empty.length)), bodyLine: empty.length + 1 };
}

/**
 * Without a byte order mark; and without carriage returns when an editor has put them everywhere. A file of ours has none in
 * its first line, and those of its body belong to the text.
 */
function unmarked(file: string): string {
  const text = file.startsWith("\ufeff") ? file.slice(1) : file;
  return /^---\n/.test(text) ? text : text.replaceAll("\r\n", "\n");
}

function block(text: string) {
  const fields = new Map<string, string>();
  let at = 4;
  for (let lines = 2; at < text.length; lines++) {
    const next = text.indexOf("\n", at);
    const line = text.slice(at, next === -1 ? text.length : next);
    at = next === -1 ? text.length : next + 1;
    if (/^---[ \t]*$/.test(line)) return { fields, end: at, lines };
    if (/^[ \t]*(#.*)?$/s.test(line)) continue;
    const [, key, value = ""] = KEY_LINE.exec(line) ?? [];
    // A rule at the beginning of a text, not front matter.
    if (key === undefined) return undefined;
    fields.set(key, parseText(value.trim()));
  }
  return undefined;
}

function withoutLastLineFeed(text: string): string {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** Plain where YAML reads it back as the same text, else in double quotes, which YAML and JSON have in common. */
function renderText(value: string): string {
  const plain =
    /^[A-Za-z][\w./+@-]*(:[\w./+@-]+)*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
  if (plain || isTime) return value;
  // YAML ends a line at some of these.
  return JSON.stringify(value).replace(/[\x7f-\x9f\u2028\u2029\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function parseText(value: string): string {
  if (value.startsWith('"')) {
    try {
      const [quoted = value] = /^"(?:[^"\\]|\\.)*"/s.exec(value) ?? [];
      return String(JSON.parse(quoted));
    } catch {
      return value;
    }
  }
  const single = /^'((?:[^']|'')*)'/.exec(value);
  if (single !== null) return (single[1] as string).replaceAll("''", "'");
  return value.replace(/[ \t]+#.*$/s, "");
}
