/** The kind of a response, by its content type or, if that is missing, by its first bytes. */
import { FetchError } from "./fetch-error.js";

export type ContentKind = "html" | "text";

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;
const TEXT =
  /^(?:text\/.+|.+\+(?:json|xml|yaml)|application\/(?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-javascript|typescript|sql|graphql|x-sh|x-httpd-php|x-ndjson|ndjson|jsonl|json5|x-www-form-urlencoded|x-latex|x-tex|rtf|xml-dtd|manifest\+json|x-subrip))$/;
const UNNAMED = /^(?:|application\/octet-stream|binary\/octet-stream|application\/x-unknown|unknown\/unknown)$/;

const HELP = "Only text can be fetched; for other files use a shell command such as curl, if that is allowed.";

/** Empty if it is not a valid type: messages contain it, so it must not be arbitrary text. */
export function mediaType(contentType: string): string {
  return /^\s{0,9}([\w.+-]{1,40}\/[\w.+-]{1,60})\s{0,9}(?:;|$)/.exec(contentType)?.[1]?.toLowerCase() ?? "";
}

/** Uses only the headers, so that a video is refused before it is read. @throws FetchError */
export function refuseUnreadable(contentType: string): void {
  const type = mediaType(contentType);
  if (type === "text/event-stream") throw new FetchError("This is a stream of events without an end, not a page.");
  if (HTML.test(type) || TEXT.test(type) || UNNAMED.test(type)) return;
  throw new FetchError(`This is ${nameOf(type)}, not text. ${HELP}`);
}

/** @throws FetchError */
export function contentKind(contentType: string, bytes: Uint8Array): ContentKind {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 2048));
  if (head.subarray(0, 5).toString("latin1") === "%PDF-") throw new FetchError(`This is a PDF, not text. ${HELP}`);
  if (isBinary(head) && !/charset\s{0,9}=\s{0,9}["']?utf-16/i.test(contentType))
    throw new FetchError(`This is a binary file, not text. ${HELP}`);
  const type = mediaType(contentType);
  if (HTML.test(type)) return "html";
  const looksLikeHtml = /^\s{0,200}(?:<!doctype html|<html[\s>])/i.test(head.toString("latin1").replace(/^ï»¿/, ""));
  return UNNAMED.test(type) && looksLikeHtml ? "html" : "text";
}

function isBinary(head: Buffer): boolean {
  const isUtf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  return !isUtf16 && head.includes(0);
}

function nameOf(type: string): string {
  if (type === "application/pdf") return "a PDF";
  const [family] = type.split("/");
  if (family === "image" || family === "audio") return `an ${family} file (${type})`;
  return family === "video" || family === "font" ? `a ${family} file (${type})` : `a file of type ${type}`;
}
