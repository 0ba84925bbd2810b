/** Renders a tree as Markdown or as plain text. Text is not escaped, because a model reads it, not a browser. */
import { codeLanguage } from "./code-language.js";
import { type Element, type HtmlNode, isElement, leftAfter, rawText } from "./element.js";
import { MarkdownWriter, type WriterOptions } from "./markdown-writer.js";
import { dataRows, type Row } from "./table.js";
import { isArticle, isFurniture, isUnseen } from "./visible.js";

export interface RenderOptions extends WriterOptions {
  /** The base of relative links. */
  readonly base: URL;
}

export function render(root: Element, options: RenderOptions): string {
  const writer = new MarkdownWriter(options);
  new Renderer(writer, options, isArticle(root) ? 1 : 0).children(root);
  return writer.toString();
}

const MAX_LINK = 2000;
/** A link with longer text lacks its end tag. */
const MAX_LINK_TEXT = 500;
/** The sign at a heading that links to itself. */
const PERMALINK = /^[#¶§\u{1f517}\s]*$/u;

type Handler = (renderer: Renderer, element: Element) => void;

class Renderer {
  readonly writer: MarkdownWriter;
  /** The elements around the one that is written, outermost first. */
  readonly around: Element[] = [];
  readonly #options: RenderOptions;
  readonly #marks = new Set<string>();
  #articles: number;

  /** `articles`: how many main parts and articles contain this. */
  constructor(writer: MarkdownWriter, options: RenderOptions, articles: number) {
    this.writer = writer;
    this.#options = options;
    this.#articles = articles;
  }

  children(element: Element): void {
    this.around.push(element);
    for (const child of element.children) this.node(child);
    this.around.pop();
  }

  node(node: HtmlNode): void {
    if (this.writer.isFull) return;
    if (!isElement(node)) {
      this.writer.text(node);
      return;
    }
    if (isUnseen(node) || isFurniture(node, this.#articles > 0 ? "article" : "site")) return;
    const inside = isArticle(node) ? 1 : 0;
    this.#articles += inside;
    const handler = HANDLERS.get(node.name);
    if (handler === undefined) this.children(node);
    else handler(this, node);
    this.#articles -= inside;
  }

  block(kind: 1 | 2, write: () => void): void {
    this.writer.break(kind);
    write();
    this.writer.break(kind);
  }

  /** Marks are not nested in themselves, and only go around running text. */
  marked(element: Element, [open, close]: readonly [string, string]): void {
    if (element.rich || this.#marks.has(open)) {
      this.children(element);
      return;
    }
    this.#marks.add(open);
    this.writer.marked(open, close, () => this.children(element));
    this.#marks.delete(open);
  }

  /** Empty for links within the page and for invalid addresses. */
  absolute(href: string | undefined): string | undefined {
    const written = href?.trim() ?? "";
    if (written === "" || written.startsWith("#") || written.length > MAX_LINK) return undefined;
    const base = this.#options.base.href;
    if (!URL.canParse(written, base)) return undefined;
    const url = new URL(written, base);
    if (!/^(?:https?|mailto|ftp):$/.test(url.protocol)) return undefined;
    return url.href.replace(/[()]/g, (character) => (character === "(" ? "%28" : "%29"));
  }

  cells(row: Row | undefined, columns: number): readonly string[] {
    return Array.from({ length: columns }, (_, column) => {
      const cell = row?.cells[column];
      if (cell === undefined) return "";
      const writer = new MarkdownWriter(this.#options);
      writer.inline(() => new Renderer(writer, this.#options, this.#articles).children(cell));
      return writer.toString().replaceAll("|", "\\|");
    });
  }
}

const handle = (names: string, handler: Handler) => names.split(" ").map((name) => [name, handler] as const);
const mark =
  (open: string, close = open) =>
  (renderer: Renderer, element: Element) =>
    renderer.marked(element, [open, close]);

/** Elements that are not listed are running text. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map([
  ...handle(
    "address article aside body center details dialog div dl fieldset figcaption figure footer form header hgroup html legend " +
      "main nav noscript p search section summary caption",
    (renderer, element) => renderer.block(2, () => renderer.children(element)),
  ),
  ...handle("dt tr td th option", (renderer, element) => renderer.block(1, () => renderer.children(element))),
  ...handle("h1 h2 h3 h4 h5 h6", writeHeading),
  ...handle("ul ol menu dir", writeList),
  ...handle("li", (renderer, element) => writeItem(renderer, element, "- ")),
  ...handle("dd", (renderer, element) => renderer.writer.nested(": ", "  ", () => renderer.children(element))),
  ...handle("blockquote", (renderer, element) => {
    renderer.block(2, () => renderer.writer.nested("> ", "> ", () => renderer.children(element)));
  }),
  ...handle("pre listing xmp", writePreformatted),
  ...handle("table", writeTable),
  ...handle("hr", ({ writer }) => (writer.isInline || writer.plain ? writer.break(2) : writer.lines(["---"]))),
  ...handle("br", ({ writer }) => writer.lineBreak()),
  ...handle("b strong", mark("**")),
  ...handle("em i", mark("*")),
  ...handle("del s strike", mark("~~")),
  ...handle("q", mark('"')),
  ...handle("sup", mark("^", "")),
  ...handle("code kbd samp tt", writeCode),
  ...handle("a", writeLink),
  ...handle("img", writeImage),
  ...handle("input", ({ writer }, { attributes }) => {
    writer.word(attributes.has("checked") ? "[x]" : "[ ]");
    writer.space();
  }),
  ...handle("math", writeMath),
]);

function writeHeading(renderer: Renderer, element: Element): void {
  const { writer } = renderer;
  const signs = `${"#".repeat(Number(element.name[1]))} `;
  renderer.block(2, () => writer.inline(() => writer.marked(signs, "", () => renderer.children(element))));
}

function writeList(renderer: Renderer, list: Element): void {
  let number = Number.parseInt(list.attributes.get("start") ?? "1", 10) || 1;
  const isNested = renderer.around.some(({ name }) => name === "li");
  renderer.block(isNested ? 1 : 2, () => {
    renderer.around.push(list);
    for (const child of list.children) {
      if (!isElement(child) || child.name !== "li") renderer.node(child);
      else if (!isUnseen(child)) writeItem(renderer, child, list.name === "ol" ? `${number++}. ` : "- ");
    }
    renderer.around.pop();
  });
}

function writeItem(renderer: Renderer, item: Element, sign: string): void {
  renderer.writer.nested(sign, " ".repeat(sign.length), () => renderer.children(item));
}

function writeLink(renderer: Renderer, element: Element): void {
  const [only = "", second] = element.children;
  if (second === undefined && !isElement(only) && PERMALINK.test(only)) return;
  const isShort = leftAfter(element, MAX_LINK_TEXT) >= 0;
  const href = isShort ? renderer.absolute(element.attributes.get("href")) : undefined;
  if (href === undefined || renderer.writer.plain) renderer.children(element);
  else if (element.rich && !renderer.writer.isInline) {
    renderer.block(2, () => renderer.children(element));
    renderer.writer.lines([`Link: ${href}`]);
  } else renderer.writer.inline(() => renderer.marked(element, ["[", `](${href})`]));
}

function writeImage({ writer }: Renderer, { attributes }: Element): void {
  const alt = (attributes.get("alt") ?? "").replace(/\s+/g, " ").trim();
  if (alt !== "") writer.word(writer.plain ? alt : `[image: ${alt}]`);
}

function writeMath(renderer: Renderer, element: Element): void {
  const source = element.attributes.get("alttext") ?? texOf(element);
  if (source === undefined) renderer.children(element);
  else renderer.writer.word(`$${source.replace(/\s+/g, " ").trim()}$`);
}

function writeCode({ writer }: Renderer, element: Element): void {
  const text = rawText(element, isUnseen).replace(/\s+/g, " ");
  if (text.startsWith(" ")) writer.space();
  writer.word(writer.plain ? text.trim() : codeSpan(text.trim()));
  if (text.endsWith(" ")) writer.space();
}

function writePreformatted({ writer, around }: Renderer, element: Element): void {
  const text = rawText(element, isUnseen).replace(/\r\n?/g, "\n").replace(/^\n/, "").trimEnd();
  if (text === "") return;
  if (writer.isInline) {
    writer.word(codeSpan(text.trim().replace(/\s+/g, " ")));
    return;
  }
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  const lines = text.split("\n");
  writer.lines(writer.plain ? lines : [fence + codeLanguage(element, around), ...lines, fence]);
}

function writeTable(renderer: Renderer, table: Element): void {
  const rows = renderer.writer.isInline ? undefined : dataRows(table);
  if (rows === undefined) {
    renderer.block(2, () => renderer.children(table));
    return;
  }
  for (const child of table.children) if (isElement(child) && child.name === "caption") renderer.node(child);
  renderer.writer.lines(tableLines(renderer, rows));
}

/** Yields lines one by one, because the widest row may be far wider than the others. */
function* tableLines(renderer: Renderer, rows: readonly Row[]): Generator<string> {
  const columns = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  const head = rows[0]?.isHead ? rows[0] : undefined;
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  yield line(renderer.cells(head, columns));
  yield line(new Array<string>(columns).fill("---"));
  for (const row of rows) if (row !== head) yield line(renderer.cells(row, columns));
}

function codeSpan(code: string): string {
  if (code === "") return "";
  const ticks = "`".repeat(longestRun(code) + 1);
  const gap = code.startsWith("`") || code.endsWith("`") ? " " : "";
  return ticks + gap + code + gap + ticks;
}

/** The longest run of backticks. */
function longestRun(code: string): number {
  return (code.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

function texOf(element: Element): string | undefined {
  for (const child of element.children) {
    if (!isElement(child)) continue;
    if (child.name === "annotation" && child.attributes.get("encoding") === "application/x-tex") return rawText(child);
    const inner = texOf(child);
    if (inner !== undefined) return inner;
  }
  return undefined;
}
