/** Files whose front matter may have hooks: skills, agent types and slash commands. */
import { basename, dirname, relative } from "node:path";
import type { ExtensionFile } from "../../../base/extension-files.js";

type Located = Pick<ExtensionFile, "path" | "name" | "source" | "plugin">;

export function isFrontMatter({ path }: { readonly path: string }): boolean {
  return path.endsWith(".md");
}

export function isOfSkill(file: Located): boolean {
  return basename(file.path) === "SKILL.md" && !isOfCommand(file);
}

/** By its folder: `commands` of a source and what is below it. */
export function isOfCommand({ path, name, source }: Located): boolean {
  const folder = path.slice(0, -name.length);
  return COMMAND_FOLDERS.includes(relative(source, folder));
}

const COMMAND_FOLDERS = ["commands", "templates"];

/** For messages: `skill careful`, `agent guarded`, `command /git:fix`. */
export function bearerOf(file: Located): string | undefined {
  if (!isFrontMatter(file)) return undefined;
  const { path, name, plugin } = file;
  const space = plugin === undefined ? "" : `${plugin}:`;
  if (isOfCommand(file)) return `command /${space}${name.replace(/\.md$/i, "").replaceAll("/", ":")}`;
  return isOfSkill(file) ? `skill ${space}${basename(dirname(path))}` : `agent ${space}${basename(path, ".md")}`;
}
