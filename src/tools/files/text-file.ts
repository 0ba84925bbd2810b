/**
 * Converts between the text that tools see and the file's own bytes.
 *
 * 1. `decodeText` then `encodeText` with the same text gives the same bytes: encoding, byte order mark and every line ending.
 * 2. Text seen by tools has `\n` line endings and no byte order mark.
 * 3. A line that stays keeps its own ending; a new line takes the ending of the line before it.
 */
import { diffLines } from "../../base/diff.js";

/** `latin1` means any single-byte text: bytes that are not UTF-8 survive a round trip that way. */
export type TextEncodingName = "utf-8" | "utf-16le" | "utf-16be" | "latin1";

export interface TextLayout {
  readonly encoding: TextEncodingName;
  readonly bom: boolean;
  readonly newline: "\n" | "\r\n" | "mixed";
}

export interface DecodedText extends TextLayout {
  readonly text: string;
}

export const PLAIN_LAYOUT: TextLayout = { encoding: "utf-8", bom: false, newline: "\n" };

const SNIFF_BYTES = 8192;

/** NUL bytes near the start: no text in an encoding we read has them, except UTF-16, which says so in its first bytes. */
export function looksBinary(bytes: Uint8Array): boolean {
  if (utf16Mark(bytes) !== undefined) return false;
  return bytes.subarray(0, SNIFF_BYTES).includes(0);
}

export function isUtf16(bytes: Uint8Array): boolean {
  return utf16Mark(bytes) !== undefined;
}

export function decodeText(bytes: Buffer): DecodedText {
  const { raw, encoding, bom } = decodeRaw(bytes);
  const newline = newlineOf(raw);
  return { text: newline === "\n" ? raw : withPlainNewlines(raw), encoding, bom, newline };
}

/** `before` is the current text: it restores the ending of each line in a file with mixed endings. */
export function encodeText(text: string, layout: TextLayout, before?: Buffer): Buffer {
  const raw = before === undefined ? "" : decodeRaw(before).raw;
  const plain = isDamaged(raw) ? text : withPlainNewlines(text);
  return encodeRaw(withNewlines(plain, layout, raw), layout);
}

function withPlainNewlines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** A program doubled the line endings: text and line end cannot be separated, so everything counts as text. */
function isDamaged(raw: string): boolean {
  return raw.includes("\r\r\n");
}

/** The first character that the file's encoding cannot hold, or undefined. */
export function unencodable(text: string, encoding: TextEncodingName): string | undefined {
  return encoding === "latin1" ? /[^\u0000-\u00ff]/u.exec(text)?.[0] : undefined;
}

function decodeRaw(bytes: Buffer): { raw: string; encoding: TextEncodingName; bom: boolean } {
  const mark = utf16Mark(bytes);
  // With an odd byte at the end it is not UTF-16: that byte would be lost on the way back.
  if (mark !== undefined && bytes.length % 2 === 0) {
    const units = mark === "utf-16be" ? Buffer.from(bytes).swap16() : bytes;
    return { raw: units.toString("utf16le", 2), encoding: mark, bom: true };
  }
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const body = bom ? bytes.subarray(3) : bytes;
  const raw = body.toString("utf8");
  if (raw.includes("\ufffd") && !Buffer.from(raw, "utf8").equals(body)) {
    return { raw: bytes.toString("latin1"), encoding: "latin1", bom: false };
  }
  return { raw, encoding: "utf-8", bom };
}

function encodeRaw(raw: string, { encoding, bom }: TextLayout): Buffer {
  if (encoding === "latin1") return Buffer.from(raw, "latin1");
  const marked = bom ? `\ufeff${raw}` : raw;
  if (encoding === "utf-8") return Buffer.from(marked, "utf8");
  const units = Buffer.from(marked, "utf16le");
  return encoding === "utf-16be" ? units.swap16() : units;
}

function utf16Mark(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return undefined;
}

function newlineOf(raw: string): TextLayout["newline"] {
  if (!raw.includes("\r\n") || isDamaged(raw)) return "\n";
  return /(^|[^\r])\n/.test(raw) ? "mixed" : "\r\n";
}

function withNewlines(text: string, layout: TextLayout, before: string): string {
  if (layout.newline === "\n") return text;
  if (layout.newline === "\r\n" || before === "") return text.replaceAll("\n", "\r\n");
  return withMixedNewlines(text, before);
}

function withMixedNewlines(text: string, before: string): string {
  const old = before.split("\n");
  const oldEndings = old.map((line) => (line.endsWith("\r") ? "\r\n" : "\n"));
  const oldLines = old.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  const lines = text.split("\n");
  const endings: string[] = [];
  for (const part of diffLines(oldLines, lines)) {
    for (let i = 0; i < part.newCount; i++) {
      const kept = part.kind === "same" ? oldEndings[part.oldStart + i] : endings.at(-1);
      endings.push(kept ?? oldEndings[0] ?? "\n");
    }
  }
  return lines.map((line, i) => (i === lines.length - 1 ? line : line + endings[i])).join("");
}
