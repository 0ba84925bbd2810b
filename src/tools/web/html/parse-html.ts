/**
 * Tags and text into a tree.
 *
 * 1. The tree is never deeper than MAX_DEPTH, so that it can be walked by recursion, and never has more than MAX_TAGS elements.
 * 2. End tags that HTML lets people leave out are put in; those that close nothing are passed over.
 */
import type { Element, HtmlNode } from "./element.js";
import { type TagSink, tokenize } from "./tokenize.js";

export interface ParsedPage {
  readonly root: Element;
  /** The page had more tags than are read. */
  readonly cut: boolean;
}

const MAX_DEPTH = 250;
const MAX_TAGS = 400_000;

export function parseHtml(html: string): ParsedPage {
  const builder = new TreeBuilder();
  tokenize(html, builder);
  return { root: builder.root, cut: builder.isFull() };
}

const words = (list: string) => new Set(list.split(" "));

const VOID = words("area base basefont bgsound br col embed frame hr img input link meta param source track wbr");
/** What a paragraph cannot hold: it ends before these. */
const ENDS_PARAGRAPH = words(
  "address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form h1 h2 h3 h4 " +
    "h5 h6 header hgroup hr li main menu nav ol p pre search section summary table ul",
);
/** Within these, an end tag that is meant for something outside is ignored. */
const WALLS = words("table td th caption template html");
const INLINE_WALLS = new Set([...WALLS, ...ENDS_PARAGRAPH]);
const TABLE_PARTS = words("table caption thead tbody tfoot tr td th");
/** These end those that are open, as far up as the third set. */
const IMPLIED: readonly (readonly [starts: Set<string>, ends: Set<string>, upTo: Set<string>])[] = [
  [words("li"), words("li"), words("ul ol menu dir table td th")],
  [words("dt dd"), words("dt dd"), words("dl table td th")],
  [words("td th"), words("td th"), words("tr table")],
  [words("tr"), words("td th tr"), words("table thead tbody tfoot")],
  [words("thead tbody tfoot"), words("td th tr thead tbody tfoot caption"), words("table")],
  [words("option optgroup"), words("option"), words("select datalist")],
];
const HEADINGS = words("h1 h2 h3 h4 h5 h6");
const HEAD = words("head");
const IN_HEAD = words("title meta link style script base basefont bgsound noscript template");
/** More than running text: a table cell that holds one of these is no cell of a data table. */
const RICH = words("pre ul ol dl table blockquote h1 h2 h3 h4 h5 h6 hr figure details");
const TELLS_RICH = words("table a b strong em i del s strike");
const NOTHING: ReadonlyMap<string, string> = new Map();

class TreeBuilder implements TagSink {
  readonly root: Element = { name: "#root", attributes: NOTHING, children: [], rich: false };
  readonly #open: Element[] = [this.root];
  readonly #counts = new Map<string, number>();
  #tags = 0;
  /** Elements that were too deep to be entered and wait for their end tags. */
  #unentered = 0;

  isFull(): boolean {
    return this.#tags >= MAX_TAGS;
  }

  text(text: string): void {
    this.#add(text);
  }

  open(name: string, attributes: ReadonlyMap<string, string>): void {
    this.#tags++;
    if (!IN_HEAD.has(name)) this.#closeUpTo(HEAD, HEAD);
    if (name === "a") this.#closeUpTo(LINK, INLINE_WALLS);
    if (ENDS_PARAGRAPH.has(name)) this.#closeUpTo(PARAGRAPH, WALLS);
    for (const [starts, ends, upTo] of IMPLIED) if (starts.has(name)) this.#closeUpTo(ends, upTo);
    const element: Element = { name, attributes, children: [], rich: false };
    this.#add(element);
    if (RICH.has(name)) this.#markRich();
    if (VOID.has(name)) return;
    if (this.#open.length >= MAX_DEPTH) {
      this.#unentered++;
      return;
    }
    this.#open.push(element);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  close(name: string): void {
    this.#tags++;
    if (name === "br") this.#add({ name, attributes: NOTHING, children: [], rich: false });
    else if (this.#unentered > 0 && !VOID.has(name)) this.#unentered--;
    else if (HEADINGS.has(name)) this.#closeUpTo(HEADINGS, WALLS);
    else this.#closeUpTo(new Set([name]), TABLE_PARTS.has(name) ? TABLE : isBlock(name) ? WALLS : INLINE_WALLS);
  }

  #add(node: HtmlNode): void {
    this.#open.at(-1)?.children.push(node);
  }

  /** Closes the outermost open element of these names that is not beyond one of the others. */
  #closeUpTo(names: ReadonlySet<string>, walls: ReadonlySet<string>): void {
    if (![...names].some((name) => this.#counts.get(name))) return;
    let found = 0;
    for (let at = this.#open.length - 1; at > 0; at--) {
      const name = this.#open[at]?.name ?? "";
      if (names.has(name)) {
        found = at;
        if (names.size === 1) break;
      }
      if (walls.has(name)) break;
    }
    if (found === 0) return;
    for (const { name } of this.#open.splice(found)) this.#counts.set(name, (this.#counts.get(name) ?? 1) - 1);
  }

  #markRich(): void {
    for (const element of this.#open) if (TELLS_RICH.has(element.name)) element.rich = true;
  }
}

/** Elements of other people's making are taken for blocks. */
function isBlock(name: string): boolean {
  return ENDS_PARAGRAPH.has(name) || name.includes("-") || name === "body" || name === "html" || name === "head";
}

const PARAGRAPH = words("p");
const LINK = words("a");
const TABLE = words("table");
