/**
 * Builds a tree from the events of htmlparser2, which handles character references and optional end tags.
 *
 * 1. The tree is never deeper than MAX_DEPTH, so that it can be walked by recursion, and never has more than MAX_TAGS elements.
 * 2. It accepts any input.
 */
import { Parser } from "htmlparser2";
import type { Element } from "./element.js";

export interface ParsedPage {
  readonly root: Element;
  /** The page had more tags than the limit. */
  readonly cut: boolean;
}

const MAX_DEPTH = 250;
const MAX_TAGS = 200_000;
/** No real page nests deeper, and the parser takes quadratic time in the depth, so parsing stops there. */
const MAX_NESTING = 2_000;
/** The parser gets the page in pieces, so that it stops soon after a limit. */
const PIECE = 16_384;

export function parseHtml(html: string): ParsedPage {
  const builder = new TreeBuilder();
  const parser = new Parser(
    {
      ontext: (text) => builder.text(text),
      onopentag: (name, attributes) => builder.open(name, attributes),
      onclosetag: (name) => builder.close(name),
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true, recognizeCDATA: true },
  );
  for (let at = 0; at < html.length && !builder.isFull; at += PIECE) parser.write(html.slice(at, at + PIECE));
  if (!builder.isFull) parser.end();
  return { root: builder.root, cut: builder.isFull };
}

const words = (list: string) => new Set(list.split(" "));

const VOID = words("area base basefont bgsound br col embed frame hr img input link meta param source track wbr");
/** Any other element ends a head without an end tag. */
const IN_HEAD = words("title meta link style script base basefont bgsound noscript template");
/** Their content is not text of the page. */
const UNREAD = words("script style");
/** More than running text: a table cell with one of these does not belong to a data table. */
const RICH = words("pre ul ol dl table blockquote h1 h2 h3 h4 h5 h6 hr figure details");
const TELLS_RICH = words("table a b strong em i del s strike");

class TreeBuilder {
  readonly root: Element = { name: "#root", attributes: new Map(), children: [], rich: false };
  readonly #open: Element[] = [this.root];
  #tags = 0;
  /** The number of open elements that were too deep to enter. */
  #unentered = 0;

  get isFull(): boolean {
    return this.#tags >= MAX_TAGS || this.#unentered >= MAX_NESTING;
  }

  text(text: string): void {
    if (this.isFull || UNREAD.has(this.#open.at(-1)?.name ?? "")) return;
    this.#open.at(-1)?.children.push(text);
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.isFull) return;
    this.#tags++;
    const element: Element = { name, attributes: new Map(Object.entries(attributes)), children: [], rich: false };
    const isOutsideHead = this.#open.at(-1)?.name === "head" && !IN_HEAD.has(name);
    this.#open.at(isOutsideHead ? -2 : -1)?.children.push(element);
    if (RICH.has(name)) for (const outer of this.#open) if (TELLS_RICH.has(outer.name)) outer.rich = true;
    if (VOID.has(name)) return;
    if (this.#open.length >= MAX_DEPTH) this.#unentered++;
    else this.#open.push(element);
  }

  close(name: string): void {
    if (this.isFull || VOID.has(name)) return;
    if (this.#unentered > 0) this.#unentered--;
    else if (this.#open.length > 1) this.#open.pop();
  }
}
