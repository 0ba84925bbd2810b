/** Lines for the screen, with the prefixes of containers and the blank lines between blocks. */
import type { Theme } from "../theme.js";
import { type Container, prefixOf } from "./containers.js";
import type { Place } from "./paragraph.js";
import { codeMarkOf, type Span } from "./spans.js";
import type { ContentTools } from "./tools.js";
import { wrapSpans } from "./wrap.js";

export interface LayoutView {
  readonly width: number;
  readonly theme: Theme;
  readonly tools: ContentTools;
}

export type LeafKind = "prose" | "heading" | "code" | "table" | "rule";

interface Shown {
  readonly kind: LeafKind;
  readonly containers: readonly Container[];
}

export class Page {
  /** Until the caller takes them. */
  out: string[] = [];
  view: LayoutView;
  /** The containers of the next line, from the outside in. */
  containers: Container[] = [];
  /** A blank line of the source that is not printed yet. */
  isBlank = false;
  /** It is a preview: its lines will be written again. */
  isDraft = false;
  #last: Shown | undefined;

  constructor(view: LayoutView) {
    this.view = view;
  }

  fork(): Page {
    const copy = new Page(this.view);
    copy.containers = this.containers.map((container) => ({ ...container }));
    copy.isBlank = this.isBlank;
    copy.isDraft = true;
    copy.#last = this.#last;
    return copy;
  }

  /** The width and prefixes for text that wraps at words. */
  place(kind: LeafKind = "prose"): Place {
    const { first, rest } = prefixOf(this.containers, this.view);
    return {
      width: Math.max(1, this.view.width - Math.max(first.width, rest.width)),
      codeMark: codeMarkOf(this.view.theme),
      emit: (spans) => this.emit(kind, this.#inQuote(spans)),
    };
  }

  /** A block, or a further part of a paragraph. */
  emit(kind: LeafKind, spans: readonly Span[], at: "words" | "anywhere" = "words"): void {
    this.gap(kind);
    this.write(spans, at);
  }

  write(spans: readonly Span[], at: "words" | "anywhere"): void {
    const { width, theme } = this.view;
    for (const line of wrapSpans(spans, { width, theme, at, ...prefixOf(this.containers, this.view) }))
      this.out.push(line);
    this.#print();
  }

  /** Lines that are laid out already. */
  writeLines(lines: readonly string[]): void {
    const { first, rest } = prefixOf(this.containers, this.view);
    for (const [index, line] of lines.entries()) {
      this.out.push(line === "" ? rest.text.trimEnd() : (index === 0 ? first : rest).text + line);
    }
    this.#print();
  }

  /** Writes the blank line before the next block, if there is one. */
  gap(kind: LeafKind): void {
    const last = this.#last;
    if (last !== undefined && (this.isBlank || needsGap(last, { kind, containers: this.containers }))) {
      const shared = this.containers.filter((each, index) => last.containers[index]?.id === each.id);
      this.out.push(prefixOf(shared, this.view).rest.text.trimEnd());
    }
    this.isBlank = false;
    this.#last = { kind, containers: [...this.containers] };
  }

  #inQuote(spans: readonly Span[]): readonly Span[] {
    if (!this.containers.some(({ kind }) => kind === "quote")) return spans;
    return spans.map((each) => ({ ...each, roles: [...each.roles, "quote"] }));
  }

  #print(): void {
    for (const container of this.containers) if (container.kind === "item") container.isPrinted = true;
  }
}

function needsGap(last: Shown, next: Shown): boolean {
  const quote = ({ containers }: Shown) => containers.findLast(({ kind }) => kind === "quote")?.id;
  const isApart = (kind: LeafKind) => kind === "code" || kind === "table" || kind === "rule";
  return quote(last) !== quote(next) || isApart(last.kind) || isApart(next.kind) || next.kind === "heading";
}
