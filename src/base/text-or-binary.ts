/** Decides whether bytes or decoded text are readable. Text in an old encoding, or a log with some odd bytes, is still text. */

/** Control characters that no text has; escape sequences of a terminal are common in logs. */
const ODD = /[\x00-\x06\x0e-\x1a\x1c-\x1f\ufffd]/g;
const MOST_ODD = 0.1;
/** Always allowed, because a short word in an old encoding has a large share of them. */
const FEW = 10;
const SAMPLE = 64 * 1024;

export function isBinaryText(text: string): boolean {
  if (text.includes("\0")) return true;
  const sample = text.slice(0, SAMPLE);
  const odd = sample.match(ODD)?.length ?? 0;
  return odd > FEW && odd > sample.length * MOST_ODD;
}

export function isBinary(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return true;
  return isBinaryText(new TextDecoder("utf-8").decode(bytes.subarray(0, SAMPLE)));
}
