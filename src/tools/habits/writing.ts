/** Describes how models of other harnesses write and change files. */
import type { Conversion, ToolHabits } from "../../engine/ports.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { takeEdits } from "../answer/search-replace.js";
import { omission } from "../edit/omission.js";
import { entriesIn, isFalse, isTrue, listIn, PATH, plainPath, same, WORDS, without, words } from "./shared.js";

/* ---- write ---- */

export const WRITE: ToolHabits = {
  names: words(`
    write_file write_to_file create_file create_new_file create save_file file_write fs_write new_file
    overwrite_file put_file write_text_file create_or_update_file replace_file
  `),
  parameters: {
    path: PATH,
    content: words("contents text file_text file_content file_contents code data body code_content new_content"),
  },
  unused: {
    ...WORDS,
    ...same("linecount createparents createdirectories createdirs parents emptyfile", ""),
  },
  convert: writeArguments,
};

function writeArguments(sent: JsonObject): Conversion | undefined {
  let args = plainPath(sent);
  const notes: string[] = [];
  if (isTrue(args.append) || /^a/i.test(String(args.mode ?? "")))
    return {
      refused: "write replaces the whole content and does not append: use edit, or `>>` with bash. Nothing was run.",
    };
  if (isFalse(args.overwrite) || isTrue(args.createonly) || isTrue(args.exclusive))
    return {
      refused:
        "write replaces an existing file that was read; it has no way to only create one. Send it without that parameter if that is right. Nothing was run.",
    };
  args = without(args, "append", "overwrite", "createonly", "exclusive");
  if (args.mode === undefined || /^(w|write|overwrite|rewrite|create)$/i.test(String(args.mode)))
    args = without(args, "mode");
  // Manus writes these beside the text; only a true one changes it.
  const off = ["leadingnewline", "trailingnewline", "sudo"].filter((name) => isFalse(args[name]));
  args = without(args, ...off);
  if (args.encoding === undefined || /^utf-?8$/i.test(String(args.encoding))) args = without(args, "encoding");
  if (typeof args.codeedit === "string" && args.content === undefined) return sketch(args, args.codeedit);
  if (isJsonObject(args.content) || (Array.isArray(args.content) && String(sent.path).endsWith(".json"))) {
    notes.push("The content was sent as an object; its JSON was written, with an indent of 2.");
    args = { ...args, content: `${JSON.stringify(args.content, undefined, 2)}\n` };
  }
  return { args, notes };
}

/** Cursor's form: the new file, perhaps with comments instead of what stays. */
function sketch(args: JsonObject, code: string): Conversion {
  const left = omission(code, "");
  if (left !== undefined)
    return {
      refused: `The line "${left}" stands for text of the file, and Oxbow writes only what you send. Use edit with the old and the new text. Nothing was run.`,
    };
  return { tool: "write", args: { ...without(args, "codeedit"), content: code } };
}

/* ---- edit ---- */

const OLD = words(`
  old_string old_str old_text search find search_string search_text original original_text before old_content
  target_content oldtext old_code to_replace
`);
const NEW = words(`
  new_string new_str new_text replace replacement replace_string replace_text updated after new_content
  replacement_content new_code replace_with
`);
const ALL = ["replace_all", "change_all", "allow_multiple", "replace_all_occurrences", "global", "all_occurrences"];
const COUNT = ["expected_replacements", "expected_count", "expected_occurrences"];

export const EDIT: ToolHabits = {
  names: words(`
    str_replace replace edit_file replace_in_file multi_edit multiedit search_replace search_and_replace
    replace_string_in_file multi_replace_string_in_file replace_file_content multi_replace_file_content apply_diff
    str_replace_editor str_replace_based_edit_tool text_editor edit_anthropic file_editor file_edit modify_file
    replace_text edit_block insert_edit_into_file string_replace find_and_replace edit_files update_file
    file_str_replace editor
  `),
  parameters: {
    path: PATH,
    edits: words("replacements changes operations edit_list replacement_chunks diffs modifications"),
    old: OLD,
    new: NEW,
    all: ALL,
    count: COUNT,
    "edits.old": OLD,
    "edits.new": NEW,
    "edits.all": ALL,
    "edits.count": COUNT,
    diff: ["blocks", "search_replace_blocks", "patch"],
  },
  also: { "edits.count": { type: "integer" } },
  unused: {
    ...WORDS,
    ...Object.fromEntries(Object.keys(WORDS).map((name) => [`edits.${name}`, ""])),
    ...same("edits.startline edits.endline startline endline", "the text is found by itself."),
    ...same("codemarkdownlanguage targetlintererrorids complexity linecount", ""),
  },
  convert: editArguments,
};

function editArguments(given: JsonObject, called: string): Conversion | undefined {
  const files = entriesIn(given.path) ?? entriesIn(given.files);
  if (files !== undefined && files.length > 1) {
    const paths = files.map(({ path }) => JSON.stringify(path ?? "")).join(", ");
    return { refused: `edit changes one file a call. Nothing was run. Send a call each for ${paths}.` };
  }
  const sent = plainPath(
    files === undefined ? given : { ...without(given, "path", "files"), ...renamed(files[0] ?? {}) },
  );
  const editor = EDITORS.has(called) || (isEditorCommand(sent.command) && sent.path !== undefined);
  if (editor && sent.command !== undefined) return editorCommand(without(sent, "command"), String(sent.command));
  // The editor of Cline writes a file when it gets no old text.
  if (called === "editor" && sent.old === undefined && sent.insertline === undefined && sent.new !== undefined)
    return { tool: "write", args: { ...without(sent, "new"), content: sent.new } };
  const switched = switches(sent);
  if ("refused" in switched) return switched;
  const { args } = switched;
  if (typeof args.codeedit === "string") return sketch(args, args.codeedit);
  if (called === "inserteditintofile" && typeof args.code === "string") return sketch(without(args, "code"), args.code);
  const text =
    args.diff ??
    (typeof args.content === "string" && BLOCK.test(args.content) ? args.content : undefined) ??
    (typeof args.edits === "string" && /^\s*(?:<{5,}|-{5,})/.test(args.edits) ? args.edits : undefined);
  if (typeof text === "string") return blocks(without(args, "diff", "edits", "content"), text);
  const parts = entriesIn(args.diff)?.map(({ content }) => content);
  if (parts?.every((part) => typeof part === "string")) return blocks(without(args, "diff"), parts.join("\n"));
  if (Array.isArray(args.diff)) return { args: { ...without(args, "diff"), edits: args.diff } };
  if (args.edits === undefined && args.old === undefined && args.new === undefined && args.content !== undefined)
    return { tool: "write", args };
  const { old, new: fresh, all, count, ...rest } = args;
  const single = { old, new: fresh, all, count };
  const own = Object.fromEntries(Object.entries(single).filter(([, value]) => value !== undefined)) as JsonObject;
  const list = listIn(args.edits) ?? (args.edits === undefined ? undefined : [args.edits]);
  const hasFlat = old !== undefined || fresh !== undefined;
  if (list === undefined) return { args: hasFlat ? { ...rest, edits: [own] } : args };
  if (hasFlat && list.length > 0)
    return { refused: 'edit: send each replacement in "edits", none beside it. Nothing was run.' };
  if (hasFlat) return { args: { ...rest, edits: [own] } };
  return ofOneFile({ ...rest, edits: list.map((each) => withFlags(each, { all, count })) });
}

/** The arguments of one file of Roo's list. */
function renamed({
  path,
  file_path: file = path ?? null,
  diffs,
  diff = diffs ?? null,
  ...rest
}: JsonObject): JsonObject {
  return { ...rest, ...(file !== null && { path: file }), ...(diff !== null && { diff }) };
}

/** A flag beside the list is for each edit. */
function withFlags(edit: JsonValue, flags: JsonObject): JsonValue {
  if (!isJsonObject(edit)) return edit;
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  return given.length === 0 ? edit : { ...Object.fromEntries(given), ...edit };
}

/** Edits that name their file each must all name the same. */
function ofOneFile(args: JsonObject): Conversion {
  const edits = listIn(args.edits) ?? [];
  const key = (edit: JsonValue) =>
    isJsonObject(edit) ? Object.keys(edit).find((name) => PATH_KEY.test(name)) : undefined;
  const paths = new Set(
    edits.flatMap((edit) => (isJsonObject(edit) && key(edit) !== undefined ? [String(edit[key(edit) as string])] : [])),
  );
  if (paths.size === 0) return { args };
  const [path = ""] = paths;
  if (paths.size > 1 || (args.path !== undefined && args.path !== path))
    return { refused: `edit changes one file a call. Nothing was run. Send a call each for ${[...paths].join(", ")}.` };
  const bare = edits.map((edit) => (isJsonObject(edit) ? without(edit, key(edit) ?? "") : edit));
  return { args: { ...args, path, edits: bare } };
}

const PATH_KEY = /^(?:file_?path|path|file)$/i;

/** Switches of other editors: they are off, or the edit would mean something else. */
function switches(args: JsonObject): { readonly args: JsonObject } | { readonly refused: string } {
  const changed = words("useregex isregex regex ignorecase dryrun preview").find((name) => isTrue(args[name]));
  if (changed !== undefined)
    return {
      refused: `edit does not know \`${changed}\`: it replaces exact text, and it changes the file. Nothing was run.`,
    };
  const line = ["insertline", "lineno", "line", "startline"].find((name) => args[name] !== undefined);
  if (line !== undefined && args.edits === undefined && args.diff === undefined && args.old === undefined)
    return { refused: INSERT };
  const off = isFalse(args.sudo) ? ["sudo"] : [];
  const mode = args.mode === "edit" ? ["mode"] : [];
  return {
    args: without(args, "useregex", "isregex", "regex", "ignorecase", "dryrun", "preview", ...off, ...mode),
  };
}

const INSERT =
  "Oxbow does not insert or edit by line number: use edit with `old` as the line that is there and `new` as that line and the new text. Nothing was run.";

/* ---- editors with a command ---- */

const EDITORS: ReadonlySet<string> = new Set([
  "strreplaceeditor",
  "strreplacebasededittool",
  "texteditor",
  "editanthropic",
  "fileeditor",
]);

function isEditorCommand(value: JsonValue | undefined): boolean {
  return typeof value === "string" && /^(view|create|write|str_replace|insert|undo_edit|edit_file|diff)$/.test(value);
}

function editorCommand(sent: JsonObject, command: string): Conversion {
  const args = numbered(sent);
  switch (command.toLowerCase().replaceAll("-", "_")) {
    case "view":
    case "read":
      return { tool: "read", args };
    case "create":
    case "write":
      return { tool: "write", args };
    case "str_replace":
    case "replace":
      // In this editor a missing new text deletes the old one.
      if (typeof args.diff === "string") return blocks(without(args, "diff"), args.diff);
      return args.edits === undefined ? one(args) : { args };
    case "insert":
      return { refused: INSERT };
    case "undo_edit":
      return {
        refused: "Oxbow has no undo_edit: use edit to put the old text back; the user has /undo. Nothing was run.",
      };
    default:
      return {
        refused: `There is no editor command ${JSON.stringify(command)}: use read, write or edit. Nothing was run.`,
      };
  }
}

/** `old_str_1`, `new_str_1`, …: Augment numbers the edits of a call. */
function numbered(args: JsonObject): JsonObject {
  const found = Object.keys(args).flatMap((name) => /^oldstr(\d+)$/.exec(name)?.[1] ?? []);
  if (found.length === 0) return args;
  const parts = found.flatMap((at) =>
    ["oldstr", "newstr", "oldstrstartlinenumber", "oldstrendlinenumber"].map((name) => `${name}${at}`),
  );
  const edits = found.map((at) => ({ old: args[`oldstr${at}`] ?? "", new: args[`newstr${at}`] ?? "" }));
  return { ...without(args, ...parts), edits };
}

function one({ old, new: fresh = "", all, count, ...rest }: JsonObject): Conversion {
  const edit = {
    ...(old !== undefined && { old }),
    new: fresh,
    ...(all !== undefined && { all }),
    ...(count !== undefined && { count }),
  };
  return { args: { ...without(rest, "content", "viewrange", "insertline"), edits: [edit as JsonObject] } };
}

/* ---- SEARCH/REPLACE blocks, unified diffs ---- */

const BLOCK = /^\s{0,3}(?:<{5,9}|-{5,9})\s*(?:SEARCH|ORIGINAL)\b/m;

function blocks(args: JsonObject, text: string): Conversion {
  if (!BLOCK.test(text)) {
    if (/^(?:\*\*\* Begin Patch|diff --git |--- |@@)/m.test(text)) return patchOf(args, text);
    return {
      refused: "edit: the text has neither SEARCH/REPLACE blocks nor a diff; send `old` and `new`. Nothing was run.",
    };
  }
  const { edits, problems, rest } = takeEdits(text);
  const left = rest
    .replaceAll("\0", "")
    .replaceAll(/^edit \d+$/gm, "")
    .replaceAll(/^```\S*$/gm, "")
    .trim();
  if (problems.length > 0 || edits.length === 0)
    return { refused: `edit: ${problems.join(" ") || "there is no complete block."} Nothing was run.` };
  if (left !== "")
    return {
      refused: `edit: this stands outside of the blocks: ${JSON.stringify(left.slice(0, 80))}. Nothing was run.`,
    };
  const plain = edits.map((edit) => ({ old: edit.old.replace(LINE_HEAD, ""), new: edit.new }));
  return { args: { ...args, edits: plain } };
}

/** Roo's line number at the head of a block: the text is found by itself. */
const LINE_HEAD = /^(?:\s*:(?:start|end)_line:\s*\d*\s*\n)*\s*-{5,9}\n/;

function patchOf(args: JsonObject, text: string): Conversion {
  if (/^(?:\*\*\* Begin Patch|\+\+\+ )/m.test(text)) return { tool: "apply_patch", args: { patch: text } };
  const path = String(args.path ?? "");
  return { tool: "apply_patch", args: { patch: `--- a/${path}\n+++ b/${path}\n${text}` } };
}

/* ---- apply_patch ---- */

export const APPLY_PATCH: ToolHabits = {
  names: words("applypatch patch apply_unified_diff git_apply apply_diff_patch patch_file apply_changes"),
  parameters: { patch: words("input patch_text diff text content unified_diff patch_content") },
  unused: { ...WORDS, path: "", filepath: "", workdir: "", timeoutms: "" },
  convert(sent) {
    const args = operation(sent);
    const { command, cmd } = args;
    const words = listIn(command ?? cmd);
    const [program, patch] = words ?? [];
    if (typeof patch === "string" && /^apply_?patch$/i.test(String(program))) {
      const folder = args.workdir ?? args.cwd;
      if (typeof folder === "string" && !/^\.?\/?$/.test(folder))
        return { refused: "apply_patch does not know `workdir`: write paths from the workspace. Nothing was run." };
      return { args: { ...without(args, "command", "cmd", "workdir", "cwd"), patch } };
    }
    if (typeof args.path === "string" && typeof args.patch === "string" && /^@@/.test(args.patch.trimStart()))
      return patchOf(args, args.patch);
    return { args };
  },
};

/** The form of OpenAI's own tool: one operation on one file. */
function operation(args: JsonObject): JsonObject {
  const { type, path, patch = "" } = args;
  const [, action] = /^(create|update|delete)_file$/.exec(String(type)) ?? [];
  if (action === undefined || typeof path !== "string" || typeof patch !== "string") return args;
  const head = { create: "Add", update: "Update", delete: "Delete" }[action];
  const text = ["*** Begin Patch", `*** ${head} File: ${path}`, patch.replace(/\n$/, ""), "*** End Patch"];
  return { ...without(args, "type", "path"), patch: text.filter((line) => line !== "").join("\n") };
}
