/** Decides whether the first word may name a program in a folder `commands/`. This runs at every start, so it only looks at names. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Variables } from "../base/variables.js";
import { roots } from "../system/xdg-paths.js";

export interface TypedCommand {
  readonly name: string;
  readonly args: readonly string[];
  /** The flags before the name; those behind it belong to the program. */
  readonly flags: readonly string[];
}

export function folderCommand(args: readonly string[], variables: Variables): TypedCommand | undefined {
  const at = firstWord(args);
  const name = args[at];
  if (name === undefined || !/^[A-Za-z][\w-]{0,63}$/.test(name)) return undefined;
  const isThere = commandFolders(variables).some((folder) => holds(folder, name));
  return isThere ? { name, args: args.slice(at + 1), flags: args.slice(0, at) } : undefined;
}

/** The place of the first word behind `--allow-project-hooks`, `--no-project-hooks` and `--sandbox MODE`. */
function firstWord(args: readonly string[]): number {
  let at = 0;
  for (;;) {
    if (/^--(?:allow|no)-project-hooks$/.test(args[at] ?? "") || args[at]?.startsWith("--sandbox=")) at++;
    else if (args[at] === "--sandbox") at += 2;
    else return at;
  }
}

function commandFolders(variables: Variables): readonly string[] {
  const folders = [join(roots(variables).config, "commands")];
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    folders.push(join(folder, ".oxbow", "commands"));
    if (folder === dirname(folder)) return folders;
  }
}

function holds(folder: string, name: string): boolean {
  // Catching the error for a missing folder costs more than this check.
  if (!existsSync(folder)) return false;
  try {
    return readdirSync(folder).some((file) => file === name || file.startsWith(`${name}.`));
  } catch {
    return false;
  }
}
