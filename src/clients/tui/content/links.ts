/** Targets of links in Markdown, and bare URLs in text. */

const MAX_TARGET = 2000;

/** The part `(target "title")` after a label. `unfinished` when the text ends before it does. */
export function findLink(text: string, at: number): { url: string; end: number } | "unfinished" | undefined {
  if (at >= text.length) return "unfinished";
  if (text[at] !== "(") return undefined;
  const rest = text.slice(at, at + MAX_TARGET);
  const found =
    /^\(\s*(?:<([^<>\n]*)>|([^\s<()]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)/.exec(rest);
  if (found !== null) return { url: found[1] ?? found[2] ?? "", end: at + found[0].length };
  const mayGoOn = text.length - at < MAX_TARGET && /^\(\s*(?:<[^<>\n]*|[^\s<]*)(?:\s+["'(][^"')]*)?\s*$/.test(rest);
  return mayGoOn ? "unfinished" : undefined;
}

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
