/** What a review needs from the machine: the whole files, a place to save, and colours for code. */
import type { DiffLine } from "../../sdk/shown/hunks.js";
import { changedHunks, numberedHunks, wholeFile } from "../content/diff/whole-file.js";
import { loadContentTools } from "../content/tools.js";
import type { ReviewFile, ReviewOptions } from "../dialogs/review.js";
import type { FoundText } from "../options.js";
import type { CarrierOptions } from "./carrier.js";

interface Place extends Pick<CarrierOptions, "files"> {
  readonly folder: string | undefined;
}

/** The files with their present text, and with the line numbers that the changes have in it. */
export async function withTexts(files: readonly ReviewFile[], { files: access, folder }: Place) {
  if (access === undefined || folder === undefined) return files;
  return Promise.all(
    files.map(async (file) =>
      file.hunks.length === 0 || file.isNew ? file : withText(file, await access.read(file.path, folder)),
    ),
  );
}

export function withText(file: ReviewFile, { exists, content }: FoundText): ReviewFile {
  const { replacement } = file;
  if (!exists && replacement !== undefined)
    return { ...file, what: file.what.replace(/^change/, "create"), isNew: true };
  if (content === undefined) return file;
  const text = { content, side: "old" as const };
  if (replacement === undefined)
    return { ...file, text, hunks: numberedHunks(file.hunks, wholeFile(text, file.hunks)) };
  const hunks = changedHunks(content, replacement);
  const words =
    content === replacement ? "The file has this content already." : "Only the newline at the end of the file changes.";
  const same = hunks.length === 0 ? [words] : [];
  const count = (kind: DiffLine["kind"]) =>
    hunks.flatMap(({ lines }) => lines).filter((line) => line.kind === kind).length;
  const what = `replace, +${count("added")} -${count("removed")}`;
  return { ...file, what, hunks, notes: [...file.notes, ...same], text, whole: true };
}

export async function reviewTools({
  files,
}: Pick<CarrierOptions, "files">): Promise<Pick<ReviewOptions, "save" | "tools">> {
  const tools = await loadContentTools();
  return files === undefined ? { tools } : { tools, save: (name, text) => files.save(name, text) };
}
