/**
 * The inline part of Markdown: emphasis, code, links, breaks.
 *
 * 1. Nothing is hidden: HTML, images and reference links stay as written, and the target of a link is shown beside its label.
 * 2. A newline is a line break.
 * 3. The caller limits the text.
 */
import { Lexer, type MarkedToken, type Token, Tokenizer, type Tokens } from "marked";
import { safeLine } from "../../../base/terminal-text.js";
import type { Role } from "../theme.js";
import { findUrl } from "./links.js";
import { plainText, type Span } from "./spans.js";

/** Characters that most lines do not contain. */
const SPECIAL = /[\\`*_~[\]!<&\n]|https?:/i;
/** A longer text under one line of signs is no heading. */
const MAX_HEADING = 200;

/** Leaves as text what the screen shows as it is written. */
class ScreenTokenizer extends Tokenizer {
  override html() {
    return undefined;
  }

  override def() {
    return undefined;
  }

  override tag() {
    return undefined;
  }

  override lheading(src: string): Tokens.Heading | undefined {
    const found = super.lheading(src);
    return found === undefined || found.text.length > MAX_HEADING || found.text.includes("\n") ? undefined : found;
  }

  override del(src: string, masked: string, previous: string): Tokens.Del | undefined {
    return src.startsWith("~~") ? super.del(src, masked, previous) : undefined;
  }

  override url(src: string): Tokens.Link | undefined {
    const url = findUrl(src, 0);
    if (url === undefined) return undefined;
    return { type: "link", raw: url, href: url, text: url, tokens: [{ type: "text", raw: url, text: url }] };
  }
}

export const LEXING = { gfm: true, breaks: true, tokenizer: new ScreenTokenizer() };

/** `codeMark` goes around code, for a theme that has no colour for it. */
export function parseInline(text: string, codeMark = ""): readonly Span[] {
  if (!SPECIAL.test(text)) return [{ text, roles: [] }];
  return spansOf(Lexer.lexInline(text, LEXING), codeMark);
}

export function spansOf(tokens: readonly Token[] | undefined, codeMark: string): readonly Span[] {
  const out: Span[] = [];
  addTokens(tokens, { codeMark, roles: [], url: undefined, out });
  return out;
}

/**
 * Where a text may be cut without changing what comes before: at a space, with no mark before it that later text may still close. Zero if
 * there is no such place.
 */
export function safeCut(text: string): number {
  let at = 0;
  let cut = 0;
  for (const token of Lexer.lexInline(text, LEXING)) {
    if (token.type === "text") {
      const open = token.raw.search(/[`*_~[\\<]/);
      const whole = open === -1 ? token.raw : token.raw.slice(0, open);
      const space = lastBreak(whole);
      if (space > 0) cut = at + space;
      if (open !== -1) return cut;
    }
    at += token.raw.length;
    if (token.type === "br") cut = at;
  }
  return cut;
}

/** Behind the last space, or the last character of a script without spaces. */
function lastBreak(text: string): number {
  for (let at = text.length; at > 0; at--) {
    const unit = text.charCodeAt(at - 1);
    if (unit === 0x20 || unit === 0x0a || (unit >= 0x2e80 && unit < 0xd800)) return at;
  }
  return 0;
}

interface Around {
  readonly codeMark: string;
  /** The innermost first. */
  readonly roles: readonly Role[];
  readonly url: string | undefined;
  readonly out: Span[];
}

const GROUPS: Readonly<Record<string, Role>> = { strong: "strong", em: "emphasis", del: "strike" };

function addTokens(tokens: readonly Token[] | undefined, around: Around): void {
  for (const token of (tokens ?? []) as readonly MarkedToken[]) {
    const role = GROUPS[token.type];
    if (role !== undefined) addTokens((token as Tokens.Em).tokens, { ...around, roles: [role, ...around.roles] });
    else if (token.type === "codespan") {
      const code = token.text.replaceAll("\n", " ");
      add(around.codeMark + code + around.codeMark, { ...around, roles: ["code", ...around.roles] });
    } else if (token.type === "link") addLink(token.tokens, token.href, around);
    else if (token.type === "image") addImage(token, around);
    else if (token.type === "br") add("\n", around);
    else if (token.type === "escape") add(token.text, around);
    else if (token.type === "text" && token.tokens !== undefined) addTokens(token.tokens, around);
    else if (token.type !== "checkbox") add(readable(token.raw), around);
  }
}

function addImage({ href, text }: Tokens.Image, around: Around): void {
  addLink([{ type: "text", raw: `[image] ${text}`, text }], href, around);
}

function addLink(label: readonly Token[], url: string, around: Around): void {
  const shown: Span[] = [];
  const inside = { ...around, roles: ["link", ...around.roles] as const, url };
  addTokens(label, { ...inside, out: shown });
  const text = plainText(shown);
  if (text === "" || text === url || `mailto:${text}` === url) {
    add(text === "" ? url : text, inside);
    return;
  }
  for (const each of shown) add(each.text, { ...inside, roles: each.roles });
  const dim = { ...around, roles: ["dim", ...around.roles] as const };
  add(" (", dim);
  add(url, { ...dim, url });
  add(")", dim);
}

function add(text: string, { roles, url, out }: Around): void {
  if (text === "") return;
  const last = out.at(-1);
  if (last !== undefined && last.url === url && last.roles.join() === roles.join())
    out[out.length - 1] = { ...last, text: last.text + text };
  else out.push(url === undefined ? { text, roles } : { text, roles, url });
}

const ENTITY =
  /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp|copy|reg|mdash|ndash|hellip|rarr|larr));/g;
const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", copy: "©", reg: "®" },
  ...{ mdash: "—", ndash: "–", hellip: "…", rarr: "→", larr: "←" },
};

/** Characters for entities, and line breaks for `<br>`. */
function readable(raw: string): string {
  if (!/[&<]/.test(raw)) return raw;
  return raw.replace(/<br *\/?>/gi, "\n").replace(ENTITY, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? safeLine(String.fromCodePoint(code)) : whole;
  });
}
