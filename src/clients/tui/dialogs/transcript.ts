/** The whole conversation with all output, on the full screen, with scrolling and search. */
import { safeLine } from "../../../base/terminal-text.js";
import { truncateText } from "../../../base/text-width.js";
import type { Block } from "../content/block.js";
import { renderBlock } from "../content/render-block.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import type { Dialog, DialogSize, DialogView, Step } from "./dialog.js";

export interface TranscriptState {
  /** The number of the first row on the screen; undefined: the end. */
  readonly top?: number;
  readonly search?: string;
  readonly typing?: boolean;
  /** The page size of the last view. */
  readonly page: number;
}

type TranscriptStep = Step<TranscriptState, undefined>;

/** The content, the newest page first. */
export interface TranscriptSource {
  readonly pages: readonly (readonly Block[])[];
  readonly state: "complete" | "more" | "loading" | { readonly problem: string };
  loadEarlier(): void;
}

/**
 * Rows are numbered from the first one of the newest page, so that the numbers stay the same when an earlier page is loaded. Earlier
 * rows have negative numbers.
 */
interface Laid {
  readonly lines: readonly string[];
  /** Rows before number 0. */
  readonly earlier: number;
  /** The rows where prompts begin. */
  readonly prompts: readonly number[];
}

export function transcriptDialog(source: TranscriptSource): Dialog<TranscriptState, undefined> {
  const layout = new Layout(source);
  const pager = new Pager(source, layout);
  return {
    name: "transcript",
    fullScreen: true,
    first: { page: 1 },
    onKey: (state, key) => onKey(state, key, pager),
    onPaste: (state, text) => (state.typing ? { state: { ...state, search: (state.search ?? "") + text } } : { state }),
    view: (state, size, theme) => {
      pager.rows = Math.max(1, size.rows - 1);
      return view(layout.lay(size.columns, theme), state, { size, theme, source: source.state });
    },
  };
}

function onKey(state: TranscriptState, key: Key, pager: Pager): TranscriptStep {
  if (state.typing) return type(state, key, (typed, direction) => pager.find(typed, direction));
  switch (key.id) {
    case "escape":
    case "q":
    case "ctrl+o":
    case "ctrl+c":
      return { done: undefined };
    case "up":
    case "k":
      return pager.scroll(state, -1);
    case "down":
    case "j":
      return pager.scroll(state, 1);
    case "pageUp":
    case "b":
      return pager.scroll(state, 1 - pager.rows);
    case "pageDown":
    case "space":
      return pager.scroll(state, pager.rows - 1);
    case "home":
    case "g":
      return pager.toStart(state);
    case "end":
    case "shift+g":
    case "G":
      return { state: withoutTop(state) };
    case "{":
      return pager.toPrompt(state, -1);
    case "}":
      return pager.toPrompt(state, 1);
    case "/":
      return { state: { ...state, typing: true, search: "" } };
    case "n":
      return pager.find(state, 1);
    case "shift+n":
    case "N":
      return pager.find(state, -1);
    default:
      return { state };
  }
}

/** Moves through the rows. At the first one it loads earlier events. */
class Pager {
  readonly #source: TranscriptSource;
  readonly #layout: Layout;
  /** How many rows the screen shows. */
  rows = 1;

  constructor(source: TranscriptSource, layout: Layout) {
    this.#source = source;
    this.#layout = layout;
  }

  get #first(): number {
    return -this.#layout.laid.earlier;
  }

  get #last(): number {
    const { lines, earlier } = this.#layout.laid;
    return Math.max(this.#first, lines.length - earlier - this.rows);
  }

  scroll(state: TranscriptState, by: number): TranscriptStep {
    return this.#jump(state, (state.top ?? this.#last) + by);
  }

  toStart(state: TranscriptState): TranscriptStep {
    return this.#jump(state, this.#first);
  }

  toPrompt(state: TranscriptState, direction: 1 | -1): TranscriptStep {
    const at = state.top ?? this.#last;
    const { prompts } = this.#layout.laid;
    if (direction === -1) return this.#jump(state, prompts.findLast((line) => line < at) ?? this.#first);
    const next = prompts.find((line) => line > at);
    return next === undefined ? { state } : this.#jump(state, next);
  }

  find(state: TranscriptState, direction: 1 | -1): TranscriptStep {
    const { search = "" } = state;
    if (search === "") return { state };
    const found = findLine(this.#layout.laid, { search, from: state.top ?? this.#last, direction });
    if (found === undefined && direction === -1) this.#source.loadEarlier();
    return found === undefined ? { state } : { state: { ...state, top: this.#within(found) } };
  }

  #jump(state: TranscriptState, line: number): TranscriptStep {
    if (line <= this.#first) this.#source.loadEarlier();
    const top = this.#within(line);
    return { state: { ...withoutTop(state), ...(top < this.#last && { top }) } };
  }

  #within(line: number): number {
    return Math.max(this.#first, Math.min(this.#last, line));
  }
}

/** Each page is laid out once for a width. */
class Layout {
  readonly #source: TranscriptSource;
  #width = 0;
  #theme: Theme | undefined;
  #pages: { readonly of: readonly Block[]; readonly lines: readonly string[]; readonly prompts: readonly number[] }[] =
    [];
  laid: Laid = { lines: [], earlier: 0, prompts: [] };

  constructor(source: TranscriptSource) {
    this.#source = source;
  }

  lay(width: number, theme: Theme): Laid {
    const { pages } = this.#source;
    const isSame = this.#width === width && this.#theme === theme && this.#pages[0]?.of === pages[0];
    if (!isSame) this.#pages = [];
    else if (this.#pages.length === pages.length) return this.laid;
    this.#width = width;
    this.#theme = theme;
    for (const blocks of pages.slice(this.#pages.length)) this.#pages.push(layOut(blocks, width, theme));
    const lines: string[] = [];
    const prompts: number[] = [];
    const newest = this.#pages[0]?.lines.length ?? 0;
    const earlier = this.#pages.reduce((sum, page) => sum + page.lines.length, 0) - newest;
    for (const page of this.#pages.toReversed()) {
      for (const prompt of page.prompts) prompts.push(lines.length + prompt - earlier);
      for (const line of page.lines) lines.push(line);
    }
    this.laid = { lines, earlier, prompts };
    return this.laid;
  }
}

function withoutTop({ top: _top, ...rest }: TranscriptState): TranscriptState {
  return rest;
}

function layOut(blocks: readonly Block[], width: number, theme: Theme) {
  const lines: string[] = [];
  const prompts: number[] = [];
  for (const block of blocks) {
    if (block.kind === "prompt") prompts.push(lines.length);
    for (const line of renderBlock(block, { width, theme, expanded: true, now: 0 })) lines.push(line);
  }
  return { of: blocks, lines, prompts };
}

function type(
  state: TranscriptState,
  { id, data }: Key,
  find: (state: TranscriptState, direction: 1 | -1) => TranscriptStep,
): TranscriptStep {
  const { search = "" } = state;
  if (id === "escape") return { state: { ...state, typing: false, search: "" } };
  if (id === "enter") return find({ ...state, typing: false }, -1);
  if (id === "backspace") return { state: { ...state, search: [...search].slice(0, -1).join("") } };
  return /^[^\p{Cc}]+$/u.test(data) ? { state: { ...state, search: search + data } } : { state };
}

function findLine(
  { lines, earlier }: Laid,
  { search, from, direction }: { readonly search: string; readonly from: number; readonly direction: 1 | -1 },
): number | undefined {
  const wanted = search.toLowerCase();
  for (let at = from + earlier + direction; at >= 0 && at < lines.length; at += direction) {
    if (lines[at]?.toLowerCase().includes(wanted)) return at - earlier;
  }
  return undefined;
}

interface Look {
  readonly size: DialogSize;
  readonly theme: Theme;
  readonly source: TranscriptSource["state"];
}

const BEFORE = { more: "earlier ones with g · ", loading: "loading earlier ones … · ", complete: "" } as const;

function view({ lines, earlier }: Laid, { top, search = "", typing }: TranscriptState, look: Look): DialogView {
  const { size, theme, source } = look;
  const rows = Math.max(1, size.rows - 1);
  const first = top === undefined ? Math.max(0, lines.length - rows) : Math.max(0, top + earlier);
  const shown = lines.slice(first, first + rows);
  while (shown.length < rows) shown.push("");
  const end = Math.min(lines.length, first + rows);
  const keys = "q closes · / searches · n N · { } prompts · g G";
  const before = typeof source === "string" ? BEFORE[source] : `${safeLine(source.problem)} · `;
  const foot = typing ? `/${safeLine(search)}` : `${end} of ${lines.length} lines · ${before}${keys}`;
  const line = truncateText(foot, size.columns);
  return {
    lines: [...shown, typing ? line : theme.dim(line)],
    ...(typing && { cursor: { row: rows, column: Math.min(size.columns - 1, line.length) } }),
  };
}
