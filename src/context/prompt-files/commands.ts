/**
 * A command for each prompt file, and `/template …`, which finds a file even if another command has its name.
 *
 * 1. A built-in command or namespace keeps its name: a file with that name is `/project:NAME` or `/user:NAME`.
 * 2. If two files have one name, the more local one wins.
 */
import type { Model } from "../../engine/ports.js";
import {
  BETWEEN_TURNS,
  type Command,
  type CommandContext,
  type CommandOf,
  type CommandResult,
  EVERYONE,
  IN_SESSION,
  refuse,
  type Subject,
  withPort,
} from "../../feature/command.js";
import { text } from "../../protocol/content.js";
import type { Failure } from "../../protocol/errors.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { expandPrompt, type PromptArguments, type PromptPorts } from "./expand-prompt.js";
import type { PromptFilesContext } from "./part.js";
import { type PromptFile, readPromptFile } from "./read-prompt-file.js";

export interface PromptPlace {
  /** Tells whether a built-in command or namespace has the name. */
  isTaken(name: string): boolean;
  /** Works between two turns. Commands and files go through the permissions, like calls of the model. */
  between(work: (ports: PromptPorts, signal: AbortSignal) => Promise<Expanded>): Promise<Expanded>;
  /** Finds the model that a file names, if it is available. */
  findModel(name: string): Promise<Model | undefined>;
}

/** A prompt, or why there is none. */
type Expanded = string | { readonly failure: Failure };
type AllPrompts = () => Promise<readonly Command[]>;

const TEMPLATES: readonly CommandOf<AllPrompts>[] = [
  {
    name: "template:use",
    summary: "give the model a prompt template with your next input",
    arguments: [
      { name: "NAME", kind: "text" },
      { name: "ARGUMENTS", kind: "text", optional: true, rest: "text" },
    ],
    reaches: "session",
    places: BETWEEN_TURNS,
    run: async (args, all, context) => {
      const typed = args.text("NAME") ?? "";
      const wanted = typed.replace(/\.md$/, "");
      const found = (await all()).findLast(({ name }) => name === wanted || name.endsWith(`:${wanted}`));
      if (found === undefined) return refuse(`There is no template '${typed}'. /template lists them.`);
      return found.run(args, context);
    },
  },
  {
    name: "template:list",
    aliases: ["template"],
    summary: "list the prompt templates",
    reaches: "session",
    places: IN_SESSION,
    run: async (_args, all) => {
      const templates = (await all()).map(({ name, summary }) => ({ name, summary }));
      const none =
        "There are no templates. Put Markdown files into templates/ or commands/ of Oxbow's configuration folder or of .oxbow/.";
      const lines = templates.map(({ name, summary }) => `${name}  ${summary}`);
      return { text: lines.join("\n") || none, value: { templates } };
    },
  },
];

export const subject: Subject = {
  name: "template",
  summary: "prompts that you use again and again",
  heading: "Files and context",
  specs: TEMPLATES,
};

export async function sessionCommands(context: PromptFilesContext): Promise<readonly Command[]> {
  const all = () => promptCommands(context);
  return [...withPort(TEMPLATES, () => all), ...(await all())];
}

async function promptCommands(session: PromptFilesContext): Promise<readonly Command[]> {
  const files = session.extensions.of("prompt");
  if (files.length === 0) return [];
  const place = await session.promptPlace();
  const commands = new Map<string, Command>();
  for (const file of files) {
    const read = await readPromptFile(file).catch((error: Error) => ({ refused: error.message }));
    if ("refused" in read) {
      session.notify(`${file.path} is not a slash command: ${read.refused}`);
      continue;
    }
    const name = place.isTaken(read.name) ? `${read.scope}:${read.name}` : read.name;
    commands.set(name, promptCommand({ ...read, name }, session, place));
  }
  return [...commands.values()];
}

function promptCommand(file: PromptFile, session: PromptFilesContext, place: PromptPlace): Command {
  const hint = file.argumentHint === undefined ? "" : ` ${file.argumentHint}`;
  return {
    name: file.name,
    summary: `${file.summary} (${file.scope})`,
    usage: `/${file.name}${hint}`,
    arguments: [{ name: "ARGUMENTS", kind: "line", optional: true, rest: "text" }],
    reaches: "session",
    users: EVERYONE,
    places: BETWEEN_TURNS,
    withColons: true,
    run: (args, { signal, warn }) => {
      const line = args.text("ARGUMENTS") ?? "";
      const { root, session: id } = session;
      const ids = { CLAUDE_PROJECT_DIR: root, CLAUDE_SESSION_ID: id, OXBOW_SESSION_ID: id };
      const { pluginRoot } = file;
      const variables = pluginRoot === undefined ? ids : { ...ids, CLAUDE_PLUGIN_ROOT: pluginRoot };
      const missing = file.layout === "claude" ? "keep" : "empty";
      const given = { line, names: file.argumentNames, missing, variables } as const;
      const command = { name: file.name, line, source: file.scope, signal };
      return session.asPrompt(command, () => runPrompt(file, given, { ...place, warn }));
    },
  };
}

async function runPrompt(
  file: PromptFile,
  args: PromptArguments,
  place: PromptPlace & Pick<CommandContext, "warn">,
): Promise<CommandResult> {
  const { name } = file;
  const expanded = await place.between(async (ports, signal) => {
    const words = await expandPrompt(file.body, args, ports);
    return signal.aborted ? refuse(`/${name} was cancelled.`) : words;
  });
  if (typeof expanded !== "string") return expanded;
  const model = file.model === undefined ? undefined : await place.findModel(file.model);
  if (file.model !== undefined && model === undefined)
    place.warn(`/${name} asks for the model '${file.model}', which is not available. The session's model answers.`);
  const input = [text(args.line === "" ? `/${name}` : `/${name} ${args.line}`)];
  const notice = `/${name} stands for this prompt of the user:\n\n${expanded}`;
  const turn = { input, notice, commandFile: realpathOrSelf(file.path) };
  return { text: "", value: { command: name }, turn: model === undefined ? turn : { ...turn, model } };
}
