/** The size that instruction files may have together: they are part of every request of a session. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

export interface CappedText extends NamedText {
  /** How many bytes of it were left out. */
  readonly cut: number;
}

export const DEFAULT_INSTRUCTION_BYTES = 32 * 1024;

/** In the order given, as far as the bytes go. What is empty, or did not fit at all, is not among them. */
export function cappedTexts(texts: readonly NamedText[], maxBytes: number): readonly CappedText[] {
  let left = maxBytes;
  const kept: CappedText[] = [];
  for (const { name, text } of texts) {
    if (text.trim() === "" || left <= 0) continue;
    const bytes = Buffer.from(text);
    const end = bytes.length <= left ? bytes.length : characterEnd(bytes, left);
    kept.push({ name, text: bytes.toString("utf8", 0, end), cut: bytes.length - end });
    left -= bytes.length;
  }
  return kept;
}

/** Not within a character. */
function characterEnd(bytes: Buffer, limit: number): number {
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}
