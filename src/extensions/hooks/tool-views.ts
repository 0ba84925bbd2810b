/**
 * Calls in the form that existing hooks expect: with Claude Code's names of tools and arguments. Oxbow's own names match too.
 *
 * 1. File paths are absolute.
 * 2. A patch is one view for each file it touches, so that a hook that guards or formats files sees all of them; a hook for `apply_patch` itself gets the
 *    patch.
 */
import { resolve } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";

export interface ToolView {
  /** All names that a matcher may use; hooks get the first one. */
  readonly names: readonly [string, ...string[]];
  readonly input: JsonObject;
  /** Oxbow's arguments for a changed input; absent if the input of this view cannot be changed. */
  argsOf?(input: JsonObject): JsonObject;
}

export interface ViewedCall {
  /** Oxbow's name of the tool. */
  readonly tool: string;
  readonly args: JsonObject;
}

/** `whole` is for hooks that match only the tool's own name. */
export interface ToolViews {
  readonly parts: readonly ToolView[];
  readonly whole?: ToolView;
}

type Describe = (call: ViewedCall, root: string) => ToolViews;

export function toolViews(call: ViewedCall, root: string): ToolViews {
  const describe = Object.hasOwn(TOOLS, call.tool) ? TOOLS[call.tool] : undefined;
  return describe?.(call, root) ?? { parts: [{ names: [call.tool], input: call.args, argsOf: (input) => input }] };
}

const AGENT: Renaming = {
  toInput: (args) => withNames(args, { type: "subagent_type" }),
  toArgs: (input) => withNames(input, { subagent_type: "type" }),
};

const TOOLS: Readonly<Record<string, Describe>> = {
  bash: renamed("Bash", {
    toInput: ({ timeout, ...rest }) => ({ ...rest, ...(typeof timeout === "number" && { timeout: timeout * 1000 }) }),
    toArgs: ({ timeout, ...rest }) => ({ ...rest, ...(typeof timeout === "number" && { timeout: timeout / 1000 }) }),
  }),
  read: onFile("Read"),
  write: onFile("Write"),
  ls: inFolder("LS"),
  glob: inFolder("Glob"),
  grep: inFolder("Grep", { mode: "output_mode", ignore_case: "-i", context: "-C", limit: "head_limit" }),
  web_fetch: renamed("WebFetch"),
  todo: renamed("TodoWrite"),
  skill: renamed("Skill"),
  agent: renamed("Task", AGENT, ["Agent"]),
  background: renamed("BashOutput", {}, ["TaskOutput", "KillShell", "KillBash", "TaskStop"]),
  edit: (call, root) => ({ parts: [editView(call, root)] }),
  apply_patch: (call, root) => ({
    parts: patchedFiles(String(call.args.patch ?? "")).map(({ kind, path, removed, added }) => {
      const file_path = resolve(root, path);
      return kind === "add"
        ? { names: ["Write"], input: { file_path, content: added } }
        : { names: ["Edit", "MultiEdit"], input: { file_path, old_string: removed, new_string: added } };
    }),
    whole: {
      names: ["apply_patch"],
      input: { ...call.args, command: call.args.patch },
      argsOf: ({ command, patch }) => ({ patch: command !== call.args.patch ? command : patch }),
    },
  }),
};

interface Renaming {
  toInput?(args: JsonObject): JsonObject;
  toArgs?(input: JsonObject): JsonObject;
}

function renamed(name: string, { toInput, toArgs }: Renaming = {}, others: readonly string[] = []): Describe {
  return ({ tool, args }) => ({
    parts: [
      {
        names: [name, ...others, tool],
        input: toInput?.(args) ?? args,
        argsOf: (input) => toArgs?.(input) ?? input,
      },
    ],
  });
}

/** `path` is `file_path`, and absolute. */
function onFile(name: string): Describe {
  return ({ tool, args }, root) => ({
    parts: [
      {
        names: [name, tool],
        input: withPath(args, "file_path", root),
        argsOf: (input) => withoutPath(input, args, root),
      },
    ],
  });
}

function inFolder(name: string, names: Readonly<Record<string, string>> = {}): Describe {
  const back = Object.fromEntries(Object.entries(names).map(([ours, theirs]) => [theirs, ours]));
  return ({ tool, args }, root) => ({
    parts: [
      {
        names: [name, tool],
        input: withNames(withPath(args, "path", root), names),
        argsOf: (input) => withoutPath(withNames(input, back), args, root),
      },
    ],
  });
}

function editView({ tool, args }: ViewedCall, root: string): ToolView {
  const edits = Array.isArray(args.edits) ? args.edits.filter(isJsonObject) : [];
  const theirs = edits.map((edit) => withNames(edit, { old: "old_string", new: "new_string", all: "replace_all" }));
  const joined = (key: string) => theirs.map((edit) => String(edit[key] ?? "")).join("\n");
  const { edits: _, ...rest } = withPath(args, "file_path", root);
  const [only] = theirs;
  const single = theirs.length === 1 && only !== undefined ? only : undefined;
  const texts = single ?? { old_string: joined("old_string"), new_string: joined("new_string") };
  return {
    names: ["Edit", "MultiEdit", tool],
    input: { ...rest, ...texts, edits: theirs },
    argsOf: (input) => {
      const { old_string, new_string, replace_all, edits: changed, ...others } = input;
      const isOne = JSON.stringify({ old_string, new_string }) !== JSON.stringify(pick(texts)) || changed === undefined;
      if (isOne && single === undefined && theirs.length > 1)
        throw new Error("several edits can only be changed in the list edits.");
      const list = isOne ? [{ old_string, new_string, replace_all }] : changed;
      const ours = Array.isArray(list) ? list.filter(isJsonObject).map(oursOf) : [];
      return { ...withoutPath(others, args, root), edits: ours };
    },
  };
}

const pick = ({ old_string, new_string }: JsonObject): JsonObject => ({ old_string, new_string });

function oursOf(edit: JsonObject): JsonObject {
  return defined(withNames(edit, { old_string: "old", new_string: "new", replace_all: "all" }));
}

function defined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function withNames(object: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const entries = Object.entries(object).map(([key, value]): [string, JsonValue | undefined] => [
    (Object.hasOwn(names, key) && names[key]) || key,
    value,
  ]);
  return Object.fromEntries(entries);
}

function withPath({ path, ...rest }: JsonObject, name: string, root: string): JsonObject {
  return typeof path === "string" ? { [name]: resolve(root, path), ...rest } : rest;
}

/** The path as the model wrote it, if the hook did not change it. */
function withoutPath(input: JsonObject, before: JsonObject, root: string): JsonObject {
  const { file_path, path, ...rest } = input;
  const wanted = file_path ?? path;
  if (wanted === undefined) return rest;
  const isSame = typeof before.path === "string" && wanted === resolve(root, before.path);
  return { path: isSame ? before.path : wanted, ...rest };
}

interface PatchedFile {
  readonly kind: "add" | "update" | "delete";
  readonly path: string;
  readonly removed: string;
  readonly added: string;
}

const HEADER = /^\*\*\* (Add|Update|Delete) File: *(.+)$/;
const MOVED = /^\*\*\* Move to: *(.+)$/;

/** Finds the files that a patch names, and the lines it removes and adds: enough for hooks; the tool itself parses patches strictly. */
function patchedFiles(patch: string): readonly PatchedFile[] {
  const files: { kind: PatchedFile["kind"]; path: string; removed: string[]; added: string[] }[] = [];
  for (const line of patch.split("\n")) {
    const [, kind, path] = HEADER.exec(line.trimEnd()) ?? [];
    const moved = MOVED.exec(line.trimEnd())?.[1];
    if (kind !== undefined && path !== undefined)
      files.push({ kind: kind.toLowerCase() as PatchedFile["kind"], path: path.trim(), removed: [], added: [] });
    else if (moved !== undefined) files.push({ kind: "update", path: moved.trim(), removed: [], added: [] });
    else if (line.startsWith("+")) files.at(-1)?.added.push(line.slice(1));
    else if (line.startsWith("-")) files.at(-1)?.removed.push(line.slice(1));
  }
  return files.map(({ kind, path, removed, added }) => ({
    ...{ kind, path },
    removed: removed.join("\n"),
    added: added.join("\n"),
  }));
}
