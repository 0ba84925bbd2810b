/** The whole conversation with all output, on a screen of its own. Scrolls, searches, and prints into the scrollback. */
import { safeLine } from "../../../base/terminal-text.js";
import { truncateText } from "../../../base/text-width.js";
import type { Block } from "../content/block.js";
import { renderBlock } from "../content/render-block.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import type { Dialog, DialogSize, DialogView, Step } from "./dialog.js";

export interface TranscriptState {
  /** The first row on the screen; undefined is the end. */
  readonly top?: number;
  readonly search?: string;
  readonly typing?: boolean;
  /** As the last view knew it. */
  readonly page: number;
}

/** The blocks to print into the scrollback; undefined when it was only read. */
export type TranscriptResult = readonly Block[] | undefined;

type TranscriptStep = Step<TranscriptState, TranscriptResult>;

interface Laid {
  readonly width: number;
  readonly theme: Theme;
  readonly lines: readonly string[];
  /** Where prompts begin. */
  readonly prompts: readonly number[];
}

export function transcriptDialog(blocks: readonly Block[]): Dialog<TranscriptState, TranscriptResult> {
  let laid: Laid | undefined;
  let rows = 1;
  const lay = (width: number, theme: Theme): Laid => {
    if (laid?.width !== width || laid.theme !== theme) laid = layOut(blocks, width, theme);
    return laid;
  };
  const count = () => laid?.lines.length ?? 0;
  const last = () => Math.max(0, count() - rows);
  const scroll = (state: TranscriptState, by: number): TranscriptStep => {
    const top = Math.max(0, Math.min(last(), (state.top ?? last()) + by));
    return { state: { ...withoutTop(state), ...(top < last() && { top }) } };
  };
  const jump = (state: TranscriptState, line: number | undefined): TranscriptStep =>
    line === undefined ? { state } : { state: { ...state, top: Math.max(0, Math.min(last(), line)) } };
  const find = (state: TranscriptState, direction: 1 | -1): TranscriptStep => {
    const { search = "" } = state;
    if (search === "" || laid === undefined) return { state };
    return jump(state, findLine(laid.lines, { search, from: state.top ?? last(), direction }));
  };
  const onKey = (state: TranscriptState, key: Key): TranscriptStep => {
    if (state.typing) return type(state, key, find);
    const at = state.top ?? last();
    switch (key.id) {
      case "escape":
      case "q":
      case "ctrl+o":
      case "ctrl+c":
        return { done: undefined };
      case "up":
      case "k":
        return scroll(state, -1);
      case "down":
      case "j":
        return scroll(state, 1);
      case "pageUp":
      case "b":
        return scroll(state, 1 - rows);
      case "pageDown":
      case "space":
        return scroll(state, rows - 1);
      case "home":
      case "g":
        return { state: { ...state, top: 0 } };
      case "end":
      case "shift+g":
      case "G":
        return { state: withoutTop(state) };
      case "{":
        return jump(
          state,
          laid?.prompts.findLast((line) => line < at),
        );
      case "}":
        return jump(
          state,
          laid?.prompts.find((line) => line > at),
        );
      case "/":
        return { state: { ...state, typing: true, search: "" } };
      case "n":
        return find(state, 1);
      case "shift+n":
      case "N":
        return find(state, -1);
      default:
        return { state };
    }
  };
  return {
    name: "transcript",
    fullScreen: true,
    first: { page: 1 },
    onKey,
    onPaste: (state, text) => (state.typing ? { state: { ...state, search: (state.search ?? "") + text } } : { state }),
    view: (state, size, theme) => {
      rows = Math.max(1, size.rows - 1);
      return view(lay(size.columns, theme), state, { size, theme });
    },
  };
}

function withoutTop({ top: _top, ...rest }: TranscriptState): TranscriptState {
  return rest;
}

function layOut(blocks: readonly Block[], width: number, theme: Theme): Laid {
  const lines: string[] = [];
  const prompts: number[] = [];
  for (const block of blocks) {
    if (block.kind === "prompt") prompts.push(lines.length);
    lines.push(...renderBlock(block, { width, theme, expanded: true, now: 0 }));
  }
  return { width, theme, lines, prompts };
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
  lines: readonly string[],
  { search, from, direction }: { readonly search: string; readonly from: number; readonly direction: 1 | -1 },
): number | undefined {
  const wanted = search.toLowerCase();
  for (let at = from + direction; at >= 0 && at < lines.length; at += direction) {
    if (lines[at]?.toLowerCase().includes(wanted)) return at;
  }
  return undefined;
}

function view(
  { lines }: Laid,
  { top, search = "", typing }: TranscriptState,
  { size, theme }: { readonly size: DialogSize; readonly theme: Theme },
): DialogView {
  const rows = Math.max(1, size.rows - 1);
  const first = top ?? Math.max(0, lines.length - rows);
  const shown = lines.slice(first, first + rows);
  while (shown.length < rows) shown.push("");
  const end = Math.min(lines.length, first + rows);
  const keys = "q closes · / searches · n N · { } prompts · g G";
  const foot = typing ? `/${safeLine(search)}` : `${end} of ${lines.length} lines · ${keys}`;
  const line = truncateText(foot, size.columns);
  return {
    lines: [...shown, typing ? line : theme.dim(line)],
    ...(typing && { cursor: { row: rows, column: Math.min(size.columns - 1, line.length) } }),
  };
}
