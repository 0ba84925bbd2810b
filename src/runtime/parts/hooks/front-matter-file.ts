/** Files whose front matter may have hooks: skills and agent types. */
import { basename } from "node:path";

export function isFrontMatter({ path }: { readonly path: string }): boolean {
  return path.endsWith(".md");
}

export function isOfSkill({ path }: { readonly path: string }): boolean {
  return basename(path) === "SKILL.md";
}
