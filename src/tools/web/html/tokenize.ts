/**
 * HTML into tags and text, as browsers do it where it matters for the text.
 *
 * 1. Every character is looked at a bounded number of times: whatever is left open (a comment, a tag, a script) ends with the page.
 * 2. Nothing is an error.
 */
import { decodeAttribute, decodeText } from "./entities.js";

export interface TagSink {
  text(text: string): void;
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  close(name: string): void;
  /** Whether to stop here. */
  isFull(): boolean;
}

/** Between these tags there are no tags. */
const RAW = new Set("script style textarea title xmp iframe noembed noframes plaintext".split(" "));
/** Raw, and yet references are read. */
const RAW_WITH_REFERENCES = new Set(["textarea", "title"]);
const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();

export function tokenize(html: string, sink: TagSink): void {
  let at = 0;
  while (at < html.length && !sink.isFull()) {
    const open = nextMarkup(html, at);
    if (open > at) sink.text(decodeText(html.slice(at, open)));
    if (open >= html.length) return;
    at = markup(html, open, sink);
  }
}

/** Where the next `<` stands that begins something. */
function nextMarkup(html: string, from: number): number {
  for (let at = html.indexOf("<", from); at >= 0; at = html.indexOf("<", at + 1)) {
    if (isLetter(html, at + 1)) return at;
    const next = html[at + 1];
    if (next === "!" || next === "?" || (next === "/" && isLetter(html, at + 2))) return at;
  }
  return html.length;
}

/** What begins at a `<`; the position behind it. */
function markup(html: string, open: number, sink: TagSink): number {
  if (html.startsWith("<!--", open)) return after(html, "-->", html.startsWith("<!-->", open) ? open + 2 : open + 4);
  if (html.startsWith("<![CDATA[", open)) {
    const close = html.indexOf("]]>", open);
    sink.text(html.slice(open + 9, close < 0 ? html.length : close));
    return close < 0 ? html.length : close + 3;
  }
  if (html[open + 1] === "!" || html[open + 1] === "?") return after(html, ">", open + 2);
  const isEnd = html[open + 1] === "/";
  const nameAt = open + (isEnd ? 2 : 1);
  const nameEnd = endOf(NAME, html, nameAt);
  const name = html.slice(nameAt, nameEnd).toLowerCase();
  if (isEnd) {
    sink.close(name);
    return skipAttributes(html, nameEnd);
  }
  const attributes = new Attributes(html, nameEnd);
  sink.open(name, attributes.values);
  return RAW.has(name) ? rawContent(html, { from: attributes.end, name, sink }) : attributes.end;
}

function rawContent(html: string, { from, name, sink }: { from: number; name: string; sink: TagSink }): number {
  const closing = new RegExp(`</${name}(?=[\\s/>])`, "gi");
  closing.lastIndex = from;
  const found = name === "plaintext" ? null : closing.exec(html);
  const content = html.slice(from, found?.index ?? html.length);
  if (name !== "script" && name !== "style") sink.text(RAW_WITH_REFERENCES.has(name) ? decodeText(content) : content);
  sink.close(name);
  return found === null ? html.length : skipAttributes(html, closing.lastIndex);
}

const NAME = /[^\s/>]*/y;
const SPACES = /[\s/]*/y;
const ATTRIBUTE = /[^\s/>=][^\s/>=]*/y;
const EQUALS = /\s*=\s*/y;
const BARE = /[^\s>]*/y;

function endOf(pattern: RegExp, html: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(html) ? pattern.lastIndex : from;
}

const MAX_ATTRIBUTES = 100;

/** The attributes of a tag from behind its name to behind its `>`. The first of two with one name counts. */
class Attributes {
  readonly end: number;
  readonly #values = new Map<string, string>();

  constructor(html: string, from: number) {
    let at = from;
    for (;;) {
      at = endOf(SPACES, html, at);
      if (at >= html.length || html[at] === ">") break;
      const nameEnd = Math.max(endOf(ATTRIBUTE, html, at), at + 1);
      const name = html.slice(at, nameEnd).toLowerCase();
      const valueAt = endOf(EQUALS, html, nameEnd);
      const { value, end } = valueAt > nameEnd ? attributeValue(html, valueAt) : { value: "", end: nameEnd };
      if (this.#values.size < MAX_ATTRIBUTES && !this.#values.has(name)) this.#values.set(name, decodeAttribute(value));
      at = end;
    }
    this.end = Math.min(at + 1, html.length);
  }

  get values(): ReadonlyMap<string, string> {
    return this.#values.size === 0 ? NO_ATTRIBUTES : this.#values;
  }
}

function attributeValue(html: string, at: number): { value: string; end: number } {
  const quote = html[at];
  if (quote === '"' || quote === "'") {
    const close = html.indexOf(quote, at + 1);
    const end = close < 0 ? html.length : close;
    return { value: html.slice(at + 1, end), end: Math.min(end + 1, html.length) };
  }
  const end = endOf(BARE, html, at);
  return { value: html.slice(at, end), end };
}

function skipAttributes(html: string, from: number): number {
  return after(html, ">", from);
}

function after(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from);
  return at < 0 ? html.length : at + text.length;
}

function isLetter(html: string, at: number): boolean {
  const code = html.charCodeAt(at) | 0x20;
  return code >= 0x61 && code <= 0x7a;
}
