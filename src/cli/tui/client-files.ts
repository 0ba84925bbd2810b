/** The files that the terminal client reads and saves for the user. */
import { constants, mkdirSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Variables } from "../../base/variables.js";
import type { ClientFiles, FoundText } from "../../clients/tui/options.js";
import { roots } from "../../system/xdg-paths.js";

/** A longer file is not shown as a whole. */
const MOST_BYTES = 2 * 1024 * 1024;
const MOST_NAME = 60;
const MOST_COPIES = 1000;

export function clientFiles(variables: Variables): ClientFiles {
  const { state } = roots(variables);
  return {
    urlOf: (path, folder) => fileUrl(resolve(folder, path), variables),
    read: readText,
    save: (name, text) => saveNew(join(state, "reviews"), name, text),
  };
}

/** Editors with an address of their own. Other programs open what the desktop opens. */
const EDITORS: Readonly<Record<string, string>> = {
  code: "vscode",
  "code-insiders": "vscode-insiders",
  codium: "vscodium",
  cursor: "cursor",
  windsurf: "windsurf",
  zed: "zed",
};

/** The name of the machine keeps a terminal on another one from opening a file of its own. */
function fileUrl(path: string, { VISUAL, EDITOR }: Variables): string {
  const [program = ""] = (VISUAL || EDITOR || "").trim().split(/\s+/);
  const scheme = EDITORS[basename(program)];
  const url = pathToFileURL(path);
  if (scheme !== undefined) return `${scheme}://file${url.pathname}`;
  url.hostname = hostname();
  return url.href;
}

async function readText(path: string, folder: string): Promise<FoundText> {
  try {
    // A pipe must not block.
    const handle = await open(resolve(folder, path), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const about = await handle.stat();
      if (!about.isFile() || about.size > MOST_BYTES) return { exists: true };
      const bytes = await handle.readFile();
      return bytes.includes(0) ? { exists: true } : { exists: true, content: bytes.toString("utf8") };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { exists: (error as NodeJS.ErrnoException).code !== "ENOENT" };
  }
}

/** Never replaces a file: a second one with the same name gets a number. Only the user can read it. */
function saveNew(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const safe =
    name
      .replaceAll(/[^\p{L}\p{N}._-]/gu, "_")
      .replace(/^\.+/, "_")
      .slice(-MOST_NAME) || "review";
  for (let copy = 1; copy < MOST_COPIES; copy++) {
    const path = join(folder, copy === 1 ? safe : `${copy}-${safe}`);
    try {
      writeFileSync(path, text, { flag: "wx", mode: 0o600 });
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  throw new Error(`${folder} is full. Delete files that you do not need.`);
}
