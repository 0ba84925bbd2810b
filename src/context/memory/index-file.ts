/**
 * MEMORY.md: one line for each memory of its folder.
 *
 * 1. A line `- [NAME](FILE.md) …` belongs to its file. Every other line belongs to the person who wrote it and stays.
 * 2. The line of a file that cannot be read stays as it is, so that nothing disappears from the index by a typing mistake.
 */
import type { MemoryEntry } from "./entry.js";

export const INDEX_NAME = "MEMORY.md";
const HEADING = "# Memory\n";
const LINE = /^\s*[-*]\s+\[[^\]]*\]\((?:\.\/)?([^)/]+\.md)\)/;

export interface IndexedFiles {
  readonly entries: readonly Pick<MemoryEntry, "name" | "description">[];
  /** Names of files that cannot be read. */
  readonly unreadable: readonly string[];
}

/** The index as it should be; `before` is empty for a new one. */
export function updatedIndex(before: string, { entries, unreadable }: IndexedFiles): string {
  const wanted = new Map(entries.map((entry) => [`${entry.name}.md`, lineOf(entry)]));
  const kept = new Set(unreadable);
  const lines: string[] = [];
  for (const line of (before === "" ? HEADING : before.replace(/\r\n?/g, "\n")).replace(/\n+$/, "").split("\n")) {
    const file = fileIn(line);
    if (file === undefined || kept.delete(file)) lines.push(line);
    else if (wanted.has(file)) {
      lines.push(wanted.get(file) as string);
      wanted.delete(file);
    }
  }
  const added = [...wanted.values(), ...[...kept].map((file) => `- [${file.replace(/\.md$/, "")}](${encoded(file)})`)];
  if (added.length > 0 && lines.at(-1)?.trim() !== "" && !LINE.test(lines.at(-1) ?? "")) lines.push("");
  return `${[...lines, ...added].join("\n").replace(/\n+$/, "")}\n`;
}

function lineOf({ name, description }: Pick<MemoryEntry, "name" | "description">): string {
  return `- [${name}](${encoded(`${name}.md`)}) — ${description}`;
}

function encoded(file: string): string {
  return file.replace(/[ ()%]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

function fileIn(line: string): string | undefined {
  const target = LINE.exec(line)?.[1];
  if (target === undefined) return undefined;
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}
