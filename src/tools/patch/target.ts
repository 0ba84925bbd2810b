/** The text that a patch changes: where a hunk fits, and why it fits nowhere. */
import { align, type Quotation, Refusal } from "../edit/align.js";
import { ChangeError } from "../edit/change-error.js";
import { fingerprint, occurrences } from "../edit/fingerprint.js";
import { merge, type Step } from "../edit/merge.js";
import { excerpt, nearestPlaces, renderExcerpt } from "../edit/nearest.js";
import { SearchedText } from "../edit/searched-text.js";
import { lineAt, listLines, type Splice, trimSplice } from "../edit/splice.js";
import type { Hunk, HunkLine } from "./changes.js";
import { findHeaders } from "./headers.js";

/** A way to apply a hunk. */
export interface Place {
  readonly start: number;
  /** The lines that change, without the kept ones around them: `[from, to)`. */
  readonly from: number;
  readonly to: number;
  splices(): readonly Splice[];
}

export class Target {
  readonly #file: SearchedText;
  readonly #text: string;

  constructor(text: string) {
    this.#file = new SearchedText(text);
    this.#text = text;
  }

  line(offset: number): number {
    return lineAt(this.#text, offset);
  }

  lines(places: readonly Place[]): string {
    return listLines(
      this.#text,
      places.map((place) => place.start),
    );
  }

  /** Every place where a hunk fits, in order; at least one. */
  places(hunk: Hunk): readonly Place[] {
    const quoted = hunk.lines.filter((line) => line.kind !== "add");
    const anchors = this.#anchors(hunk);
    const fits = (places: readonly Place[]) => afterAnchors(anchors, this.#atEnd(hunk, places));
    const exact = fits(this.#exact(hunk.lines));
    if (exact.length > 0) return exact;
    const shorter = withoutFinalBlanks(hunk.lines);
    const nearly = shorter.length < hunk.lines.length ? fits(this.#exact(shorter)) : [];
    if (nearly.length > 0) return nearly;
    const loose = fits(this.#loose(hunk));
    if (loose.length > 0) return loose;
    throw this.#missing(hunk, quoted);
  }

  #exact(lines: readonly HunkLine[]): readonly Place[] {
    const pattern = lines.map((line) => (line.kind === "add" ? "" : `${line.text}\n`)).join("");
    const places: Place[] = [];
    if (pattern === "") return places;
    for (let at = this.#text.indexOf(pattern); at >= 0; at = this.#text.indexOf(pattern, at + 1)) {
      if (at === 0 || this.#text[at - 1] === "\n") places.push(exactPlace(lines, at));
    }
    return places;
  }

  #loose(hunk: Hunk): readonly Place[] {
    const quoted = hunk.lines.filter((line) => line.kind !== "add").map((line) => line.text);
    const old = quoted.join("\n");
    const oldPrint = fingerprint(old);
    if (!/[\p{L}\p{N}]/u.test(oldPrint.text)) return [];
    const { text, print } = this.#file;
    const { places } = occurrences(print, oldPrint);
    return places.flatMap((at) => {
      const from = print.starts[at] as number;
      const to = print.ends[at + oldPrint.text.length - 1] as number;
      const start = text.lastIndexOf("\n", from - 1) + 1;
      const end = text.indexOf("\n", to) + 1;
      const isWhole = text.slice(start, from).trim() === "" && /^[\s,;]*$/.test(text.slice(to, end));
      if (!isWhole) return [];
      // The line end belongs to the lines, so the quotation ends with one.
      return [this.#mergedPlace(hunk, { file: this.#file, at, old: `${old}\n`, oldPrint })];
    });
  }

  /** A position that cannot be merged still counts: the hunk may belong there. */
  #mergedPlace(hunk: Hunk, quotation: Quotation): Place {
    const start = this.#text.lastIndexOf("\n", (this.#file.print.starts[quotation.at] as number) - 1) + 1;
    try {
      const splice = trimSplice(this.#text, merge(quotation, align(quotation), { steps: stepsOf(hunk.lines) }));
      return { start, from: splice.start, to: splice.end, splices: () => [splice] };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const refuse = () => {
        throw this.#refused(hunk, { start, reason: error.message });
      };
      return { start, from: start, to: start, splices: refuse };
    }
  }

  #refused(hunk: Hunk, { start, reason }: { start: number; reason: string }): ChangeError {
    const line = this.line(start);
    const count = hunk.lines.filter((each) => each.kind !== "add").length;
    const there = excerpt(this.#text.split("\n"), { start: line - 1, count });
    return new ChangeError(
      `${nameOf(hunk)}: it comes close to line ${line}, but ${reason}. Quote the file exactly:`,
      renderExcerpt(there),
    );
  }

  #atEnd(hunk: Hunk, places: readonly Place[]): readonly Place[] {
    if (!hunk.atEnd) return places;
    const count = hunk.lines.filter((line) => line.kind !== "add").length;
    return places.filter((place) => {
      let end = place.start;
      for (let i = 0; i < count && end < this.#text.length; i++) end = this.#text.indexOf("\n", end) + 1;
      return this.#text.slice(end).trim() === "";
    });
  }

  #anchors(hunk: Hunk): readonly number[] | undefined {
    if (hunk.headers.length === 0) return undefined;
    const found = findHeaders(this.#text, hunk.headers);
    if (typeof found === "string") throw this.#noHeader(hunk, found);
    return found;
  }

  #noHeader(hunk: Hunk, header: string): ChangeError {
    const near = nearestPlaces(this.#text, header);
    const advice = near === undefined ? "" : " The nearest lines are:";
    return new ChangeError(
      `${nameOf(hunk)}: no line reads ${JSON.stringify(header)}, which '@@' names.${advice}`,
      near,
    );
  }

  #missing(hunk: Hunk, quoted: readonly HunkLine[]): ChangeError {
    const old = quoted.map((line) => line.text).join("\n");
    const limits = [hunk.headers.length > 0 ? " after its '@@' line" : "", hunk.atEnd ? " at the end of the file" : ""];
    const near = nearestPlaces(this.#text, old);
    const advice = near === undefined ? "Nothing in the file resembles them." : "The nearest places are:";
    const expected = renderExcerpt(excerpt(old.split("\n"), { start: 0, count: quoted.length })).replace(
      /^\d+\t/gm,
      "  ",
    );
    return new ChangeError(
      `${nameOf(hunk)}: the file does not have these lines${limits.join("")}:\n${expected}\n${advice}`,
      near,
    );
  }
}

function exactPlace(lines: readonly HunkLine[], start: number): Place {
  const splices: Splice[] = [];
  let at = start;
  let open: { start: number; end: number; text: string } | undefined;
  for (const { kind, text } of lines) {
    if (kind === "keep") {
      if (open !== undefined) splices.push(open);
      open = undefined;
      at += text.length + 1;
      continue;
    }
    open ??= { start: at, end: at, text: "" };
    if (kind === "add") {
      open.text += `${text}\n`;
    } else {
      at += text.length + 1;
      open.end = at;
    }
  }
  if (open !== undefined) splices.push(open);
  return { start, from: splices[0]?.start ?? start, to: splices.at(-1)?.end ?? start, splices: () => splices };
}

/** With headers, the first place after each of them. */
function afterAnchors(anchors: readonly number[] | undefined, places: readonly Place[]): readonly Place[] {
  if (anchors === undefined) return places;
  const chosen = anchors.flatMap((anchor) => places.find((place) => place.start >= anchor) ?? []);
  return [...new Set(chosen)].sort((a, b) => a.start - b.start);
}

function withoutFinalBlanks(lines: readonly HunkLine[]): readonly HunkLine[] {
  const last = lines.findLastIndex((line) => line.kind !== "keep" || line.text !== "");
  return lines.slice(0, last + 1);
}

function stepsOf(lines: readonly HunkLine[]): readonly Step[] {
  let line = 0;
  const steps: Step[] = lines.map(({ kind, text }) => (kind === "add" ? { kind, text } : { kind, line: line++ }));
  return [...pairUp(steps), { kind: "keep", line }];
}

/** If a step adds as many lines as it drops, each added line replaces one dropped line. */
function pairUp(steps: readonly Step[]): readonly Step[] {
  const out: Step[] = [];
  for (let i = 0; i < steps.length; ) {
    const end = steps.findIndex((step, j) => j >= i && step.kind === "keep");
    const run = steps.slice(i, end < 0 ? steps.length : end);
    const dropped = run.flatMap((step) => (step.kind === "drop" ? [step.line] : []));
    const isPaired = run.length === 2 * dropped.length;
    let next = 0;
    out.push(
      ...run.map((step) => (step.kind === "add" && isPaired ? { ...step, partner: dropped[next++] as number } : step)),
    );
    if (end >= 0) out.push(steps[end] as Step);
    i = end < 0 ? steps.length : end + 1;
  }
  return out;
}

export function nameOf(hunk: Hunk): string {
  return `The change at line ${hunk.patchLine} of the patch`;
}
