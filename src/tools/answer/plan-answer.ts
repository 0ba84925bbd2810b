/** The texts that files get by the changes of an answer. Writes nothing. */

import { ChangeError } from "../edit/change-error.js";
import { omission } from "../edit/omission.js";
import { applyEdits } from "../edit/replace.js";
import { applyHunks } from "../patch/apply.js";
import type { FileChange } from "../patch/changes.js";
import { type Workspace, WorkspaceError } from "../workspace.js";
import type { AnswerChange, ProposedFile } from "./answer-changes.js";

export interface PlannedWrite {
  readonly path: string;
  readonly content: string;
  /** Undefined for a file that is not there. */
  readonly before?: string;
  /** The text that comes from the answer. */
  readonly added: string;
  /** The version that a change was made for; a whole text is not made for one. */
  readonly basis?: string;
}

/** Models show parts of longer files under the name of the file. */
const LONG_FILE = 12;
const FENCE = "```";

/** The message is for the user. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
}

/** `purpose`: whether the user sees the files, so that they may be overwritten later. */
export async function planAnswer(
  workspace: Workspace,
  files: readonly ProposedFile[],
  { purpose }: { readonly purpose: "remember" | "look" },
): Promise<readonly PlannedWrite[]> {
  const planned: PlannedWrite[] = [];
  for (const { path, changes } of files) {
    const file = await workspace.readText(path, { purpose }).catch((error: unknown) => {
      const isWhole = changes.some(({ kind }) => kind === "write");
      // The write itself says what is wrong with the place.
      if (isWhole || (error instanceof WorkspaceError && error.code === "missing")) return undefined;
      throw error instanceof WorkspaceError ? new AnswerError(error.message) : error;
    });
    let text = file?.text;
    for (const change of changes) text = changed(change, text);
    const isBased = file !== undefined && changes.every(({ kind }) => kind !== "write");
    planned.push({
      ...{ path, content: text ?? "", added: changes.map(addedBy).join("\n") },
      ...(file !== undefined && { before: file.text }),
      ...(isBased && { basis: file.version }),
    });
  }
  return planned;
}

function changed(change: AnswerChange, before: string | undefined): string {
  const { path } = change;
  try {
    switch (change.kind) {
      case "write":
        return wholeText(change, before);
      case "edit":
        return edited(change, before);
      case "patch":
        return patched(change, before);
    }
  } catch (error) {
    if (!(error instanceof ChangeError)) throw error;
    const quoted = error.quoted === undefined ? "" : `\n${error.quoted}`;
    throw new AnswerError(`${path}: ${error.message.replace(/^old\b/, "the SEARCH text")}${quoted}`);
  }
}

function wholeText(change: Extract<AnswerChange, { kind: "write" }>, before: string | undefined): string {
  const { path, content, comment, isOnFence } = change;
  const left = omission(content, before ?? "");
  if (left !== undefined)
    throw new AnswerError(
      `${path}: the block leaves text out (${JSON.stringify(left)}). Ask for the whole file, or for SEARCH/REPLACE blocks.`,
    );
  const [lines, linesBefore] = [lineCount(content), lineCount(before ?? "")];
  if (!isOnFence && linesBefore >= LONG_FILE && lines * 2 < linesBefore)
    throw new AnswerError(
      `${path}: the block has ${lines} lines and the file ${linesBefore}, so it may be only a part of the file. ` +
        `Ask for SEARCH/REPLACE blocks, or for the whole file with its name on the fence: ${FENCE}ts ${path}`,
    );
  if (comment === undefined || before?.startsWith(comment)) return content;
  // The comment only names the file.
  return content.slice(comment.length + 1).replace(/^\n/, "");
}

function edited({ path, edit }: Extract<AnswerChange, { kind: "edit" }>, before: string | undefined): string {
  if (before === undefined || before.trim() === "") {
    if (edit.old.trim() === "") return edit.new;
    throw new AnswerError(`${path}: there is no text that the SEARCH text could match.`);
  }
  return applyEdits(before, [edit]).text;
}

function patched({ path, change }: Extract<AnswerChange, { kind: "patch" }>, before: string | undefined): string {
  if (change.kind === "add") {
    if (before === undefined || before === "") return change.text;
    throw new AnswerError(`${path}: the diff creates this file, but it exists.`);
  }
  if (change.kind !== "update") return before ?? "";
  const onlyAdds = ({ lines }: { readonly lines: readonly { readonly kind: string }[] }) =>
    lines.every(({ kind }) => kind === "add");
  if (before === undefined || before === "") {
    if (change.hunks.every(onlyAdds)) return addedBy({ kind: "patch", path, change });
    throw new AnswerError(`${path}: there is no such text to change.`);
  }
  if (change.hunks.some(onlyAdds))
    throw new AnswerError(`${path}: a part of the diff only adds lines, and where is not clear.`);
  return applyHunks(before, change.hunks);
}

function addedBy(change: AnswerChange): string {
  if (change.kind === "write") return change.content;
  return change.kind === "edit" ? change.edit.new : addedLines(change.change);
}

function addedLines(change: FileChange): string {
  if (change.kind === "add") return change.text;
  if (change.kind !== "update") return "";
  const lines = change.hunks.flatMap((hunk) => hunk.lines.filter(({ kind }) => kind === "add"));
  return lines.map(({ text }) => `${text}\n`).join("");
}

function lineCount(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
