/** Limits the total size of instruction files, because every request of a session contains them. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

export interface CappedText extends NamedText {
  /** Says how many bytes of it were left out. */
  readonly cut: number;
}

/** In the given order, up to the limit. Empty texts and texts that do not fit at all are left out. */
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

/** An end that does not split a character. */
function characterEnd(bytes: Buffer, limit: number): number {
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}
