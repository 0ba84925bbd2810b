/**
 * The inline part of Markdown: emphasis, code, links, breaks.
 *
 * 1. Nothing is hidden: HTML, images and reference links stay as written, and the target of a link is shown beside its label.
 * 2. `finalLength` is the position of the first mark that later text may still close. Everything before it is final.
 * 3. The caller limits the text; the time is at most quadratic, only for nested brackets.
 */
import { safeLine } from "../../../base/terminal-text.js";
import type { Role } from "../theme.js";
import { type Mark, matchMarks } from "./inline-marks.js";
import { findLink, findUrl } from "./links.js";
import type { Span } from "./spans.js";

export type Node =
  | { readonly kind: "text"; text: string; readonly roles?: readonly Role[]; readonly url?: string }
  | Mark
  | { readonly kind: "bracket"; readonly at: number; readonly image: string; active: boolean }
  | { readonly kind: "group"; readonly nodes: Node[]; readonly roles: readonly Role[]; readonly url?: string };

const PLAIN = /(?:[^\\`*_~[\]!<&hH]|h(?!ttps?:))+/iy;
/** Characters that most lines do not contain. */
const SPECIAL = /[\\`*_~[\]!<&]|https?:/i;
const ESCAPABLE = /[!-/:-@[-`{-~]/;
const ENTITY =
  /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp|copy|reg|mdash|ndash|hellip|rarr|larr));/y;
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  reg: "®",
  mdash: "—",
  ndash: "–",
  hellip: "…",
  rarr: "→",
  larr: "←",
};

/** `codeMark` goes around code, for a theme that has no colour for it. */
export function parseInline(text: string, codeMark = ""): readonly Span[] {
  if (!SPECIAL.test(text)) return [{ text, roles: [] }];
  const parser = new InlineParser(text, codeMark);
  parser.run();
  return flatten(parser.nodes, []);
}

export function finalLength(text: string): number {
  if (!/[`*_~[]/.test(text)) return text.length;
  const parser = new InlineParser(text);
  parser.run();
  const open = parser.openAt();
  // If code or a link closes later, marks inside it no longer pair with marks before it.
  return open < text.length ? Math.min(open, finalLength(text.slice(0, open))) : text.length;
}

class InlineParser {
  readonly nodes: Node[] = [];
  readonly #text: string;
  readonly #codeMark: string;
  /** The indices in `nodes` of open brackets. */
  readonly #brackets: number[] = [];
  readonly #allBrackets: { readonly at: number; readonly active: boolean }[] = [];
  #openCode = Number.POSITIVE_INFINITY;
  #at = 0;

  constructor(text: string, codeMark = "") {
    this.#text = text;
    this.#codeMark = codeMark;
  }

  run(): void {
    while (this.#at < this.#text.length) this.#next();
    matchMarks(this.nodes, 0);
  }

  openAt(): number {
    const bracket = this.#allBrackets.find(({ active }) => active)?.at ?? Number.POSITIVE_INFINITY;
    const waits = this.nodes.find((node) => node.kind === "mark" && node.canOpen && node.count > 0);
    return Math.min(this.#openCode, bracket, waits?.kind === "mark" ? waits.at : Number.POSITIVE_INFINITY);
  }

  #next(): void {
    const char = this.#text[this.#at] as string;
    if (char === "\\") this.#escape();
    else if (char === "`") this.#code();
    else if (char === "*" || char === "_" || char === "~") this.#mark(char);
    else if (char === "[") this.#openBracket("");
    else if (char === "!" && this.#text[this.#at + 1] === "[") this.#openBracket("!");
    else if (char === "]") this.#closeBracket();
    else if (char === "&") this.#entity();
    else if (char === "<") this.#angle();
    else if (char === "h" || char === "H") this.#bareUrl();
    else this.#plain();
  }

  #say(text: string): void {
    const last = this.nodes.at(-1);
    if (last?.kind === "text" && last.roles === undefined && last.url === undefined) last.text += text;
    else this.nodes.push({ kind: "text", text });
    this.#at += text.length;
  }

  #plain(): void {
    PLAIN.lastIndex = this.#at;
    this.#say(PLAIN.exec(this.#text)?.[0] ?? (this.#text[this.#at] as string));
  }

  #escape(): void {
    const next = this.#text[this.#at + 1] ?? "";
    // A backslash at the end of a line is a break, which the newline is anyway.
    if (next === "\n") this.#at++;
    else if (ESCAPABLE.test(next)) {
      this.#at++;
      this.#say(next);
    } else this.#say("\\");
  }

  #code(): void {
    const fence = /`+/y;
    fence.lastIndex = this.#at;
    const ticks = fence.exec(this.#text)?.[0] ?? "`";
    const from = this.#at + ticks.length;
    const end = closingTicks(this.#text, from, ticks.length);
    if (end === undefined) {
      this.#openCode = Math.min(this.#openCode, this.#at);
      this.#say(ticks);
      return;
    }
    const inner = this.#text.slice(from, end).replaceAll("\n", " ");
    const isPadded = inner.startsWith(" ") && inner.endsWith(" ") && inner.trim() !== "";
    const shown = this.#codeMark + (isPadded ? inner.slice(1, -1) : inner) + this.#codeMark;
    this.nodes.push({ kind: "text", text: shown, roles: ["code"] });
    this.#at = end + ticks.length;
  }

  #mark(char: "*" | "_" | "~"): void {
    let end = this.#at;
    while (this.#text[end] === char) end++;
    const count = end - this.#at;
    const { canOpen, canClose } = flanking(this.#text, { from: this.#at, to: end, char });
    if (char === "~" && count !== 2) {
      this.#say(char.repeat(count));
      return;
    }
    this.nodes.push({ kind: "mark", char, count, length: count, canOpen, canClose, at: this.#at });
    this.#at = end;
  }

  #openBracket(image: string): void {
    this.#brackets.push(this.nodes.length);
    const bracket: Node = { kind: "bracket", at: this.#at, image, active: true };
    this.#allBrackets.push(bracket);
    this.nodes.push(bracket);
    this.#at += image.length + 1;
  }

  #closeBracket(): void {
    const index = this.#brackets.pop();
    const bracket = index === undefined ? undefined : this.nodes[index];
    if (index === undefined || bracket?.kind !== "bracket") {
      this.#say("]");
      return;
    }
    const link = findLink(this.#text, this.#at + 1);
    // The target of a link may still arrive.
    if (link === "unfinished") {
      this.#at++;
      this.nodes.push({ kind: "text", text: "]", roles: [] });
      return;
    }
    bracket.active = false;
    if (link === undefined) {
      this.#say("]");
      return;
    }
    const inner = this.nodes.splice(index + 1);
    this.nodes.pop();
    matchMarks(inner, 0);
    this.nodes.push(...linkNodes(inner, link.url, bracket.image));
    this.#at = link.end;
  }

  #entity(): void {
    ENTITY.lastIndex = this.#at;
    const found = ENTITY.exec(this.#text);
    if (found === null) {
      this.#say("&");
      return;
    }
    const [whole, decimal, hex, name] = found;
    const code = decimal !== undefined ? Number(decimal) : hex !== undefined ? Number.parseInt(hex, 16) : undefined;
    const isPoint = code === undefined || (code > 0 && code <= 0x10ffff);
    const shown = code === undefined ? NAMED[name ?? ""] : isPoint ? safeLine(String.fromCodePoint(code)) : undefined;
    this.#say(shown ?? whole);
    this.#at += whole.length - (shown ?? whole).length;
  }

  #angle(): void {
    const auto = /<((?:https?:\/\/|mailto:)[^\s<>]*)>/iy;
    auto.lastIndex = this.#at;
    const found = auto.exec(this.#text);
    const lineBreak = /<br *\/?>/iy;
    lineBreak.lastIndex = this.#at;
    const broken = lineBreak.exec(this.#text);
    if (found !== null) {
      const url = found[1] as string;
      this.nodes.push({ kind: "text", text: url, roles: ["link"], url });
      this.#at += found[0].length;
    } else if (broken !== null) {
      this.nodes.push({ kind: "text", text: "\n" });
      this.#at += broken[0].length;
    } else this.#say("<");
  }

  #bareUrl(): void {
    const isWord = this.#at > 0 && /[\p{L}\p{N}]/u.test(this.#text[this.#at - 1] as string);
    const url = isWord ? undefined : findUrl(this.#text, this.#at);
    if (url === undefined) {
      this.#say(this.#text[this.#at] as string);
      return;
    }
    this.nodes.push({ kind: "text", text: url, roles: ["link"], url });
    this.#at += url.length;
  }
}

function linkNodes(label: Node[], url: string, image: string): Node[] {
  const nodes: Node[] = image === "" ? label : [{ kind: "text", text: "[image] " }, ...label];
  const shown = flatten(label, [])
    .map(({ text }) => text)
    .join("");
  const isSame = shown === url || `mailto:${shown}` === url || shown === "";
  if (isSame) return [{ kind: "text", text: shown === "" ? url : shown, roles: ["link"], url }];
  const target: Node = { kind: "text", text: url, roles: ["dim"], url };
  return [
    { kind: "group", nodes, roles: ["link"], url },
    { kind: "text", text: " (", roles: ["dim"] },
    target,
    { kind: "text", text: ")", roles: ["dim"] },
  ];
}

function closingTicks(text: string, from: number, count: number): number | undefined {
  const runs = /`+/g;
  runs.lastIndex = from;
  for (let found = runs.exec(text); found !== null; found = runs.exec(text)) {
    if (found[0].length === count) return found.index;
  }
  return undefined;
}

const SPACE = /^\s?$/u;
/** Compiled on demand: a pattern with Unicode properties takes a millisecond. */
let punctuation: RegExp | undefined;

function isPunctuation(char: string): boolean {
  punctuation ??= /[\p{P}\p{S}]/u;
  return punctuation.test(char);
}

/** Whether a run of marks may begin or end emphasis, depending on the characters around it (CommonMark 6.2). */
function flanking(text: string, { from, to, char }: { from: number; to: number; char: string }) {
  const before = text.slice(Math.max(0, from - 1), from);
  const after = text.slice(to, to + 1);
  const left = !SPACE.test(after) && (!isPunctuation(after) || SPACE.test(before) || isPunctuation(before));
  const right = !SPACE.test(before) && (!isPunctuation(before) || SPACE.test(after) || isPunctuation(after));
  if (char !== "_") return { canOpen: left, canClose: right };
  return {
    canOpen: left && (!right || isPunctuation(before)),
    canClose: right && (!left || isPunctuation(after)),
  };
}

function flatten(nodes: readonly Node[], roles: readonly Role[], url?: string): Span[] {
  const spans: Span[] = [];
  const add = (text: string, own: readonly Role[], target = url) => {
    const last = spans.at(-1);
    const isSame = last?.url === target && last?.roles.join() === own.join();
    if (last !== undefined && isSame) spans[spans.length - 1] = { ...last, text: last.text + text };
    else spans.push({ text, roles: own, ...(target === undefined ? {} : { url: target }) });
  };
  for (const node of nodes) {
    if (node.kind === "text") add(node.text, [...(node.roles ?? []), ...roles], node.url ?? url);
    else if (node.kind === "bracket") add(`${node.image}[`, roles);
    else if (node.kind === "mark") add(node.char.repeat(node.count), roles);
    else
      for (const each of flatten(node.nodes, [...node.roles, ...roles], node.url ?? url))
        add(each.text, each.roles, each.url);
  }
  return spans;
}
