/** Describes where ripgrep is: in its package, or on the PATH. */
import { delimiter, isAbsolute, join } from "node:path";
import { liesIn, projectFolders } from "../../system/project-folders.js";
import { executable } from "../files/lookups.js";

export interface FindRipgrepOptions {
  /** The PATH variable. */
  readonly path?: string | undefined;
  /** A file or file URL from which to resolve `@vscode/ripgrep`; default: this module. */
  readonly packagePath?: string;
  /** Folders whose programs must not be run: a workspace could contain its own `rg`. */
  readonly avoid?: readonly string[];
}

const PROGRAM = process.platform === "win32" ? "rg.exe" : "rg";

export async function findRipgrep(options: FindRipgrepOptions): Promise<string | undefined> {
  return (await fromPackage(options.packagePath ?? import.meta.url)) ?? fromPath(options);
}

async function fromPackage(from: string): Promise<string | undefined> {
  const { createRequire } = await import("node:module");
  const name = "@vscode/ripgrep";
  const platform = `${name}-${process.platform}-${process.arch}/bin/${PROGRAM}`;
  try {
    // The program is in a package for each platform, and only the main package can reliably resolve it.
    return await executable(createRequire(createRequire(from).resolve(name)).resolve(platform));
  } catch {
    return undefined;
  }
}

async function fromPath({ path = "", avoid = [] }: FindRipgrepOptions): Promise<string | undefined> {
  const folders = avoid.flatMap(projectFolders);
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const program = await executable(join(folder, PROGRAM));
    if (program !== undefined && !liesIn(program, folders)) return program;
  }
  return undefined;
}
