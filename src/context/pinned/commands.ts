/** `/read`, `/search`, `/files`, `/git`, `/run` and `/context …`. */
import { counted, groupDigits } from "../../base/group-digits.js";
import { readableShellWord } from "../../base/shell-word.js";
import {
  asValue,
  BETWEEN_TURNS,
  type Command,
  type CommandOf,
  type CommandResult,
  IN_SESSION,
  refuse,
  type Subject,
  withPort,
} from "../../feature/command.js";
import type { JsonObject } from "../../protocol/json.js";
import { type WindowFacts, windowParts, windowText } from "../compaction/window-parts.js";
import type { GivenContext } from "./part.js";

/** Runs tools for commands that the user typed, and keeps what they find for the next input. */
export interface Gathering extends Pick<GivenContext, "pinned" | "gathered"> {
  /** Runs the tool and keeps its text. */
  gather(call: TypedCall, signal: AbortSignal): Promise<CommandResult>;
  call(call: TypedCall, signal: AbortSignal): Promise<{ readonly text: string } | { readonly problem: string }>;
  keep(command: string, text: string): Promise<void>;
  answer(command: string, text: string): CommandResult;
  windowFacts(): Promise<WindowFacts>;
  /** The instruction files that the session has, and those that it does not have, with the reason. */
  instructions(): Promise<{ readonly files: readonly object[]; readonly lines: readonly string[] }>;
}

export interface TypedCall {
  /** The label: `/read a.txt`. */
  readonly command: string;
  readonly does: "read" | "search" | "list" | "find" | "run";
  readonly args: JsonObject;
  /** It is refused if it is a command that does more than read. */
  readonly onlyReads?: true;
}

const MOST_FILES = 200;
const MOST_CHARACTERS = 400_000;

const COMMANDS: readonly CommandOf<Gathering>[] = [
  {
    name: "read",
    summary: "give the model files with your next input",
    arguments: [{ name: "FILE", kind: "path", rest: "list", complete: "file" }],
    places: BETWEEN_TURNS,
    run: (args, gathering, { signal }) => readFiles(gathering, args.list("FILE"), signal),
  },
  {
    name: "search",
    summary: "search the files for a regular expression, and give the model the matches",
    arguments: [
      { name: "PATTERN", kind: "text" },
      { name: "PATH", kind: "path", optional: true, complete: "folder" },
    ],
    places: BETWEEN_TURNS,
    run: (args, gathering, { signal }) => {
      const [pattern = "", path] = [args.text("PATTERN"), args.text("PATH")];
      const command = `/search ${pattern}${path === undefined ? "" : ` ${path}`}`;
      const where = path === undefined ? {} : { path };
      return gathering.gather({ command, does: "search", args: { pattern, limit: 100, ...where } }, signal);
    },
  },
  {
    name: "files",
    summary: "list a folder, and give the model the list",
    arguments: [{ name: "PATH", kind: "path", optional: true, complete: "folder" }],
    places: BETWEEN_TURNS,
    run: (args, gathering, { signal }) => {
      const path = args.text("PATH");
      const command = path === undefined ? "/files" : `/files ${path}`;
      return gathering.gather({ command, does: "list", args: path === undefined ? {} : { path } }, signal);
    },
  },
  {
    name: "git",
    usage: "/git status|diff|log|show|blame [ARGUMENTS]",
    summary: "run a git command that only reads, and give the model its output",
    arguments: [
      { name: "ACTION", kind: "choice", complete: ["status", "diff", "log", "show", "blame"] },
      { name: "ARGUMENTS", kind: "text", optional: true, rest: "list" },
    ],
    places: BETWEEN_TURNS,
    run: (args, gathering, { signal }) => {
      const action = args.text("ACTION") ?? "";
      const words = args.list("ARGUMENTS");
      const command = ["/git", action, ...words].join(" ");
      const line = ["git", action, ...words].map(readableShellWord).join(" ");
      return gathering.gather({ command, does: "run", args: { command: line }, onlyReads: true }, signal);
    },
  },
  {
    name: "run",
    summary: "run a shell command yourself, and give the model its output",
    arguments: [{ name: "COMMAND", kind: "line", rest: "text" }],
    places: BETWEEN_TURNS,
    // With the network. Its changes are checked as those of the model's commands; `!COMMAND` has all rights of the user.
    run: (args, gathering, { signal }) => {
      const command = args.text("COMMAND") ?? "";
      return gathering.gather({ command: `/run ${command}`, does: "run", args: { command } }, signal);
    },
  },
  {
    name: "context:add",
    summary: "pin text that survives /clear and compaction",
    arguments: [{ name: "TEXT", kind: "line", rest: "text" }],
    reaches: "session",
    places: BETWEEN_TURNS,
    run: (args, { pinned }) => {
      pinned.add(args.text("TEXT") ?? "");
      return { text: "Pinned. It stays after /clear and compaction.", value: { pinned: pinned.text } };
    },
  },
  {
    name: "context:show",
    aliases: ["context"],
    summary:
      "show what fills the context window, the pinned text, what waits for your next input, and the instruction files",
    reaches: "session",
    places: IN_SESSION,
    run: (_args, gathering) => show(gathering),
  },
  {
    name: "context:clear",
    summary: "remove the pinned text, and what waits for your next input",
    reaches: "session",
    places: BETWEEN_TURNS,
    run: (_args, { pinned, gathered }) => {
      const dropped = gathered.clear();
      pinned.clear();
      return { text: "Removed the pinned text, and what waited for your next input.", value: { pinned: "", dropped } };
    },
  },
  {
    name: "context:load-dir",
    summary: "give the model all files of a folder with your next input, or those that match GLOB",
    arguments: [
      { name: "PATH", kind: "path", complete: "folder" },
      { name: "GLOB", kind: "text", optional: true },
    ],
    places: BETWEEN_TURNS,
    run: (args, gathering, { signal }) =>
      loadFolder(gathering, { path: args.text("PATH") ?? ".", glob: args.text("GLOB") }, signal),
  },
];

export const subject: Subject = {
  name: "context",
  summary: "pin text that stays, and see what the model gets with your next input",
  heading: "Files and context",
  specs: COMMANDS,
};

export function sessionCommands(open: () => Promise<Gathering>): readonly Command[] {
  return withPort(COMMANDS, open);
}

async function readFiles(gathering: Gathering, paths: readonly string[], signal: AbortSignal): Promise<CommandResult> {
  const texts: string[] = [];
  for (const path of paths) {
    const command = `/read ${path}`;
    const found = await gathering.call({ command, does: "read", args: { path } }, signal);
    // If one file fails, none is kept: the user names the files again.
    if ("problem" in found) return refuse(found.problem);
    texts.push(found.text);
  }
  for (const [index, path] of paths.entries()) await gathering.keep(`/read ${path}`, texts[index] ?? "");
  return gathering.answer(`/read ${paths.join(" ")}`, texts.join("\n\n"));
}

async function show(gathering: Gathering): Promise<CommandResult> {
  const { pinned, gathered } = gathering;
  const instructions = await gathering.instructions();
  const waiting = gathered.texts.map(({ label, text }) => `${label}  ${groupDigits(text.length)} characters`);
  const window = await gathering.windowFacts();
  const lines = [
    windowText(window),
    ...(pinned.text === "" ? [] : [`Pinned:\n${pinned.text}`]),
    ...(waiting.length === 0 ? [] : [`With your next input:\n${waiting.join("\n")}`]),
    ...(instructions.lines.length === 0 ? [] : [`Instruction files:\n${instructions.lines.join("\n")}`]),
  ];
  const value = {
    window: asValue(windowParts(window)),
    pinned: pinned.text,
    next: gathered.texts.map(({ label }) => label),
    instructions: asValue(instructions.files),
  };
  return { text: lines.join("\n\n"), value };
}

/** Reads all text files below a folder that are not ignored, each with its own label. */
async function loadFolder(
  gathering: Gathering,
  { path, glob }: { readonly path: string; readonly glob: string | undefined },
  signal: AbortSignal,
): Promise<CommandResult> {
  const command = `/context load-dir ${path}${glob === undefined ? "" : ` ${glob}`}`;
  const listed = await gathering.call({ command, does: "find", args: { path, pattern: glob ?? "**/*" } }, signal);
  if ("problem" in listed) return refuse(listed.problem);
  const files = listed.text.split("\n").filter((line) => line !== "" && !line.startsWith("["));
  if (files.length === 0 || listed.text.startsWith("No file matches")) return refuse(listed.text);
  if (files.length > MOST_FILES) {
    return refuse(`${path} has more than ${MOST_FILES} files. Name a smaller folder, or a pattern such as *.ts.`);
  }
  const texts = new Map<string, string>();
  const skipped: string[] = [];
  let size = 0;
  for (const file of files) {
    const found = await gathering.call({ command, does: "read", args: { path: file } }, signal);
    if ("problem" in found) skipped.push(file);
    else texts.set(file, found.text);
    size += "text" in found ? found.text.length : 0;
    if (size > MOST_CHARACTERS)
      return refuse(`${path} has more than ${groupDigits(MOST_CHARACTERS)} characters. Name a smaller part of it.`);
  }
  for (const [file, text] of texts) await gathering.keep(`/read ${file}`, text);
  const left = skipped.length === 0 ? "" : `\nLeft out: ${skipped.join(", ")}`;
  return {
    text: `${[...texts.keys()].join("\n")}${left}\n\nThe model gets ${counted(texts.size, "file")} with your next input (${groupDigits(size)} characters).`,
    value: { files: [...texts.keys()], skipped },
  };
}
