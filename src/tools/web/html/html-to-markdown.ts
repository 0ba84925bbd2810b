/** Converts a web page to Markdown: its main text, without the menus and banners of the site. */
import { type Element, isElement, rawText } from "./element.js";
import { parseHtml } from "./parse-html.js";
import { render } from "./render.js";
import { isArticle, isUnseen } from "./visible.js";

export interface PageText {
  readonly title: string;
  readonly text: string;
  /** The page was longer than the limit. */
  readonly cut: boolean;
}

export interface PageOptions {
  readonly url: URL;
  readonly format: "markdown" | "text";
  readonly maxCharacters?: number;
}

const MAX_CHARACTERS = 5_000_000;
/** A main part with less text is not the main part. */
const SHORT = 200;

export function htmlToMarkdown(html: string, options: PageOptions): PageText {
  const { root, cut } = parseHtml(html);
  const maxCharacters = options.maxCharacters ?? MAX_CHARACTERS;
  const facts = findFacts(root);
  const settings = { base: baseOf(options.url, facts.base), plain: options.format === "text", maxCharacters };
  const main = facts.main.length > 0 ? facts.main : facts.articles.length === 1 ? facts.articles : [];
  let text = main.map((element) => render(element, settings)).join("\n\n");
  if (text.length < SHORT) {
    const whole = render(root, settings);
    if (whole.length > text.length * 2) text = whole;
  }
  return { title: facts.title, text: text.slice(0, maxCharacters), cut: cut || text.length >= maxCharacters };
}

interface Facts {
  title: string;
  base: string | undefined;
  readonly main: Element[];
  readonly articles: Element[];
}

function findFacts(root: Element): Facts {
  const facts: Facts = { title: "", base: undefined, main: [], articles: [] };
  const visit = (element: Element) => {
    for (const child of element.children) {
      if (!isElement(child)) continue;
      if (child.name === "title") facts.title ||= rawText(child).replace(/\s+/g, " ").trim();
      else if (child.name === "base") facts.base ??= child.attributes.get("href");
      else if (child.name !== "head" && isUnseen(child)) continue;
      else if (child.name === "article") facts.articles.push(child);
      else if (isArticle(child)) {
        facts.main.push(child);
        continue;
      }
      visit(child);
    }
  };
  visit(root);
  return facts;
}

function baseOf(url: URL, base: string | undefined): URL {
  return base !== undefined && URL.canParse(base, url.href) ? new URL(base, url.href) : url;
}
