/**
 * A command for each prompt file.
 *
 * 1. A built-in command or namespace keeps its name: a file with that name is `/project:NAME` or `/user:NAME`.
 * 2. If two files have one name, the more local one wins.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { ExtensionFile } from "../../base/extension-files.js";
import { SESSION_SPECS } from "../../commands/catalogue/index.js";
import { type Command, type CommandContext, type CommandResult, namespaceOf, refuse } from "../../commands/command.js";
import { expandPrompt } from "../../context/prompt-files/expand-prompt.js";
import { type PromptFile, readPromptFile } from "../../context/prompt-files/read-prompt-file.js";
import type { Model, ToolOutcome } from "../../engine/ports.js";
import { resultText, text } from "../../protocol/content.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { type Opening, runOf } from "../opening.js";
import { type CallPlace, callTool } from "./call-tool.js";
import { hookedPrompt } from "./prompt-expansion.js";

type Place = Pick<Opening, "engine" | "current" | "session" | "root" | "built">;

export async function promptFileCommands(files: readonly ExtensionFile[], opening: Place): Promise<readonly Command[]> {
  const commands = new Map<string, Command>();
  for (const file of files) {
    const read = await readPromptFile(file).catch((error: Error) => ({ refused: error.message }));
    if ("refused" in read) {
      opening.engine.notify(`${file.path} is not a slash command: ${read.refused}`);
      continue;
    }
    const name = isTaken(read.name) ? `${read.scope}:${read.name}` : read.name;
    commands.set(name, promptCommand({ ...read, name }, opening));
  }
  return [...commands.values()];
}

/** Namespaces whose commands depend on the session. */
const DYNAMIC = ["skills", "agents", "profiles", "sessions", "mcp"];
const NAMES = new Set(SESSION_SPECS.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
const NAMESPACES = new Set([...DYNAMIC, ...[...NAMES].flatMap((name) => namespaceOf(name) ?? [])]);

function isTaken(name: string): boolean {
  return NAMES.has(name) || NAMESPACES.has(namespaceOf(name) ?? name);
}

function promptCommand(file: PromptFile, opening: Place): Command {
  const hint = file.argumentHint === undefined ? "" : ` ${file.argumentHint}`;
  return {
    name: file.name,
    summary: `${file.summary} (${file.scope})`,
    usage: `/${file.name}${hint}`,
    arguments: [{ name: "ARGUMENTS", kind: "line", optional: true, rest: "text" }],
    reaches: "session",
    users: ["people", "agents"],
    places: ["between turns"],
    withColons: true,
    run: async (args, context) => {
      const line = args.text("ARGUMENTS") ?? "";
      const expand = () => runPrompt(file, line, { opening, context });
      const events = opening.built.get("events");
      return hookedPrompt({ name: file.name, line, source: file.scope, signal: context.signal }, { events, expand });
    },
  };
}

async function runPrompt(
  file: PromptFile,
  line: string,
  { opening, context }: { readonly opening: Place; readonly context: CommandContext },
): Promise<CommandResult> {
  const run = runOf(opening);
  const { root, session } = opening;
  const outside = opening.built.get("outside");
  const mark = outside.wraps ? await outside.wrapper() : (words: string) => words;
  const pluginRoot = file.pluginRoot === undefined ? {} : { CLAUDE_PLUGIN_ROOT: file.pluginRoot };
  const args = {
    line,
    names: file.argumentNames,
    missing: file.layout === "claude" ? ("keep" as const) : ("empty" as const),
    variables: { CLAUDE_PROJECT_DIR: root, CLAUDE_SESSION_ID: session, OXBOW_SESSION_ID: session, ...pluginRoot },
  };
  const expanded = await run.between(async ({ ports, signal }) => {
    const text = await expandPrompt(file.body, args, portsOf({ run, ports, signal }, { root, mark }));
    return signal.aborted ? refuse(`/${file.name} was cancelled.`) : text;
  });
  if (typeof expanded !== "string") return expanded;
  const model = await modelOf(file, opening, context);
  const typed = `/${file.name}${line === "" ? "" : ` ${line}`}`;
  const notice = `/${file.name} stands for this prompt of the user:\n\n${expanded}`;
  return {
    text: "",
    value: { command: file.name },
    turn: {
      ...{ input: [text(typed)], notice, commandFile: realpathOrSelf(file.path) },
      ...(model !== undefined && { model }),
    },
  };
}

/** `mark`: marks text of files and commands as data, not the user's text. */
function portsOf(
  place: CallPlace,
  { root, mark }: { readonly root: string; readonly mark: (text: string, source: string) => string },
) {
  return {
    run: async (command: string) => outcomeText(command, await callTool("bash", { command }, place), mark),
    read: async (path: string) => {
      const full = resolve(root, path);
      const found = statSync(full, { throwIfNoEntry: false });
      const tool = found?.isFile() ? "read" : found?.isDirectory() ? "ls" : undefined;
      if (tool === undefined) return undefined;
      const outcome = await callTool(tool, { path }, place);
      return outcome.status === "ok" ? mark(contentText(outcome), path) : undefined;
    },
  };
}

function outcomeText(command: string, outcome: ToolOutcome, mark: (text: string, source: string) => string): string {
  const { status } = outcome;
  const words = contentText(outcome);
  if (status === "denied" || status === "cancelled") return `(${command}: ${status})\n${words}`;
  return `${status === "ok" ? "" : `(${command}: ${status})\n`}${mark(words, command)}`;
}

function contentText({ content }: ToolOutcome): string {
  return resultText(content).trimEnd();
}

/** The model that the file names, if it is available; otherwise that of the session. */
async function modelOf(
  { model, name }: PromptFile,
  opening: Place,
  context: CommandContext,
): Promise<Model | undefined> {
  if (model === undefined) return undefined;
  const { routes, registry } = opening.engine;
  const spec = specOf(model, runOf(opening).model);
  const found = (await routes.resolve(model)) ?? (spec === undefined ? undefined : await registry.resolve(spec));
  if (found !== undefined && "model" in found) return found.model;
  context.warn(`/${name} asks for the model '${model}', which is not available. The session's model answers.`);
  return undefined;
}

/** Files for other tools have short names (`sonnet`), which no provider knows. A full name counts if it looks like the session's. */
function specOf(model: string, { provider, model: current }: Model): string | undefined {
  if (/^[\w.-]+:\S+$/.test(model)) return model;
  const family = (name: string) => name.split(/[-.\d]/)[0];
  return /[-\d]/.test(model) && family(model) === family(current) ? `${provider}:${model}` : undefined;
}
