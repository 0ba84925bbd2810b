/**
 * One memory: a Markdown file with front matter.
 *
 * 1. A file that people wrote is read as far as it has a sensible reading: without front matter, its name and first line describe it.
 * 2. A file with broken front matter is a problem with a message. It is neither used nor changed.
 * 3. Fields that Oxbow does not know stay when it writes the file again.
 */
import { isYamlMap, lineOf, readFrontMatter, wordsOf } from "../../base/front-matter.js";
import type { YamlMap, YamlValue } from "../../base/yaml.js";

export const MEMORY_TYPES = ["user", "feedback", "project", "reference"] as const;
export type MemoryType = (typeof MEMORY_TYPES)[number];

/** `user`: in every folder. `project`: in one. `shared`: in the repository, read only. */
export type MemoryScope = "user" | "project" | "shared";

export interface MemoryFacts {
  readonly name: string;
  /** One line. */
  readonly description: string;
  readonly type: MemoryType;
  readonly tags: readonly string[];
  /** Times as ISO texts. */
  readonly created: string;
  readonly updated: string;
  /** Its origin: a session and turn, or a person. */
  readonly source?: string;
  readonly body: string;
}

export interface MemoryEntry extends MemoryFacts {
  readonly scope: MemoryScope;
  readonly path: string;
  /** Lines of front matter that Oxbow does not know, as they are written. */
  readonly other: readonly string[];
}

export interface MemoryProblem {
  readonly path: string;
  /** A sentence without its full stop. */
  readonly message: string;
}

export interface MemoryFile {
  readonly text: string;
  /** The name of the file without `.md`. */
  readonly stem: string;
  readonly path: string;
  readonly scope: MemoryScope;
  /** The time when it was last changed, for a file that does not say; milliseconds since the epoch. */
  readonly changedAt: number;
}

const DESCRIPTION_CHARS = 200;
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "type",
  "tags",
  "created",
  "updated",
  "source",
]);

export function readEntry(file: MemoryFile): MemoryEntry | MemoryProblem {
  const { path, stem, scope } = file;
  const found = readFrontMatter(file.text);
  if ("fault" in found) return { path, message: found.message };
  const { fields } = found;
  const body = found.body.trim();
  const typed = typeOf(fields);
  if (typed !== undefined && !isMemoryType(typed)) {
    return { path, message: `type: expected ${MEMORY_TYPES.join(", ")}, got "${typed}"` };
  }
  const changed = new Date(file.changedAt).toISOString();
  const updated = timeOf(fields, "updated") ?? timeOf(fields, "created") ?? changed;
  for (const name of ["created", "updated"] as const) {
    if (fields.has(name) && timeOf(fields, name) === undefined)
      return { path, message: `${name}: expected a date such as 2026-01-31` };
  }
  const description = lineOf(fields, "description") ?? firstLine(body) ?? lineOf(fields, "name");
  if (description === undefined) return { path, message: "The memory is empty" };
  return {
    // The name of the file is the name, so that no two entries of a folder have the same.
    name: stem,
    description: cutLine(description),
    type: typed ?? (scope === "user" ? "user" : "project"),
    tags: wordsOf(fields, "tags"),
    created: timeOf(fields, "created") ?? updated,
    updated,
    ...(lineOf(fields, "source") !== undefined && { source: lineOf(fields, "source") as string }),
    body,
    scope,
    path,
    other: found.state === "read" ? unknownLines(file.text) : [],
  };
}

export function writeEntry(facts: MemoryFacts, other: readonly string[] = []): string {
  const lines = [
    `name: ${scalar(facts.name)}`,
    `description: ${scalar(facts.description)}`,
    `type: ${facts.type}`,
    ...(facts.tags.length === 0 ? [] : [`tags: [${facts.tags.map(scalar).join(", ")}]`]),
    `created: ${facts.created}`,
    `updated: ${facts.updated}`,
    ...(facts.source === undefined ? [] : [`source: ${scalar(facts.source)}`]),
    ...other,
  ];
  return `---\n${lines.join("\n")}\n---\n\n${facts.body.trim()}\n`;
}

export function isMemoryType(text: string): text is MemoryType {
  return (MEMORY_TYPES as readonly string[]).includes(text);
}

/** A name for a file, from any words: `Prefers tabs!` gives `prefers-tabs`. Undefined when nothing is left. */
export function nameFrom(words: string): string | undefined {
  const name = words
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  const short = [...name].slice(0, NAME_CHARS).join("").replace(/-+$/, "");
  if (short === "") return undefined;
  // Of the index and of names that some systems reserve.
  return /^(?:memory|con|prn|aux|nul|com\d|lpt\d)$/.test(short) ? `${short}-note` : short;
}

const NAME_CHARS = 60;

export function cutLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > DESCRIPTION_CHARS ? `${line.slice(0, DESCRIPTION_CHARS - 1)}…` : line;
}

function firstLine(body: string): string | undefined {
  const line = body.split("\n").find((each) => each.trim() !== "");
  return line?.replace(/^#+\s*/, "").trim() || undefined;
}

/** Other tools write it below `metadata`. */
function typeOf(fields: YamlMap): string | undefined {
  const metadata = fields.get("metadata");
  return lineOf(fields, "type") ?? (isYamlMap(metadata) ? lineOf(metadata, "type") : undefined);
}

function timeOf(fields: YamlMap, name: string): string | undefined {
  const value: YamlValue | undefined = fields.get(name);
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** The fields that are not ours with the lines that belong to them. */
function unknownLines(text: string): readonly string[] {
  const lines = text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .split("\n");
  const from = lines.findIndex((line) => /^\s*---[ \t]*$/.test(line));
  const to = lines.findIndex((line, at) => at > from && /^---[ \t]*$/.test(line));
  let isOurs = false;
  return lines.slice(from + 1, to).filter((line) => {
    const field = /^([A-Za-z_][\w-]*)\s*:/.exec(line)?.[1];
    if (field !== undefined) isOurs = OWN_FIELDS.has(field);
    return !isOurs && line.trim() !== "";
  });
}

/** Quoted, unless it is plain words. */
function scalar(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  const isPlain =
    /^[\p{L}\p{N}][\p{L}\p{N} _.,/()-]*$/u.test(line) && !/^(?:true|false|yes|no|on|off|null|~|[\d.e+-]+)$/i.test(line);
  return isPlain ? line : JSON.stringify(line);
}
