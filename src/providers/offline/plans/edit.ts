/** Carries out an edit, reads the file again and reports the result. */
import { escapeRegex, grepCall, readCall } from "../calls.js";
import { readText, unreadable } from "../files.js";
import type { EditSlots, NewText, Refusal, Replacement } from "../intents/edit.js";
import { joinedText } from "../outputs/file-text.js";
import { parseCounts } from "../outputs/search-output.js";
import { call, type Plan, type Steps } from "../plan.js";
import { smallestChange } from "../text-change.js";
import { code, count, paragraphs } from "../wording.js";

export function* planEdit(slots: EditSlots): Plan {
  switch (slots.kind) {
    case "replace":
      return yield* planReplace(slots);
    case "append":
    case "prepend":
      return yield* planAddition(slots);
    case "create":
    case "overwrite":
      return yield* planWholeFile(slots);
    case "refused":
      return REFUSALS[slots.why];
  }
}

const REFUSALS: Readonly<Record<Refusal["why"], string>> = {
  "no-file": `In which file? Nothing was changed. Name it: ${code("replace 'foo' by 'bar' in notes.txt")}.`,
  "many-files": `Nothing was changed: I edit one named file at a time. Ask "which files mention …" first, then name the file: ${code("replace 'foo' by 'bar' in notes.txt")}.`,
  move: `Nothing was changed: I do not move, copy or delete files myself. Spell the command out, for example: run ${code("git mv old.txt new.txt")}.`,
};

/* ---- replace ---- */

function* planReplace(slots: Replacement): Plan {
  const { file, from, to, name } = slots;
  const text = yield* readText({ path: file });
  if (typeof text === "string") return text;
  if (!text.whole) return yield* planReplaceUnseen(slots);
  const before = joinedText(text);
  const pattern = new RegExp(name ? `\\b${escapeRegex(from)}\\b` : escapeRegex(from), "g");
  const matches = before.match(pattern)?.length ?? 0;
  const longer = before.split(from).length - 1 - matches;
  if (matches === 0) return notFound(slots, longer > 0 ? " as a whole name (only as a part of longer ones)" : "");
  // The replacement is a function, so that `$&` in the user's words stays literal.
  const after = before.replace(pattern, () => to);
  const edit = longer === 0 ? { old: from, new: to, all: true } : smallestChange(before, after);
  yield* call({ tool: "edit", args: { path: file, edits: [edit] } });
  const left = count(longer, "place where it is", "places where it is");
  return paragraphs(
    `${replaced(slots)}: ${count(matches, "place")}${matches > 1 ? ", all there are" : ""}.`,
    longer > 0 ? `${left} only a part of a longer name ${longer === 1 ? "was" : "were"} left alone.` : undefined,
    yield* verify(file, after),
  );
}

/** For a file that one read does not show whole: a search finds the text, and `edit` changes every place. */
function* planReplaceUnseen(slots: Replacement): Plan {
  const { file, from, to, name } = slots;
  if (name)
    return `Nothing was changed: ${code(file)} is longer than one reading shows, so names that only hold ${code(from)} cannot be distinguished. Say "replace" instead of "rename" to change those too.`;
  const found = yield* call(grepCall(escapeRegex(from), { path: file }, { mode: "count", multiline: true }));
  if (parseCounts(found.text).files.length === 0) return notFound(slots);
  const fact = yield* call({ tool: "edit", args: { path: file, edits: [{ old: from, new: to, all: true }] } });
  return `${replaced(slots)}. The tool says: ${fact.text.trim()}`;
}

function replaced({ file, from, to }: Replacement): string {
  return `Replaced ${code(visible(from))} by ${code(visible(to))} in ${code(file)}`;
}

function notFound({ file, from }: Replacement, how = ""): string {
  return `${code(visible(from))} was not found${how} in ${code(file)}, so nothing was changed. Case matters.`;
}

function visible(text: string): string {
  return text === "" ? "(nothing)" : text.replaceAll("\n", "⏎");
}

/* ---- add ---- */

function* planAddition({ kind, file, content }: NewText): Plan {
  const text = yield* readText({ path: file });
  if (typeof text === "string") return text;
  if (!text.whole) return `Nothing was changed: ${code(file)} is longer than one reading shows.`;
  const added = content.replace(/\n$/, "");
  const length = count(added.split("\n").length, "line");
  const before = joinedText(text);
  if (text.lines.length === 0) {
    yield* call({ tool: "edit", args: { path: file, edits: [{ old: "", new: `${added}\n` }] } });
    return paragraphs(`${code(file)} was empty; it now has ${length}.`, yield* verify(file, added));
  }
  const after = kind === "append" ? `${before}\n${added}` : `${added}\n${before}`;
  yield* call({ tool: "edit", args: { path: file, edits: [smallestChange(before, after)] } });
  const place = kind === "append" ? "end" : "beginning";
  return paragraphs(`Added ${length} at the ${place} of ${code(file)}.`, yield* verify(file, after));
}

/* ---- create and overwrite ---- */

function* planWholeFile({ kind, file, content }: NewText): Plan {
  // The tool replaces an existing file only after it was read.
  const fact = yield* call({ ...readCall(file), mayFail: true });
  if (kind === "create" && !fact.failed)
    return `${code(file)} exists already, so nothing was written. To replace all of it: ${code(`overwrite ${file} with '…'`)}.`;
  const isNew = kind === "create" && /does not exist|no such file|not found/i.test(fact.text);
  if (fact.failed && !isNew) return unreadable(file, fact);
  const whole = content === "" || content.endsWith("\n") ? content : `${content}\n`;
  yield* call({ tool: "write", args: { path: file, content: whole } });
  const length = whole === "" ? "it is empty" : count(whole.split("\n").length - 1, "line");
  const done = kind === "create" ? "Created" : "Replaced all of";
  return paragraphs(`${done} ${code(file)}: ${length}.`, yield* verify(file, whole.replace(/\n$/, "")));
}

/* ---- shared ---- */

/** Reads the file again and compares it with what it should be. */
function* verify(path: string, expected: string): Steps<string> {
  const text = yield* readText({ path });
  if (typeof text === "string") return paragraphs("Reading it again to check failed.", text);
  if (!text.whole) return "The file is too long to be checked by reading it again.";
  return joinedText(text) === expected
    ? "Checked by reading it again."
    : "Reading it again shows something other than expected: please check it.";
}
