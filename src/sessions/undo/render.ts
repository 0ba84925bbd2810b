/** An undo plan for people and for programs, and what the session changed: the same plan read forwards. */
import { diffText } from "../../base/diff.js";
import { safeLine, safeText } from "../../base/terminal-text.js";
import type { JsonObject } from "../../protocol/json.js";
import { shownPath } from "../../system/path-bytes.js";
import { follows } from "./only.js";
import type { UndoPlan } from "./plan.js";
import type { UndoAction, UndoItem } from "./plan-items.js";

export interface RenderOptions {
  readonly color: boolean;
}

const MAX_FILE_LINES = 120;
const MAX_LINES = 1000;

const RED = "31";
const GREEN = "32";
const YELLOW = "33";
const CYAN = "36";
const BOLD = "1";

type Paint = (code: string, text: string) => string;

export function renderUndoPlan(plan: UndoPlan, { color }: RenderOptions): string {
  const paint: Paint = (code, text) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const by = (state: UndoItem["state"]) => plan.items.filter((item) => item.state === state);
  const ready = by("ready");
  const lines = [paint(BOLD, headline(plan, ready.length))];
  if (ready.length > 0) lines.push("", ...ready.map((item) => `  ${ACTIONS[item.action]} ${describe(item)}`));
  lines.push(
    ...problems("Conflicts (nothing is undone until they are resolved):", by("conflict"), (text) => paint(RED, text)),
  );
  lines.push(...problems("Cannot be undone:", by("impossible"), (text) => paint(YELLOW, text)));
  if (plan.notes.length > 0) lines.push("", "Not covered:", ...plan.notes.map((note) => `  ${safeLine(note)}`));
  lines.push(...diffs(ready, paint));
  return lines.join("\n");
}

/** Shows what the turns of the plan did, entries included that cannot be undone. */
export function renderChanges(plan: UndoPlan, { color }: RenderOptions): string {
  const paint: Paint = (code, text) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const items = plan.items.map(forwards);
  const lines = items.map((item) => {
    const note = item.reason === undefined ? "" : paint(YELLOW, `  (${safeLine(item.reason)})`);
    return `  ${CHANGES[item.action]} ${describe(item)}${note}`;
  });
  if (plan.notes.length > 0) lines.push("", "Not covered:", ...plan.notes.map((note) => `  ${safeLine(note)}`));
  return [...lines, ...diffs(items, paint)].join("\n");
}

export function changesJson(plan: UndoPlan): JsonObject {
  const { items, ...rest } = undoPlanJson({ ...plan, items: plan.items.map(forwards) });
  const changes = plan.items.map(({ action }) => CHANGES[action].trim());
  return { ...rest, items: (items as JsonObject[]).map((item, at) => ({ ...item, action: changes[at] ?? "" })) };
}

/** Swaps the two sides: from the state before the session to the present one. */
function forwards(item: UndoItem): UndoItem {
  const { from, to, text } = item;
  return { ...item, from: to, to: from, ...(text && { text: { from: text.to, to: text.from } }) };
}

/** The same as data, diffs included. */
export function undoPlanJson(plan: UndoPlan): JsonObject {
  return {
    session: plan.session,
    workspace: plan.root,
    redo: plan.redo,
    turns: plan.turns.map(({ id, number, at }) => ({
      id,
      at: new Date(at).toISOString(),
      ...(number !== undefined && { number }),
    })),
    items: plan.items.map((item) => ({
      path: shownPath(item.path),
      action: item.action,
      kind: item.kind,
      state: item.state,
      tools: [...item.tools],
      ...(item.reason !== undefined && { reason: item.reason }),
      ...(follows(plan, item) && { follows: true }),
      ...(item.text !== undefined && diffJson(item.text)),
    })),
    notes: [...plan.notes],
  };
}

const ACTIONS: Readonly<Record<UndoAction, string>> = {
  restore: "restore ",
  delete: "delete  ",
  recreate: "recreate",
  chmod: "chmod   ",
};

/** Name what the session did where an undo does this. */
const CHANGES: Readonly<Record<UndoAction, string>> = {
  restore: "changed",
  delete: "new    ",
  recreate: "deleted",
  chmod: "chmod  ",
};

function headline({ redo, turns }: UndoPlan, count: number): string {
  const numbers = turns.map(({ id, number }) => number ?? id);
  const which = numbers.length > 1 ? `turns ${numbers[0]} to ${numbers.at(-1)}` : `turn ${numbers[0] ?? "?"}`;
  const what = count === 0 ? "nothing to do" : count === 1 ? "1 change" : `${count} changes`;
  return `${redo ? "Redo" : "Undo"} of ${which}: ${what}`;
}

function describe(item: UndoItem): string {
  const { path, kind, from, to, text } = item;
  const shown = safeLine(shownPath(kind === "folder" ? `${path}/` : path));
  if (item.action === "chmod") return `${shown} (${octal(from?.mode)} → ${octal(to?.mode)})`;
  if (kind === "link")
    return `${shown} (link${to?.target === undefined ? "" : ` to ${safeLine(shownPath(to.target))}`})`;
  if (kind !== "file") return shown;
  if (text === undefined) return `${shown} (${from?.size ?? 0} → ${to?.size ?? 0} bytes)`;
  const { added, removed } = diffText(text.from, text.to, { maxLines: 0 });
  return `${shown} (+${added} -${removed})`;
}

function octal(mode: number | undefined): string {
  return mode === undefined ? "?" : mode.toString(8).padStart(3, "0");
}

function problems(title: string, items: readonly UndoItem[], paint: (text: string) => string): readonly string[] {
  if (items.length === 0) return [];
  return [
    "",
    paint(title),
    ...items.map(({ path, reason }) => `  ${safeLine(shownPath(path))}: ${safeLine(reason ?? "")}`),
  ];
}

function diffs(items: readonly UndoItem[], paint: Paint): readonly string[] {
  const lines: string[] = [];
  for (const { path, from, to, text, action } of items) {
    if (text === undefined || action === "chmod") continue;
    if (lines.length > MAX_LINES) {
      lines.push("", "… more diffs not shown");
      break;
    }
    const shown = safeLine(shownPath(path));
    const { text: hunks } = diffText(text.from, text.to, { maxLines: MAX_FILE_LINES });
    lines.push("", paint(BOLD, `--- ${from === undefined ? "/dev/null" : shown}`));
    lines.push(paint(BOLD, `+++ ${to === undefined ? "/dev/null" : shown}`));
    if (hunks !== "")
      lines.push(
        ...safeText(hunks)
          .split("\n")
          .map((line) => colored(line, paint)),
      );
  }
  return lines;
}

function colored(line: string, paint: Paint): string {
  if (line.startsWith("@@")) return paint(CYAN, line);
  if (line.startsWith("+")) return paint(GREEN, line);
  return line.startsWith("-") ? paint(RED, line) : line;
}

function diffJson({ from, to }: { readonly from: string; readonly to: string }): JsonObject {
  const { added, removed, text } = diffText(from, to, { maxLines: MAX_FILE_LINES });
  return { added, removed, diff: text };
}
