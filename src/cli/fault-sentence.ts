/** Common failures of the machine, in a sentence that says what to do. */
import { resolve, sep } from "node:path";
import type { Variables } from "../base/variables.js";

/** On a read-only disk, making folders fails with ENOENT. */
const NOT_WRITABLE = /\b(?:EACCES|EPERM|EROFS|ENOTDIR|ENOENT)\b/;

export async function faultSentence(error: unknown, variables: Variables): Promise<string> {
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, message, path } = error as NodeJS.ErrnoException;
  if (syscall === "uv_cwd" || /\buv_cwd\b/.test(message)) {
    return "The working directory does not exist or cannot be read. Change to another one, or give one with --cwd.";
  }
  if (code === "EMFILE" || code === "ENFILE") {
    return "Too many files are open. Raise the limit ('ulimit -n 1024'), or close other programs.";
  }
  return NOT_WRITABLE.test(message) ? ((await ownFoldersProblem(variables, path)) ?? message) : message;
}

/** Folders of Oxbow that cannot be written are the usual cause, unless the error names a file elsewhere. */
async function ownFoldersProblem(variables: Variables, path: string | undefined): Promise<string | undefined> {
  const [{ homeProblem }, { roots }] = await Promise.all([
    import("../system/home-folder.js"),
    import("../system/xdg-paths.js"),
  ]);
  const folders = Object.values(roots(variables));
  const isElsewhere = (at: string) => folders.every((folder) => !isBelow(at, folder) && !isBelow(folder, at));
  return path !== undefined && isElsewhere(resolve(path)) ? undefined : homeProblem(folders);
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}
