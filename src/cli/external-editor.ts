/**
 * Lets the user write in the program of VISUAL or EDITOR. The text goes through a file that only the user can read, and that Oxbow
 * deletes afterwards.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Variables } from "../base/variables.js";
import { currentFolder } from "../system/find-program.js";
import { makeTemporaryFolder } from "../system/temporary-entries.js";
import { ownVariables } from "../system/trusted-path.js";

export interface EditorProgram {
  /** A shell command such as `code --wait`. */
  readonly command: string;
  readonly file: string;
  readonly variables: Variables;
}

export interface ExternalEditorOptions {
  readonly variables: Variables;
  /** Leaves the terminal to the program while it runs. */
  readonly lend: <T>(action: () => Promise<T>) => Promise<T>;
  /** The exit code of the program; null when a signal ended it. */
  readonly run?: (program: EditorProgram) => Promise<number | null>;
}

/** Tried in this order when neither variable is set. */
const USUAL = ["nano", "vim", "vi"];
const NO_COMMAND = 127;

/** The edited text; undefined if the program failed, so that nothing changes. */
export async function editInEditor(text: string, options: ExternalEditorOptions): Promise<string | undefined> {
  const { lend, run = runInShell } = options;
  // An editor of that name could be a program of the project.
  const variables = ownVariables<Variables>({ PATH: "", ...options.variables }, currentFolder());
  const command = variables.VISUAL || variables.EDITOR || (await usualEditor(variables.PATH));
  if (command === undefined) throw new Error("No editor found. Set EDITOR to the command that starts yours.");
  const folder = makeTemporaryFolder("prompt");
  const file = join(folder, "prompt.md");
  try {
    await writeFile(file, text, { mode: 0o600, flag: "wx" });
    const code = await lend(() => run({ command, file, variables }));
    if (code === NO_COMMAND) throw new Error(`The editor '${command}' was not found. Set EDITOR to another one.`);
    if (code !== 0) return undefined;
    return await readFile(file, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Uses a shell, as git does, because the variable may hold options and quotation marks. The file is never part of the script. */
async function runInShell({ command, file, variables }: EditorProgram): Promise<number | null> {
  const { spawn } = await import("node:child_process");
  const child = spawn("/bin/sh", ["-c", `${command} "$@"`, command, file], { stdio: "inherit", env: variables });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
}

async function usualEditor(path = ""): Promise<string | undefined> {
  const { access, constants } = await import("node:fs/promises");
  for (const name of USUAL) {
    for (const folder of path.split(delimiter)) {
      if (!folder.startsWith("/")) continue;
      const program = join(folder, name);
      const found = await access(program, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (found) return name;
    }
  }
  return undefined;
}
