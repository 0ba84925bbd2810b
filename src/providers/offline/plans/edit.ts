import { escapeRegex, grepCall, readCall } from "../calls.js";
import type { Addition, EditSlots, Refusal, Replacement, WholeFile } from "../intents/edit.js";
import { unreadable } from "../intents/read.js";
import { type FileText, joinedText, parseFileText } from "../outputs/file-text.js";
import { parseCounts } from "../outputs/search-output.js";
import { call, type Plan, type Steps, type Toolbox, type ToolFact } from "../plan.js";
import { smallestChange, uniqueEnd, uniqueStart } from "../text-change.js";
import { code, count, fenced, paragraphs } from "../wording.js";

export function* planEdit(slots: EditSlots, tools: Toolbox): Plan {
  switch (slots.kind) {
    case "replace":
      return yield* planReplace(slots, tools);
    case "append":
    case "prepend":
      return yield* planAddition(slots, tools);
    case "create":
      return yield* planCreation(slots);
    case "overwrite":
      return yield* planOverwriting(slots);
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

function* planReplace(slots: Replacement, tools: Toolbox): Plan {
  const { file, from, to } = slots;
  const fact = yield* call({ ...readCall(file), mayFail: true });
  if (fact.failed) return unreadable(file, fact);
  const text = parseFileText(fact.text);
  if (text.notText !== undefined) return `Nothing was changed: ${code(file)} is not text.`;
  if (!text.whole) return yield* planReplaceUnseen(slots, tools);
  const before = joinedText(text);
  const matches = [...before.matchAll(new RegExp(patternOf(slots), "g"))].length;
  if (matches === 0) return notFound(slots, fact);
  // A function as the replacement, for `$&` in the person's words means itself.
  const after = before.replace(new RegExp(patternOf(slots), "g"), () => to);
  const literal = before.split(from).length - 1;
  const everyLiteral = literal === matches ? { old: from, new: to, all: true } : undefined;
  yield* change({ file, before, after, tools, edit: everyLiteral });
  const verified = yield* verify(file, after);
  const rest = literal - matches;
  return paragraphs(
    `Replaced ${code(visible(from))} by ${code(visible(to))} in ${code(file)}: ${count(matches, "place")}${matches > 1 ? ", all there are" : ""}.`,
    rest > 0
      ? `${count(rest, "place where it is", "places where it is")} only a part of a longer name ${rest === 1 ? "was" : "were"} left alone.`
      : undefined,
    verified,
  );
}

/** A file that one reading does not show whole: its matches are counted by a search, and `edit` changes them all or none. */
function* planReplaceUnseen(slots: Replacement, tools: Toolbox): Plan {
  const { file, from, to } = slots;
  if (!tools.has("edit"))
    return `Nothing was changed: ${code(file)} is longer than one reading shows, and without the tool ${code("edit")} only a file seen whole can be changed.`;
  const literal = escapeRegex(from);
  const [found, longer] = yield [
    grepCall(literal, { path: file }, { mode: "count", multiline: true }),
    grepCall(`\\w${literal}|${literal}\\w`, { path: file }, { mode: "count" }),
  ];
  if (parseCounts(found?.text ?? "").files.length === 0) return notFound(slots);
  if (slots.name && parseCounts(longer?.text ?? "").files.length > 0) {
    return `Nothing was changed: ${code(file)} is longer than one reading shows, and ${code(from)} also occurs inside longer names there. Say "replace" instead of "rename" to change those too.`;
  }
  const fact = yield* call({ tool: "edit", args: { path: file, edits: [{ old: from, new: to, all: true }] } });
  return `Replaced ${code(visible(from))} by ${code(visible(to))} in ${code(file)}. The tool says: ${fact.text.trim()}`;
}

function patternOf({ from, name }: Replacement): string {
  const literal = escapeRegex(from);
  return name ? `\\b${literal}\\b` : literal;
}

function notFound({ file, from, name }: Replacement, fact?: ToolFact): string {
  const asName = name && fact?.text.includes(from) ? " as a whole name (only as a part of longer ones)" : "";
  return `${code(visible(from))} was not found${asName} in ${code(file)}, so nothing was changed. Case matters.`;
}

/* ---- add ---- */

function* planAddition({ kind, file, content }: Addition, tools: Toolbox): Plan {
  const fact = yield* call({ ...readCall(file), mayFail: true });
  if (fact.failed) return unreadable(file, fact);
  const text = parseFileText(fact.text);
  if (text.notText !== undefined) return `Nothing was changed: ${code(file)} is not text.`;
  if (!text.whole) return `Nothing was changed: ${code(file)} is longer than one reading shows.`;
  const added = content.replace(/\n$/, "");
  const before = joinedText(text);
  if (text.lines.length === 0) {
    yield* change({ file, before, after: added, tools, edit: { old: "", new: `${added}\n` } });
    return paragraphs(`${code(file)} was empty; it now holds ${describeAdded(added)}.`, yield* verify(file, added));
  }
  const after = kind === "append" ? `${before}\n${added}` : `${added}\n${before}`;
  const anchor = kind === "append" ? uniqueEnd(before) : uniqueStart(before);
  const edit = { old: anchor, new: kind === "append" ? `${anchor}\n${added}` : `${added}\n${anchor}` };
  yield* change({ file, before, after, tools, edit });
  const place = kind === "append" ? "end" : "beginning";
  return paragraphs(`Added ${describeAdded(added)} at the ${place} of ${code(file)}.`, yield* verify(file, after));
}

function describeAdded(added: string): string {
  return count(added.split("\n").length, "line");
}

/* ---- create and overwrite ---- */

function* planCreation({ file, content }: WholeFile): Plan {
  const fact = yield* call({ ...readCall(file, { limit: 1 }), mayFail: true });
  if (!fact.failed)
    return `${code(file)} exists already, so nothing was written. To replace all of it: ${code(`overwrite ${file} with '…'`)}.`;
  if (!/does not exist|no such file|not found/i.test(fact.text)) return unreadable(file, fact);
  return yield* planWrite(file, content, "Created");
}

function* planOverwriting({ file, content }: WholeFile): Plan {
  // Reading first is what allows an existing file to be replaced.
  const fact = yield* call({ ...readCall(file), mayFail: true });
  if (fact.failed) return unreadable(file, fact);
  return yield* planWrite(file, content, "Replaced all of");
}

function* planWrite(file: string, content: string, done: string): Plan {
  const whole = content === "" || content.endsWith("\n") ? content : `${content}\n`;
  yield* call({ tool: "write", args: { path: file, content: whole } });
  const length = whole === "" ? "it is empty" : count(whole.split("\n").length - 1, "line");
  return paragraphs(`${done} ${code(file)}: ${length}.`, yield* verify(file, whole.replace(/\n$/, "")));
}

/* ---- shared ---- */

interface Change {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  readonly tools: Toolbox;
  /** How `edit` is told, when it is known; otherwise the smallest piece that differs. */
  readonly edit: { readonly old: string; readonly new: string; readonly all?: boolean } | undefined;
}

/** With `edit` the file keeps its last line end as it was; `write` gives it one. */
function* change({ file, before, after, tools, edit }: Change): Steps<void> {
  if (tools.has("edit") || !tools.has("write"))
    yield* call({ tool: "edit", args: { path: file, edits: [edit ?? smallestChange(before, after)] } });
  else yield* call({ tool: "write", args: { path: file, content: `${after}\n` } });
}

/** Reads the file again and compares it with what it should be. */
function* verify(file: string, expected: string): Steps<string> {
  const fact = yield* call({ ...readCall(file), mayFail: true });
  if (fact.failed) return paragraphs("It could not be read again to check:", fenced(fact.text.trim()));
  const text: FileText = parseFileText(fact.text);
  if (!text.whole) return "The file is too long to be checked by reading it again.";
  return joinedText(text) === expected
    ? "Checked by reading it again."
    : "Reading it again shows something else than expected: please look at it.";
}

function visible(text: string): string {
  return text === "" ? "(nothing)" : text.replaceAll("\n", "⏎");
}
