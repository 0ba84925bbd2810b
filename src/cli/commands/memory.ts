/** `oxbow memory`: the memories of the user and of the project in this folder. */

import { resolve } from "node:path";
import type { Variables } from "../../base/variables.js";
import {
  MEMORY_ADD,
  MEMORY_EDIT,
  MEMORY_FIND,
  MEMORY_FORGET,
  MEMORY_LIST,
  MEMORY_LOG,
  MEMORY_SHOW,
} from "../../commands/catalogue/memory.js";
import type { CommandArguments } from "../../commands/command.js";
import type { ParsedFlags } from "../../commands/flags.js";
import { MemoryError, type MemoryListing } from "../../context/memory/changes.js";
import type { Memories } from "../../context/memory/memories.js";
import { memoryCommands } from "../../runtime/commands/memory.js";
import { openMemories } from "../../runtime/content/memory-folders.js";
import { nodeClock } from "../../system/node-clock.js";
import { roots } from "../../system/xdg-paths.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import { EXIT } from "../exit-codes.js";
import { editInEditor } from "../external-editor.js";
import { printMessage } from "../print-message.js";
import { type ShellCommand, shellRunner, type TerminalCommand } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "memory",
  specs: [MEMORY_LIST, MEMORY_SHOW, MEMORY_FIND, MEMORY_ADD, MEMORY_EDIT, MEMORY_FORGET, MEMORY_LOG],
  about:
    "Lists, adds, edits and deletes the notes that Oxbow keeps for later sessions. In a session also: /memory why, /memory extract.",
  more: "Each memory is a Markdown file that you may edit: docs/memory.md",
  open: async (flags, variables) => {
    const root = await openRoot(resolve(flags.text("cwd") ?? process.cwd()));
    const shared = () => sharedIn(root, flags, variables);
    const memories = await openMemories({ roots: roots(variables), root, clock: nodeClock }, shared);
    const commands = memoryCommands({ memories, now: nodeClock.wall });
    const asksForEditor =
      flags.words[0] === "edit" && flags.words.length === 2 && !flags.has("type") && !flags.has("description");
    return { commands, ...(asksForEditor && { terminalCommands: [editCommand(memories, variables)] }) };
  },
};

export const run = shellRunner(shell);

/** Approved files of the repository. */
async function sharedIn(root: string, flags: ParsedFlags, variables: Variables): Promise<MemoryListing> {
  const [{ loadSettings }, { findExtensions }, { sharedMemories }] = await Promise.all([
    import("../../runtime/settings/settings.js"),
    import("../../runtime/content/find-extensions.js"),
    import("../../runtime/content/memory-folders.js"),
  ]);
  const found = await findExtensions({
    loaded: await loadSettings(flags, variables),
    variables,
    root,
    color: false,
    width: 80,
    skipUnapproved: true,
    allowProjectHooks: false,
    notify: () => {},
    granted: new Set(),
    since: Number.POSITIVE_INFINITY,
  });
  return sharedMemories(found.files.filter(({ kind }) => kind === "memory"));
}

/** Also opens a file whose front matter is broken: that is how people correct it. */
function editCommand(memories: Memories, variables: Variables): TerminalCommand {
  return { ...MEMORY_EDIT, take: (args) => editFile(args, memories, variables) };
}

async function editFile(args: CommandArguments, memories: Memories, variables: Variables): Promise<number> {
  const wanted = args.text("NAME") ?? "";
  try {
    const { folder, name } = await memories.locate(wanted);
    const before = await folder.textOf(name);
    const after = await editInEditor(before, { variables, lend: (action) => action() });
    if (after === undefined || after === before) {
      process.stdout.write("Nothing was changed.\n");
      return EXIT.answered;
    }
    const written = await folder.replace(name, after, { by: "user" });
    if ("message" in written) {
      printMessage(`Your text is in ${written.path}, but it is not used: ${written.message}.`);
      return EXIT.failed;
    }
    process.stdout.write(`Changed ${written.scope}/${written.name}.\n`);
    return EXIT.answered;
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    printMessage(error.message);
    return EXIT.failed;
  }
}
