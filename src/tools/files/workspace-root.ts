/** The root of the workspace: resolved once, without symbolic links, readable. */
import { opendir, realpath } from "node:fs/promises";
import { noteWorkspace } from "../../system/project-folders.js";
import { fromSystem, WorkspaceError } from "./workspace-error.js";

/** Throws with a message for the user if the folder cannot be read. */
export async function openRoot(root: string): Promise<string> {
  try {
    const real = await realpath(root);
    const directory = await opendir(real);
    await directory.close();
    noteWorkspace(real);
    return real;
  } catch (error) {
    const advice = "Choose a folder that exists and that you may read.";
    throw new WorkspaceError("io", `${fromSystem(error, `The folder ${root}`).message} ${advice}`, { cause: error });
  }
}
