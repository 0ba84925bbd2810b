/**
 * The context of the conversation: the sessions of this folder, the rules of this session, the instructions in use. A wide screen shows
 * the sections side by side. A section without content is left out.
 */
import { safeLine } from "../../../base/terminal-text.js";
import { padText, truncateText } from "../../../base/text-width.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import type { Dialog, DialogSize, DialogView, Step } from "./dialog.js";

/** The action of a key on a row. */
export type SidebarAction =
  | { readonly kind: "resume"; readonly session: string }
  | { readonly kind: "revoke"; readonly rule: number };

export interface SidebarRow {
  readonly text: string;
  readonly action?: SidebarAction;
}

export interface SidebarSection {
  readonly title: string;
  readonly rows: readonly SidebarRow[];
}

export interface SidebarState {
  /** The index of the selected row among those with an action. */
  readonly at: number;
}

/** Undefined if it was closed. */
export type SidebarResult = SidebarAction | undefined;

const WIDE = 120;
const GAP = 2;
const ACTION_KEYS = { resume: "enter resumes · ", revoke: "x revokes · " } as const;

export function sidebarDialog(sections: readonly SidebarSection[]): Dialog<SidebarState, SidebarResult> {
  const filled = sections.filter(({ rows }) => rows.length > 0);
  const actions = filled.flatMap(({ rows }) => rows.flatMap(({ action }) => (action === undefined ? [] : [action])));
  return {
    name: "sidebar",
    first: { at: 0 },
    onKey: (state, key) => onKey(actions, state, key),
    view: (state, size, theme) => view(filled, { selected: actions[state.at], size, theme }),
  };
}

function onKey(
  actions: readonly SidebarAction[],
  { at }: SidebarState,
  { id }: Key,
): Step<SidebarState, SidebarResult> {
  const selected = actions[at];
  switch (id) {
    case "up":
    case "k":
      return { state: { at: Math.max(0, at - 1) } };
    case "down":
    case "j":
      return { state: { at: Math.max(0, Math.min(actions.length - 1, at + 1)) } };
    case "enter":
      return selected?.kind === "resume" ? { done: selected } : { state: { at } };
    case "x":
    case "delete":
      return selected?.kind === "revoke" ? { done: selected } : { state: { at } };
    case "escape":
    case "q":
    case "alt+s":
    case "ctrl+c":
      return { done: undefined };
    default:
      return { state: { at } };
  }
}

interface Look {
  readonly selected: SidebarAction | undefined;
  readonly size: DialogSize;
  readonly theme: Theme;
}

function view(sections: readonly SidebarSection[], look: Look): DialogView {
  const { size, theme, selected } = look;
  const { columns, rows } = size;
  const room = Math.max(1, rows - 1);
  const isWide = columns >= WIDE && sections.length > 1;
  const width = isWide ? Math.floor((columns - GAP * (sections.length - 1)) / sections.length) : columns;
  const drawn = sections.map((section) => sectionLines(section, { ...look, width }));
  const lines = isWide ? sideBySide(drawn, width) : drawn.flat().map(({ styled }) => styled);
  if (sections.length === 0) lines.push(theme.dim(truncateText("Nothing to show yet.", columns)));
  const act = selected === undefined ? "" : ACTION_KEYS[selected.kind];
  const foot = theme.dim(truncateText(`${act}up and down choose · esc closes`, columns));
  return { lines: [...lines.slice(0, room), foot] };
}

interface Line {
  readonly bare: string;
  readonly styled: string;
}

function sectionLines({ title, rows }: SidebarSection, { selected, theme, width }: Look & { width: number }): Line[] {
  const head = truncateText(title, width);
  return [
    { bare: head, styled: theme.heading(head) },
    ...rows.map(({ text, action }) => {
      const isHere = action !== undefined && action === selected;
      const mark = isHere ? "❯ " : "  ";
      const bare = truncateText(`${mark}${safeLine(text)}`, width);
      return { bare, styled: isHere ? theme.selected(bare) : bare };
    }),
  ];
}

function sideBySide(sections: readonly (readonly Line[])[], width: number): string[] {
  const height = Math.max(...sections.map((lines) => lines.length));
  return Array.from({ length: height }, (_, row) =>
    sections
      .map((lines) => {
        const { bare, styled } = lines[row] ?? { bare: "", styled: "" };
        return styled + padText(bare, width + GAP).slice(bare.length);
      })
      .join("")
      .trimEnd(),
  );
}
