/**
 * The changes of files that an answer in plain text proposes: whole files, diffs and SEARCH/REPLACE blocks.
 *
 * 1. What can be understood in two ways is a problem, and then nothing of the answer is applied.
 * 2. Blocks that are no files (examples, commands) are left out. A note says so if one looks like a file.
 */

import { ChangeError } from "../edit/change-error.js";
import type { Replacement } from "../edit/replace.js";
import type { FileChange } from "../patch/changes.js";
import { parsePatch } from "../patch/parse.js";
import { isUnifiedDiff, readUnifiedDiff } from "../patch/unified-diff.js";
import { languageOf, type Naming, nameOf, pathInCaption, pathInComment, pathOnFence } from "./block-name.js";
import { type CodeBlock, segmentsOf } from "./code-blocks.js";
import { markedEdit, takeEdits } from "./search-replace.js";

export type AnswerChange =
  | {
      readonly kind: "write";
      readonly path: string;
      readonly content: string;
      readonly isOnFence: boolean;
      readonly comment?: string;
    }
  | { readonly kind: "edit"; readonly path: string; readonly edit: Replacement }
  | { readonly kind: "patch"; readonly path: string; readonly change: FileChange };

export interface ProposedFile {
  readonly path: string;
  /** One whole text, or edits in their order. */
  readonly changes: readonly AnswerChange[];
}

export interface ReadAnswer {
  readonly files: readonly ProposedFile[];
  /** Sentences. With one of them the answer is not applied. */
  readonly problems: readonly string[];
  /** Sentences without their full stop. */
  readonly notes: readonly string[];
}

export function readAnswer(answer: string): ReadAnswer {
  const reader = new AnswerReader();
  reader.read(answer);
  return reader.result();
}

const DIFFS: ReadonlySet<string> = new Set(["diff", "patch", "udiff"]);

class AnswerReader {
  readonly #files = new Map<string, AnswerChange[]>();
  /** Files whose text a fence names: of two texts, the later one counts. */
  readonly #onFence = new Set<string>();
  readonly #problems: string[] = [];
  readonly #notes: string[] = [];
  #edits: readonly Replacement[] = [];

  result(): ReadAnswer {
    const files = [...this.#files].map(([path, changes]) => ({ path, changes }));
    return { files, problems: [...new Set(this.#problems)], notes: [...new Set(this.#notes)] };
  }

  read(answer: string): void {
    const { rest, edits, problems } = takeEdits(answer);
    this.#edits = edits;
    this.#problems.push(...problems);
    let above: string | undefined;
    for (const segment of segmentsOf(rest)) {
      if (segment.kind === "block") this.#block(segment.block);
      else if (segment.kind === "unfinished") this.#unfinished(segment.block);
      else if (markedEdit(segment.text) !== undefined) this.#edit(segment.text, above);
      else if (segment.text.trim() !== "") above = pathInCaption(segment.text);
      if (segment.kind !== "line") above = undefined;
    }
  }

  #block(block: CodeBlock): void {
    const { content, info, line, isUnclear } = block;
    const isEnvelope = content.trimStart().startsWith("*** Begin Patch");
    const isDiff = DIFFS.has(languageOf(info).toLowerCase()) || isUnifiedDiff(content);
    if (content.split("\n").some((each) => markedEdit(each) !== undefined)) this.#editsIn(block);
    else if (isUnclear)
      this.#problems.push(
        `Where the block at line ${line} ends is not clear: it has a fence inside. Ask for four backquotes around it.`,
      );
    else if (isEnvelope) this.#diff(block, parsePatch);
    else if (isDiff) this.#diff(block, (text) => readUnifiedDiff(text, this.#diffName(block)));
    else this.#whole(block, nameOf(block));
  }

  #whole({ content, line }: CodeBlock, naming: Naming): void {
    if ("problem" in naming) this.#problems.push(naming.problem);
    if ("note" in naming && naming.note !== undefined) this.#notes.push(naming.note);
    if (!("name" in naming)) return;
    const { path, isOnFence, comment } = naming.name;
    const earlier = this.#files.get(path) ?? [];
    const isRepeated = earlier.some((change) => change.kind === "write" && change.content === content);
    const isNewer = isOnFence && this.#onFence.has(path);
    if (earlier.length > 0 && !isRepeated && !isNewer) {
      this.#problems.push(
        `The block at line ${line} is another text for ${path}. Ask for one whole text of each file.`,
      );
      return;
    }
    if (isOnFence) this.#onFence.add(path);
    this.#files.delete(path);
    this.#files.set(path, [{ kind: "write", path, content, isOnFence, ...(comment !== undefined && { comment }) }]);
  }

  #diffName({ info, above }: CodeBlock): string | undefined {
    return pathOnFence(info) ?? pathInCaption(above);
  }

  #diff({ content, line }: CodeBlock, parse: (content: string) => readonly FileChange[]): void {
    try {
      for (const change of parse(content)) {
        if (change.kind === "delete" || (change.kind === "update" && change.moveTo !== undefined))
          throw new ChangeError(`The patch deletes or moves ${change.path}. /apply only creates and changes files.`);
        this.#add({ kind: "patch", path: change.path.replace(/^(?:\.\/)+/, ""), change }, line);
      }
    } catch (error) {
      if (!(error instanceof ChangeError)) throw error;
      this.#problems.push(`The block at line ${line}: ${error.message}`);
    }
  }

  /** A line with a name before an edit, in its block, counts for it and for those after it. */
  #editsIn({ info, above, content }: CodeBlock): void {
    let path = pathOnFence(info) ?? pathInCaption(above);
    for (const line of content.split("\n")) {
      if (markedEdit(line) !== undefined) this.#edit(line, path);
      else path = pathInCaption(line) ?? pathInComment(line) ?? path;
    }
  }

  #edit(line: string, path: string | undefined): void {
    const edit = this.#edits[markedEdit(line) ?? -1];
    if (edit === undefined) return;
    if (path === undefined) this.#problems.push(`A SEARCH block names no file: ${firstLine(edit)}`);
    else this.#add({ kind: "edit", path, edit });
  }

  #add(change: AnswerChange, line?: number): void {
    const { path } = change;
    const earlier = this.#files.get(path) ?? [];
    if (earlier.some(({ kind }) => kind === "write"))
      this.#problems.push(
        `${path} has a whole text and a change${line === undefined ? "" : ` (line ${line})`}. Ask for one of them.`,
      );
    this.#files.set(path, [...earlier, change]);
  }

  #unfinished({ line, ...block }: CodeBlock): void {
    const naming = nameOf({ ...block, line });
    const name = "name" in naming ? ` (${naming.name.path})` : "";
    this.#notes.push(`The block at line ${line}${name} has no end`);
  }
}

function firstLine({ old, new: fresh }: Replacement): string {
  return JSON.stringify((old === "" ? fresh : old).split("\n")[0]);
}
