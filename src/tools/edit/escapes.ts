/**
 * Quotations that were escaped once too often: `\"` for `"`, `\n` for a line break, `\\` for `\`.
 *
 * 1. Nothing is unescaped on suspicion: the caller checks the reading against the file.
 * 2. The replacement is read in the same way as the quotation, or literally, or not at all: whichever its own text proves.
 */
const SEQUENCES = /\\([\s\S])/g;

const MEANINGS: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  '"': '"',
  "'": "'",
  "`": "`",
  $: "$",
  "/": "/",
  "\\": "\\",
};

export interface Reading {
  readonly old: string;
  readonly new: string;
}

/** The ways in which an edit may have been meant, the literal one first. */
export function readings(old: string, fresh: string): readonly Reading[] {
  const out: Reading[] = [{ old, new: fresh }];
  for (const kinds of [`"'\`$/`, `ntr"'\`$/\\`]) {
    const plain = unescape(old, kinds);
    if (out.some((reading) => reading.old === plain)) continue;
    const meant = readLike(fresh, old, kinds);
    if (meant !== undefined) out.push({ old: plain, new: meant });
  }
  return out;
}

function unescape(text: string, kinds: string): string {
  return text.replace(SEQUENCES, (sequence, char: string) =>
    kinds.includes(char) ? (MEANINGS[char] ?? sequence) : sequence,
  );
}

/** The replacement as meant by someone who escaped the quotation, or undefined when it could be either. */
function readLike(fresh: string, old: string, kinds: string): string | undefined {
  if (!fresh.includes("\\")) return fresh;
  const used = escapedKinds(old).filter((kind) => kinds.includes(kind));
  const escaped = escapedKinds(fresh);
  const isEscaped = escaped.some((kind) => used.includes(kind));
  const isLiteral = used.some((kind) => hasPlain(fresh, kind));
  if (isEscaped === isLiteral) return undefined;
  if (isLiteral) return fresh;
  return escaped.every((kind) => used.includes(kind)) ? unescape(fresh, kinds) : undefined;
}

function escapedKinds(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(SEQUENCES), (match) => match[1] as string))];
}

/** Whether the text holds, unescaped, what `kind` stands for. */
function hasPlain(text: string, kind: string): boolean {
  if (kind === "\\") return escapedKinds(text).some((other) => MEANINGS[other] === undefined);
  return text.replace(SEQUENCES, "").includes(MEANINGS[kind] as string);
}

/** The backslashes of a text, to compare two spellings of it. */
export function backslashes(text: string): string {
  return (text.match(/\\+[^\s]?/g) ?? []).join(" ");
}
