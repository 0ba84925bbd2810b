/** Where ripgrep is: in the package that brings it, or on the PATH. */
import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { isInside } from "../files/containment.js";

export interface FindRipgrepOptions {
  /** The PATH variable. */
  readonly path?: string | undefined;
  /** A file or file URL from which `@vscode/ripgrep` is looked for; our own place when not given. */
  readonly packagePath?: string;
  /** Folders whose programs must not be run: a workspace could bring an `rg` of its own. */
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
    // The program is in a package of its own for each platform, which only the first one is sure to see.
    const program = createRequire(createRequire(from).resolve(name)).resolve(platform);
    await access(program, constants.X_OK);
    return program;
  } catch {
    return undefined;
  }
}

async function fromPath({ path = "", avoid = [] }: FindRipgrepOptions): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    try {
      const program = await realpath(join(folder, PROGRAM));
      await access(program, constants.X_OK);
      if (!isInside(program, avoid) && !isInside(folder, avoid)) return program;
    } catch {
      // Not here.
    }
  }
  return undefined;
}
