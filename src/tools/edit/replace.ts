/**
 * Replacements in a text.
 *
 * 1. Every quotation is searched in the original text; matches must not overlap.
 * 2. An exact match is replaced exactly. Otherwise the edit is merged into the only place with the same fingerprint; two such
 *    places, or an uncertain merge, are an error.
 * 3. All replacements are made or none.
 */
import { Refusal } from "./align.js";
import { carryOver } from "./carry-over.js";
import { ChangeError } from "./change-error.js";
import { type PlacedEdit, refuseEcho } from "./echo.js";
import { fingerprint, occurrences } from "./fingerprint.js";
import { withoutLineNumbers } from "./line-numbers.js";
import { excerpt, nearestPlaces, renderExcerpt } from "./nearest.js";
import { omission } from "./omission.js";
import { SearchedText } from "./searched-text.js";
import { applySplices, lineAt, listLines, type Splice, unixNewlines } from "./splice.js";

export interface Replacement {
  readonly old: string;
  readonly new: string;
  /** Replace every match, not just a single one. */
  readonly all?: boolean;
  /** Says how many matches there must be; all of them are replaced. */
  readonly count?: number;
}

export interface Replaced {
  readonly text: string;
  readonly count: number;
  /** Says how many of them did not match exactly. */
  readonly loose: number;
}

/** A fingerprint with fewer letters and digits is not reliable. */
const LEAST_EVIDENCE = 2;
/** The largest number of places to list for one quotation. */
const ENOUGH = 1000;
/** In larger files only exact matches count. */
const MAX_LOOSE_CHARS = 16_000_000;

/** `text` may have `\n` and `\r` line endings; new lines get the most frequent one. */
export function applyEdits(text: string, edits: readonly Replacement[]): Replaced {
  const search = new Search(unixNewlines(text));
  const splices = edits.flatMap((edit, index) => {
    const name = edits.length === 1 ? "old" : `edits[${index}].old`;
    const found = search.find(normalized(edit), name);
    if (edit.count !== undefined && found.length !== edit.count) {
      const times = found.length === 1 ? "once" : `${found.length} times`;
      throw new ChangeError(`${name} occurs ${times}, not ${edit.count} times. Nothing was changed.`);
    }
    return found.map((splice) => ({ ...splice, name }));
  });
  splices.sort((a, b) => a.start - b.start || a.end - b.end);
  splices.forEach((splice, i) => {
    const before = splices[i - 1];
    if (before === undefined || splice.start >= before.end) return;
    const line = lineAt(text, splice.start);
    throw new ChangeError(`${before.name} and ${splice.name} overlap at line ${line}. Make them one edit.`);
  });
  const result = applySplices(text, splices);
  if (result === text) throw new ChangeError("The file already has this content. Nothing to change.");
  return { text: result, count: splices.length, loose: splices.filter((splice) => splice.loose).length };
}

interface Found extends Splice {
  readonly loose: boolean;
}

type Wanted = Required<Omit<Replacement, "count">>;

function normalized(edit: Replacement): Wanted {
  const plain = (text: string) => text.replaceAll("\r\n", "\n").replace(/^\ufeff/, "");
  return { old: plain(edit.old), new: plain(edit.new), all: edit.all === true || (edit.count ?? 1) > 1 };
}

class Search {
  readonly #file: SearchedText;
  readonly #text: string;

  constructor(text: string) {
    this.#file = new SearchedText(text);
    this.#text = text;
  }

  find(edit: Wanted, name: string): readonly Found[] {
    refuseEmpty(edit, name);
    const exact = this.#exact(edit, name);
    if (exact.length > 0) return exact;
    const bare = withoutLineNumbers(edit.old);
    if (bare !== undefined) {
      const meant = { ...edit, old: bare, new: withoutLineNumbers(edit.new) ?? edit.new };
      if (meant.old !== meant.new) return this.#loose(meant, name);
    }
    return this.#loose(edit, name);
  }

  #exact({ old, new: fresh, all }: Wanted, name: string): readonly Found[] {
    const starts: number[] = [];
    // Overlapping places count: which of them is meant is just as unclear.
    const step = all ? old.length : 1;
    for (let at = this.#text.indexOf(old); at >= 0; at = this.#text.indexOf(old, at + step)) {
      starts.push(at);
      if (!all && starts.length === ENOUGH) break;
    }
    if (starts.length > 1 && !all) throw this.#ambiguous(starts, name);
    const [only] = starts;
    if (only !== undefined && !all) this.#refuseEcho({ start: only, end: only + old.length, old, new: fresh }, name);
    return starts.map((start) => ({ start, end: start + old.length, text: fresh, loose: false }));
  }

  #refuseEcho(edit: PlacedEdit, name: string): void {
    try {
      refuseEcho(this.#text, edit);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const line = lineAt(this.#text, edit.start);
      throw new ChangeError(
        `${name} is found at line ${line}, but ${error.message}. Nothing was changed. Quote whole lines, as they are to be replaced.`,
      );
    }
  }

  #loose(edit: Wanted, name: string): readonly Found[] {
    if (this.#text.length > MAX_LOOSE_CHARS) throw this.#missing(edit, name);
    const { print } = this.#file;
    const oldPrint = fingerprint(edit.old);
    if ((oldPrint.text.match(/[\p{L}\p{N}]/gu) ?? []).length < LEAST_EVIDENCE) throw this.#missing(edit, name);
    const { places, halfway } = occurrences(print, oldPrint);
    if (places.length === 0) throw this.#missing(edit, name);
    const starts = [...places, ...halfway].sort((a, b) => a - b).map((at) => print.starts[at] as number);
    if (starts.length > 1 && !edit.all) throw this.#alike(starts, name);
    const chosen = places.filter((at, i) => i === 0 || at >= (places[i - 1] as number) + oldPrint.text.length);
    return chosen.map((at) => ({ ...this.#carryOver(edit, { at, name }), loose: true }));
  }

  #carryOver(edit: Wanted, { at, name }: { at: number; name: string }): Splice {
    const { text, print } = this.#file;
    try {
      return carryOver({ file: this.#file, at }, edit);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const line = lineAt(text, print.starts[at] as number);
      const there = excerpt(text.split("\n"), { start: line - 1, count: edit.old.trim().split("\n").length });
      throw new ChangeError(
        `${name} is not in the file as quoted. It comes close at line ${line}, but ${error.message}. ` +
          "Nothing was changed. Quote the file exactly:",
        renderExcerpt(there),
      );
    }
  }

  #ambiguous(starts: readonly number[], name: string): ChangeError {
    return new ChangeError(
      `${name} occurs ${starts.length}${starts.length === ENOUGH ? " or more" : ""} times, at lines ${listLines(this.#text, starts)}. Nothing was changed. ` +
        `Quote more of the lines around the one you mean, or set "all" to true to change every one.`,
    );
  }

  #alike(starts: readonly number[], name: string): ChangeError {
    const lines = listLines(this.#text, starts);
    return new ChangeError(
      `${name} is not in the file as quoted, and ${starts.length} places are similar: lines ${lines}. ` +
        "Nothing was changed. Quote the one you mean exactly, with spaces and punctuation as in the file.",
    );
  }

  #missing(edit: Wanted, name: string): ChangeError {
    const text = this.#text;
    const done = edit.new.trim().length >= LEAST_EVIDENCE && text.includes(edit.new);
    const hint = done ? ` The new text is already there, at line ${lineAt(text, text.indexOf(edit.new))}.` : "";
    const near = nearestPlaces(text, edit.old);
    const advice =
      near === undefined
        ? "Nothing in the file resembles the text to replace. Read the file and quote what it says now."
        : "Quote the file exactly. The nearest places are:";
    return new ChangeError(`${name} does not occur in the file. Nothing was changed.${hint} ${advice}`, near);
  }
}

function refuseEmpty({ old, new: fresh }: Replacement, name: string): void {
  if (old === fresh) throw new ChangeError(`${name} and its replacement are identical. Nothing to change.`);
  if (old === "") {
    throw new ChangeError(
      `${name} is empty, but the file is not. Quote the text to replace; to add text, quote a line beside it and repeat that line in the replacement.`,
    );
  }
  const placeholder = omission(fresh, old);
  if (placeholder !== undefined) {
    throw new ChangeError(
      `The replacement for ${name} leaves text out: ${JSON.stringify(placeholder)}. Write it in full, or quote less.`,
    );
  }
}
