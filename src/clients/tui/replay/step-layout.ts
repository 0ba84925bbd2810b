/** A step's content broken into lines for a width. */

import type { Style } from "../../../base/terminal-style.js";
import { wrapLine } from "../../../base/text-width.js";
import type { Section, StepContent } from "./step-content.js";

export interface LaidLine {
  readonly text: string;
  readonly style?: Style | undefined;
  /** The line before breaking, the same for all its parts. */
  readonly source: string;
}

export interface LayoutOptions {
  readonly columns: number;
  readonly details: boolean;
}

interface Laid extends LayoutOptions {
  readonly lines: readonly LaidLine[];
}

/** Cached: wrapping a long text takes longer than drawing it, and every scroll needs the same lines. */
const laid = new WeakMap<StepContent, Laid>();

export function layout(content: StepContent, { columns, details }: LayoutOptions): readonly LaidLine[] {
  const known = laid.get(content);
  if (known?.columns === columns && known.details === details) return known.lines;
  const lines: LaidLine[] = [];
  for (const section of shownSections(content, details)) {
    if (lines.length > 0) lines.push({ text: "", source: "" });
    if (section.label !== undefined) lines.push(...broken(`── ${section.label}`, columns, "dim"));
    for (const line of section.text.split("\n"))
      for (const part of broken(line, columns, section.style)) lines.push(part);
  }
  laid.set(content, { columns, details, lines });
  return lines;
}

export function shownSections(content: StepContent, details: boolean): readonly Section[] {
  return content.sections.filter(({ when }) => when === "always" || (when === "details") === details);
}

function broken(line: string, columns: number, style: Style | undefined): LaidLine[] {
  return wrapLine(line, Math.max(1, columns)).map((text) => ({ text, style, source: line }));
}
