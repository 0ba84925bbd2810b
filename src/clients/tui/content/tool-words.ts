/** One line about a tool call: first its arguments, then its result. */
import { formatBytes } from "../../../base/byte-size.js";
import { argumentWords as allArguments } from "../../../base/call-words.js";
import { groupDigits } from "../../../base/group-digits.js";
import { readableShellWord } from "../../../base/shell-word.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import type { ToolBlock } from "./block.js";

/** Other names of the same tools that models use. */
const ALIASES: Readonly<Record<string, string>> = {
  read_file: "read",
  write_file: "write",
  str_replace: "edit",
  fetch: "web_fetch",
  list_dir: "ls",
};

export function toolName(tool: string): string {
  return Object.hasOwn(ALIASES, tool) ? (ALIASES[tool] as string) : tool;
}

/** The important arguments in one line. */
export function argumentWords(block: ToolBlock): string {
  const { tool, args, result } = block;
  const name = toolName(tool);
  const path = text(result?.details?.path) ?? text(args.path) ?? text(args.file_path) ?? "";
  switch (name) {
    case "bash":
      return text(args.command) ?? allArguments(args);
    case "read":
      return path + lineRange(result?.details);
    case "ls":
      return path === "" ? "." : path;
    case "edit":
    case "write":
      return path;
    case "glob":
    case "grep":
      return [text(args.pattern) ?? "", text(args.path), text(args.glob)]
        .filter((part) => part !== undefined)
        .join(" ");
    case "apply_patch":
      return patchedFiles(result?.details)
        .map(({ path }) => path)
        .join(", ");
    case "todo":
      return "";
    case "ask":
      return questionsOf(args.questions) ?? allArguments(args);
    case "web_search":
      return text(args.query) ?? allArguments(args);
    case "agent":
    case "delegate":
      return agentWords(args, block.agent);
    case "web_fetch":
      return text(args.url) ?? allArguments(args);
    case "git":
      return Object.values(args).map(commandText).join(" ");
    default:
      return allArguments(args);
  }
}

function agentWords(args: JsonObject, agent: ToolBlock["agent"]): string {
  const type = agent?.type ?? text(args.type);
  const about = agent?.description ?? text(args.description) ?? text(args.prompt) ?? "";
  return type === undefined || type === "delegate" ? about : `${type}: ${about}`;
}

function questionsOf(questions: JsonValue | undefined): string | undefined {
  if (!Array.isArray(questions)) return undefined;
  return questions.map((each) => (isJsonObject(each) ? (text(each.question) ?? "") : "")).join(" ");
}

/** As it would be typed. */
function commandText(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return JSON.stringify(value);
  return value.map((word) => (typeof word === "string" ? readableShellWord(word) : JSON.stringify(word))).join(" ");
}

/** Counts of a successful call. */
export function resultWords({ tool, result }: ToolBlock): string | undefined {
  const details = result?.details ?? {};
  const count = (key: string) => number(details[key]);
  switch (toolName(tool)) {
    case "read":
      return counted(count("lines"), "line", "lines");
    case "ls":
      return counted(count("entries"), "entry", "entries");
    case "glob":
      return counted(count("files"), "file", "files");
    case "grep":
      return matchWords(details);
    case "edit":
    case "write":
    case "apply_patch":
      return changeWords(details);
    case "todo":
      return count("total") === undefined ? undefined : `${count("done") ?? 0} of ${count("total")} done`;
    case "web_fetch": {
      const [status, bytes] = [count("status"), count("bytes")];
      return status === undefined ? undefined : `HTTP ${status}${bytes === undefined ? "" : `, ${formatBytes(bytes)}`}`;
    }
    case "bash": {
      const id = text(details.background_id);
      return id === undefined ? undefined : `in the background as ${id}`;
    }
    default:
      return undefined;
  }
}

export interface PatchedFile {
  readonly path: string;
  readonly diff: string;
  readonly words: string;
}

export function patchedFiles(details: JsonObject | undefined): readonly PatchedFile[] {
  const files = details?.files;
  if (!Array.isArray(files)) return [];
  return files.flatMap((file) => {
    if (typeof file !== "object" || file === null || Array.isArray(file)) return [];
    const { path, diff, from } = file as JsonObject;
    if (typeof path !== "string") return [];
    const name = typeof from === "string" ? `${from} to ${path}` : path;
    const shown = typeof diff === "string" ? diff : "";
    return [{ path: name, diff: shown, words: changeWords(file as JsonObject) ?? "" }];
  });
}

function changeWords(details: JsonObject): string | undefined {
  if (details.changed === false) return "no change";
  const [added, removed] = [number(details.added), number(details.removed)];
  if (added === undefined || removed === undefined) return undefined;
  const created = details.created === true || details.kind === "added" ? "created, " : "";
  return `${details.kind === "deleted" ? "deleted, " : created}+${added} -${removed}`;
}

function matchWords(details: JsonObject): string | undefined {
  const [files, matches] = [number(details.files), number(details.matches)];
  if (files === undefined || matches === undefined) return undefined;
  const more = details.partial === true ? "more than " : "";
  const inFiles = counted(files, "file", "files");
  if (details.mode === "files") return inFiles;
  return matches === 0 ? "no match" : `${more}${counted(matches, "match", "matches")} in ${inFiles}`;
}

function lineRange(details: JsonObject | undefined): string {
  const [first, lines, total] = [number(details?.first_line), number(details?.lines), number(details?.total_lines)];
  if (first === undefined || lines === undefined || lines === 0 || (first === 1 && (total ?? lines) === lines))
    return "";
  return `:${first}-${first + lines - 1}`;
}

export function counted(count: number | undefined, one: string, many: string): string | undefined {
  return count === undefined ? undefined : `${groupDigits(count)} ${count === 1 ? one : many}`;
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
