/** The text of a page that was fetched. */
import { contentKind } from "./content-kind.js";
import { decodeText } from "./decode-text.js";
import type { WEB_FORMATS } from "./definition.js";
import type { FetchedPage } from "./fetch-page.js";

export type PageFormat = (typeof WEB_FORMATS)[number];

export interface PageText {
  readonly text: string;
  readonly cut: boolean;
}

export async function pageText(page: FetchedPage, format: PageFormat): Promise<PageText> {
  const kind = contentKind(page.contentType, page.bytes);
  const decoded = decodeText(page.bytes, page.contentType);
  if (format === "raw" || kind === "text") return { text: decoded, cut: page.cut };
  const { htmlToMarkdown } = await import("./html/html-to-markdown.js");
  const { title, text: markdown, cut } = htmlToMarkdown(decoded, { url: page.url, format });
  const isSaid = title === "" || markdown.slice(0, 1000).includes(title);
  return { text: isSaid ? markdown : `Title: ${title}\n\n${markdown}`, cut: cut || page.cut };
}
