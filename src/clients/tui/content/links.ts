/** Targets of links in Markdown, and bare URLs in text. */
import type { Span } from "./spans.js";

/** A bare `http(s)://` URL, without the punctuation of the sentence around it. */
export function findUrl(text: string, at: number): string | undefined {
  const pattern = /https?:\/\/[^\s<>"`]+/iy;
  pattern.lastIndex = at;
  let url = pattern.exec(text)?.[0];
  if (url === undefined) return undefined;
  for (;;) {
    const shorter = url.replace(/(?:[.,;:!?'*_~]|\\)+$/, "");
    const isOpen = shorter.endsWith(")") && count(shorter, ")") > count(shorter, "(");
    const next: string = isOpen || shorter.endsWith("]") ? shorter.slice(0, -1) : shorter;
    if (next === url) break;
    url = next;
  }
  return /^https?:\/\/./i.test(url) ? url : undefined;
}

function count(text: string, char: string): number {
  return text.split(char).length - 1;
}

/** Makes URLs in code and output links, even across a line break. */
export function withLinks(spans: readonly Span[]): readonly Span[] {
  return spans.flatMap((each) => (/https?:\/\//i.test(each.text) && each.url === undefined ? linked(each) : [each]));
}

function linked(whole: Span): Span[] {
  const out: Span[] = [];
  let done = 0;
  for (const { index } of whole.text.matchAll(/https?:\/\//gi)) {
    const url = index < done ? undefined : findUrl(whole.text, index);
    if (url === undefined) continue;
    out.push({ ...whole, text: whole.text.slice(done, index) }, { ...whole, text: url, url });
    done = index + url.length;
  }
  return [...out, { ...whole, text: whole.text.slice(done) }].filter(({ text }) => text !== "");
}
