/** One line about a tool call: first its arguments, then its result. */
import { formatBytes } from "../../../base/byte-size.js";
import { argumentWords as allArguments } from "../../../base/call-words.js";
import { groupDigits } from "../../../base/group-digits.js";
import { readableShellWord } from "../../../base/shell-word.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import type { ToolBlock } from "./tool-block.js";

/** Arguments beside a path that the lines below say better, or that no line holds. */
const BESIDE_PATH: ReadonlySet<string> = new Set(["content", "edits", "offset", "limit", "depth"]);

/** The important arguments in one line: they are known by their own names, so that a tool of an extension is shown as well as ours. */
export function argumentWords({ args, result, agent }: ToolBlock): string {
  const details = result?.details;
  const files = patchedFiles(details);
  if (files.length > 0) return files.map(({ path }) => path).join(", ");
  if (agent !== undefined || text(args.prompt) !== undefined) return agentWords(args, agent);
  if (Array.isArray(args.todos) || text(args.patch) !== undefined) return "";
  if (Array.isArray(args.args)) return [args.command ?? args.action ?? "", args.args].map(commandText).join(" ").trim();
  const said = text(args.command) ?? questionsOf(args.questions) ?? text(args.url) ?? text(args.query);
  if (said !== undefined) return said;
  if (text(args.pattern) !== undefined)
    return [args.pattern, args.path, args.glob].flatMap((each) => text(each) ?? []).join(" ");
  const { path: _path, file_path: _filePath, ...others } = args;
  const path = pathOf({ args, result });
  if (path === undefined) return allArguments(args);
  const beside = Object.entries(others).filter(([name]) => !BESIDE_PATH.has(name));
  return allArguments({ path: path + lineRange(details), ...Object.fromEntries(beside) });
}

/** The file or folder that a call is about. */
export function pathOf({ args, result }: Pick<ToolBlock, "args" | "result">): string | undefined {
  return text(result?.details?.path) ?? text(args.path) ?? text(args.file_path);
}

function agentWords(args: JsonObject, agent: ToolBlock["agent"]): string {
  const type = agent?.type ?? text(args.type);
  const about = agent?.description ?? text(args.description) ?? text(args.prompt) ?? "";
  return type === undefined ? about : `${type}: ${about}`;
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

/** Counts of a successful call: each tool reports its own. */
export function resultWords({ result }: ToolBlock): string | undefined {
  const details = result?.details ?? {};
  const count = (key: string) => number(details[key]);
  const id = text(details.background_id);
  if (id !== undefined) return `in the background as ${id}`;
  const [status, bytes, total] = [count("status"), count("bytes"), count("total")];
  if (status !== undefined) return `HTTP ${status}${bytes === undefined ? "" : `, ${formatBytes(bytes)}`}`;
  if (total !== undefined) return `${count("done") ?? 0} of ${total} done`;
  return (
    changeWords(details) ??
    matchWords(details) ??
    counted(count("files"), "file", "files") ??
    counted(count("entries"), "entry", "entries") ??
    counted(count("lines"), "line", "lines")
  );
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
