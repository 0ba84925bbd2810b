/**
 * The `if` of a hook: one permission rule, such as `Bash(git push *)` or `Edit(*.env)`, that the call must match. A hook is often a guard,
 * so a condition that is not understood counts as a match, and one part of a command is enough.
 */

import { basename, join } from "node:path";
import {
  ANY,
  FOLDERS,
  IN_NAME,
  ONE_IN_NAME,
  type PatternPart,
  starPattern,
  type TextPattern,
} from "../../base/star-pattern.js";
import type { JsonValue } from "../../protocol/json.js";
import type { ToolView } from "./tool-views.js";

export interface ConditionPlace {
  readonly root: string;
  readonly home: string;
}

const RULE = /^\s*([\w*-]+)\s*(?:\(([\s\S]*)\))?\s*$/;
const EDITING: readonly string[] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

export function conditionHolds(rule: string, view: ToolView, place: ConditionPlace): boolean {
  const parsed = RULE.exec(rule);
  if (parsed === null) return true;
  const [, tool = "", about] = parsed;
  if (!isForTool(tool, view)) return false;
  if (about === undefined || about.trim() === "" || about.trim() === "*") return true;
  const { command, file_path: file, path, url } = view.input;
  if (typeof command === "string") return simpleCommands(command).some((each) => fitsCommand(each, about));
  const touched = typeof file === "string" ? file : path;
  if (typeof touched === "string") return fitsPath(touched, about.trim(), place);
  if (typeof url === "string") return fitsAddress(url, about);
  return fitsParameter(view.input, about);
}

function isForTool(tool: string, { names }: ToolView): boolean {
  const pattern = globPattern(tool, "any");
  return names.some((name) => pattern.test(name)) || (tool === "Edit" && names.some((name) => EDITING.includes(name)));
}

/** The whole text, and every part that may be a separate command. */
function simpleCommands(text: string): readonly string[] {
  const pieces = text.split(/&&|\|\||[;|&\n(){}`]|\$\(/).map((piece) => piece.trim());
  const bare = pieces.map((piece) => piece.replace(/^(?:(?:\w+=\S*|sudo|env|command|exec|time|nohup)\s+)+/, ""));
  return [text.trim(), ...pieces, ...bare].filter((piece) => piece !== "");
}

/** `x:*` and `x *` mean the word and everything after it. */
function fitsCommand(command: string, about: string): boolean {
  const words = about.trim().replace(/(?::\*|\s\*)$/, "");
  if (globPattern(words, "any").test(command)) return true;
  return words !== about.trim() && globPattern(`${words} *`, "any").test(command.replaceAll(/\s/g, " "));
}

function fitsPath(path: string, about: string, { root, home }: ConditionPlace): boolean {
  if (about.startsWith("//")) return pathPattern(about.slice(1)).test(path);
  if (about.startsWith("~/")) return pathPattern(join(home, about.slice(2))).test(path);
  if (about.startsWith("/")) return pathPattern(join(root, about)).test(path);
  const plain = about.replace(/^\.\//, "");
  if (!plain.includes("/")) return globPattern(plain, "name").test(basename(path));
  return pathPattern(join(root, plain)).test(path) || pathPattern(`**/${plain}`).test(path);
}

function fitsAddress(url: string, about: string): boolean {
  const domain = /^\s*domain:(.+)$/.exec(about)?.[1]?.trim();
  if (domain === undefined) return globPattern(about.trim(), "any").test(url);
  const host = URL.canParse(url) ? new URL(url).hostname : url;
  return host === domain || host.endsWith(`.${domain.replace(/^\*\./, "")}`);
}

function fitsParameter(input: Readonly<Record<string, JsonValue | undefined>>, about: string): boolean {
  const [, name = "", wanted = ""] = /^\s*(\w+):([\s\S]*)$/.exec(about) ?? [];
  const value = input[name];
  if (name === "" || value === undefined || typeof value === "object") return true;
  return globPattern(wanted.trim(), "any").test(String(value));
}

function pathPattern(glob: string): TextPattern {
  return globPattern(glob, "path");
}

/** `any`: a star crosses everything; `name`: within one name; `path`: two stars cross slashes. */
function globPattern(glob: string, kind: "any" | "name" | "path"): TextPattern {
  const parts = glob.match(/\*\*\/|\*\*|\*|\?|[^*?]+/g) ?? [];
  return starPattern(
    parts.flatMap((part): readonly PatternPart[] => {
      if (part === "**") return [ANY];
      if (kind === "any") return part === "**/" ? [ANY, "/"] : [part === "*" ? ANY : part];
      if (part === "**/") return [FOLDERS];
      return [part === "*" ? IN_NAME : part === "?" ? ONE_IN_NAME : part];
    }),
  );
}
