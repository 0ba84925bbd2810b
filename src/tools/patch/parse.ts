/**
 * The patch envelope that Codex models write:
 *
 *     *** Begin Patch
 *     *** Add File: path            then lines that start with +
 *     *** Delete File: path
 *     *** Update File: path         then, if wanted, *** Move to: path
 *     @@ a line before the change   optional; several narrow it down
 *      kept, -dropped, +added       lines
 *     *** End of File               optional: the lines are the file's last
 *     *** End Patch
 *
 * Forgiven: shell heredocs, code fences and space around the envelope, a missing first `@@`, a missing envelope, line
 * numbers as in a unified diff (they are ignored). A unified diff is understood as well.
 */

import { ChangeError } from "../edit/change-error.js";
import type { FileChange, Hunk, HunkLine } from "./changes.js";
import { isUnifiedDiff, readUnifiedDiff } from "./unified-diff.js";

const FILE_HEADER = /^\*\*\* (Add|Delete|Update) File: *(.*)$/;
const MOVE_HEADER = /^\*\*\* Move to: *(.+)$/;
const END_OF_FILE = "*** End of File";
const LINE_NUMBERS = /^-\d+(?:,\d+)? \+\d+(?:,\d+)?\s*@@.*$/;
const KINDS: Readonly<Record<string, HunkLine["kind"]>> = { " ": "keep", "-": "drop", "+": "add" };

export function parsePatch(patch: string): readonly FileChange[] {
  const unwrapped = unwrap(patch);
  if ("changes" in unwrapped) return unwrapped.changes;
  const { lines, offset } = unwrapped;
  const changes = new Parser(lines, offset).parse();
  if (changes.length === 0) throw new ChangeError("The patch is empty: it names no file.");
  return changes;
}

interface Envelope {
  readonly lines: readonly string[];
  /** Says how many lines of the patch come before them. */
  readonly offset: number;
}

/** The lines between the markers, or the changes of a diff that has none. */
function unwrap(patch: string): Envelope | { readonly changes: readonly FileChange[] } {
  let lines = patch.replaceAll("\r\n", "\n").split("\n");
  let offset = 0;
  const strip = (first: number, last: number) => {
    lines = lines.slice(first, lines.length - last);
    offset += first;
  };
  const trim = () => {
    const first = lines.findIndex((line) => line.trim() !== "");
    const last = lines.findLastIndex((line) => line.trim() !== "");
    strip(Math.max(first, 0), lines.length - 1 - last);
  };
  trim();
  for (let wrapper = wrapperOf(lines); wrapper !== undefined; wrapper = wrapperOf(lines)) {
    strip(wrapper.first, wrapper.last);
    trim();
  }
  const begins = lines[0]?.trim() === "*** Begin Patch";
  const ends = lines.length > 1 && lines.at(-1)?.trim() === "*** End Patch";
  if (!begins && !FILE_HEADER.test(lines[0]?.trim() ?? "")) {
    const text = lines.join("\n");
    if (isUnifiedDiff(text)) return { changes: readUnifiedDiff(text) };
    throw new ChangeError("Not a patch: the first line must be '*** Begin Patch', or it must be a unified diff.");
  }
  if (begins && !ends) throw new ChangeError("The patch is incomplete: the last line must be '*** End Patch'.");
  strip(begins ? 1 : 0, ends ? 1 : 0);
  const inside = lines.join("\n").trim();
  // Models put one format into the markers of the other.
  if (isUnifiedDiff(inside) && !lines.some((line) => FILE_HEADER.test(line.trim())))
    return { changes: readUnifiedDiff(inside) };
  return { lines, offset };
}

/** Counts how many lines at both ends belong to a shell command or a code fence around the patch. */
function wrapperOf(lines: readonly string[]): { first: number; last: number } | undefined {
  const first = lines[0]?.trim() ?? "";
  const last = lines.at(-1)?.trim();
  if (first === "%%bash" || first === "apply_patch") return { first: 1, last: 0 };
  if (/^```\w*$/.test(first) && last === "```") return { first: 1, last: 1 };
  const heredoc = /^(?:(?:cat|apply_patch|applypatch)\s*)?<<-?\s*(?:(\w+)|'(\w+)'|"(\w+)")$/.exec(first);
  const tag = heredoc?.[1] ?? heredoc?.[2] ?? heredoc?.[3];
  return tag !== undefined && last === tag ? { first: 1, last: 1 } : undefined;
}

class Parser {
  readonly #lines: readonly string[];
  readonly #offset: number;
  #at = 0;

  constructor(lines: readonly string[], offset: number) {
    this.#lines = lines;
    this.#offset = offset;
  }

  parse(): readonly FileChange[] {
    const changes: FileChange[] = [];
    for (this.#skipBlank(); this.#at < this.#lines.length; this.#skipBlank()) changes.push(this.#change());
    return changes;
  }

  #change(): FileChange {
    const header = FILE_HEADER.exec(this.#line.trim());
    if (header === null) {
      throw this.#error(
        `${JSON.stringify(this.#line)} is not a header. Expected '*** Add File: path', '*** Update File: path' or '*** Delete File: path'`,
      );
    }
    const path = (header[2] as string).trim();
    if (path === "") throw this.#error("the path is missing");
    this.#at++;
    if (header[1] === "Delete") return { kind: "delete", path };
    return header[1] === "Add" ? { kind: "add", path, text: this.#addedText() } : this.#update(path);
  }

  #addedText(): string {
    let text = "";
    for (; this.#at < this.#lines.length && this.#line.startsWith("+"); this.#at++) text += `${this.#line.slice(1)}\n`;
    this.#skipBlank();
    if (this.#at < this.#lines.length && !FILE_HEADER.test(this.#line.trim())) {
      throw this.#error(`every line of a new file must start with '+', but this is ${JSON.stringify(this.#line)}`);
    }
    return text;
  }

  #update(path: string): FileChange {
    const move = MOVE_HEADER.exec(this.#line.trim())?.[1]?.trim();
    if (move !== undefined) this.#at++;
    const hunks: Hunk[] = [];
    for (this.#skipBlank(); this.#at < this.#lines.length && !this.#isHeader(); this.#skipBlank()) {
      hunks.push(this.#hunk(path));
    }
    if (hunks.length === 0 && move === undefined) throw this.#error(`the update of ${path} has no changes`);
    return { kind: "update", path, hunks, ...(move === undefined ? {} : { moveTo: move }) };
  }

  #hunk(path: string): Hunk {
    const patchLine = this.#number;
    const headers: string[] = [];
    for (; this.#at < this.#lines.length && this.#line.startsWith("@@"); this.#at++) {
      const header = this.#line.slice(2).trim();
      if (header !== "" && !LINE_NUMBERS.test(header)) headers.push(header.replace(/\s*@@$/, ""));
    }
    const lines: HunkLine[] = [];
    for (; this.#at < this.#lines.length && !this.#isHeader() && !this.#line.startsWith("@@"); this.#at++) {
      if (this.#line.trim() === END_OF_FILE) break;
      if (!this.#line.startsWith("\\ No newline")) lines.push(this.#hunkLine());
    }
    const atEnd = this.#at < this.#lines.length && this.#line.trim() === END_OF_FILE;
    if (atEnd) this.#at++;
    if (lines.length === 0)
      throw new ChangeError(`Line ${patchLine} of the patch: this change of ${path} has no lines.`);
    return { patchLine, headers, lines, atEnd };
  }

  #hunkLine(): HunkLine {
    const kind = this.#line === "" ? "keep" : KINDS[this.#line[0] as string];
    if (kind !== undefined) return { kind, text: this.#line.slice(1) };
    throw this.#error(
      `every line of a change must start with ' ' (kept), '-' (dropped) or '+' (added), but this is ${JSON.stringify(this.#line)}`,
    );
  }

  /** A line of the file that happens to look like a header has a space, + or - before it. */
  #isHeader(): boolean {
    return this.#line.startsWith("*** ") && this.#line.trim() !== END_OF_FILE;
  }

  #skipBlank(): void {
    while (this.#at < this.#lines.length && this.#line.trim() === "") this.#at++;
  }

  get #line(): string {
    return this.#lines[this.#at] ?? "";
  }

  get #number(): number {
    return this.#offset + this.#at + 1;
  }

  #error(message: string): ChangeError {
    return new ChangeError(`Line ${this.#number} of the patch: ${message}.`);
  }
}
