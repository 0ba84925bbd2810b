/**
 * File names as strings that keep every byte.
 *
 * On Linux a name is a sequence of bytes. Node reads it as UTF-8 and replaces each invalid byte by U+FFFD, so two names look the
 * same, and neither can be opened. Here such a byte becomes a lone surrogate: U+DC00 plus the byte. Valid UTF-8 never decodes to a lone
 * surrogate, so no other name has this form and the conversion back is exact. Python calls this "surrogateescape".
 */
import { isUtf8 } from "node:buffer";
import { type PathLike, readdirSync, readlinkSync } from "node:fs";

const ESCAPES = 0xdc00;
const REPLACEMENT = "\ufffd";

/** Converts a path in this form for `node:fs`. Most paths stay unchanged. */
export function fsPath(path: string): string | Buffer {
  return path.isWellFormed() || process.platform === "win32" ? path : pathBytes(path);
}

/** The names in a folder. */
export function namesIn(folder: string): string[] {
  const path = fsPath(folder);
  const names = readdirSync(path);
  if (!names.some(isDoubtful)) return names;
  return readdirSync(path, { encoding: "buffer" }).map(pathText);
}

/** The target of a link, as text. */
export function linkTarget(link: string): string {
  const path: PathLike = fsPath(link);
  const target = readlinkSync(path);
  return isDoubtful(target) ? pathText(readlinkSync(path, { encoding: "buffer" })) : target;
}

/** For messages. A name that is not UTF-8 has the notation of bash: `$'a\xff'`. */
export function shownPath(path: string): string {
  if (path.isWellFormed()) return path;
  const escaped = Array.from(path, (char) => {
    const code = char.codePointAt(0) as number;
    if (isEscape(code)) return `\\x${(code - ESCAPES).toString(16)}`;
    if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
    return char === "'" || char === "\\" ? `\\${char}` : char;
  });
  return `$'${escaped.join("")}'`;
}

export function pathText(bytes: Buffer): string {
  const text = bytes.toString();
  if (!isDoubtful(text) || isUtf8(bytes)) return text;
  let result = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] as number;
    const piece = bytes.subarray(at, at + lengthAfter(first));
    const isValid = isUtf8(piece);
    result += isValid ? piece.toString() : String.fromCharCode(ESCAPES + first);
    at += isValid ? piece.length : 1;
  }
  return result;
}

export function pathBytes(path: string): Buffer {
  const pieces = Array.from(path, (char) => {
    const code = char.codePointAt(0) as number;
    return isEscape(code) ? Buffer.of(code - ESCAPES) : Buffer.from(char);
  });
  return Buffer.concat(pieces);
}

/** Contains U+FFFD: from Node for an invalid byte, or part of the name. */
function isDoubtful(text: string): boolean {
  return text.includes(REPLACEMENT);
}

function isEscape(code: number): boolean {
  return code >= ESCAPES + 0x80 && code <= ESCAPES + 0xff;
}

/** Counts how many bytes a character has that begins with this one. */
function lengthAfter(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}
