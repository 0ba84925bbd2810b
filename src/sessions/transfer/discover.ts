/** Finds the transcripts that other programs left on this machine, reading only the beginning of each. */
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { plainText } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { readClaudeCode } from "./claude-code.js";
import { readCodex } from "./codex.js";
import { titleOf } from "./fields.js";
import { parseLine, type SourceLine } from "./lines.js";
import { ImportNotes } from "./notes.js";

export interface ForeignSessionFile {
  readonly path: string;
  readonly kind: "claude-code" | "codex";
  readonly cwd?: string;
  readonly started?: string;
  /** The time when the file was last written. */
  readonly active: string;
  readonly title?: string;
}

export interface DiscoverOptions {
  readonly home: string;
  /** The place where the programs keep their files, when that is not the usual folder in `home`. */
  readonly claudeFolder?: string;
  readonly codexFolder?: string;
}

/** The first lines may hold long instructions, and the first input comes after them: a short look first, then a longer one. */
const HEAD_BYTES = [32 * 1024, 256 * 1024];
const AT_ONCE = 8;
/** Years, months and days of Codex, and one level more. */
const DEPTH = 4;

/** The most recently written first. */
export async function findForeignSessions(options: DiscoverOptions): Promise<readonly ForeignSessionFile[]> {
  const claude = join(options.claudeFolder ?? join(options.home, ".claude"), "projects");
  const codex = options.codexFolder ?? join(options.home, ".codex");
  const files = [
    // Files of sub-agents begin with "agent-": their results are in the session that began them.
    ...(await filesIn(claude, 1, /^(?!agent-).*\.jsonl$/)).map((path) => ({ path, kind: "claude-code" as const })),
    ...(await filesIn(join(codex, "sessions"), DEPTH, ROLLOUT)).map((path) => ({ path, kind: "codex" as const })),
    ...(await filesIn(join(codex, "archived_sessions"), DEPTH, ROLLOUT)).map((path) => ({
      path,
      kind: "codex" as const,
    })),
  ];
  const found: ForeignSessionFile[] = [];
  for (let from = 0; from < files.length; from += AT_ONCE) {
    const batch = await Promise.all(files.slice(from, from + AT_ONCE).map(describeFile));
    for (const file of batch) if (file !== undefined) found.push(file);
  }
  return found.sort((a, b) => (a.active < b.active ? 1 : a.active > b.active ? -1 : a.path < b.path ? -1 : 1));
}

const ROLLOUT = /^rollout-.*\.jsonl(?:\.zst)?$/;

/** A folder that is not there or may not be read has no files. */
async function filesIn(folder: string, depth: number, name: RegExp): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && name.test(entry.name));
  const folders = depth === 0 ? [] : entries.filter((entry) => entry.isDirectory());
  const below = await Promise.all(folders.map((entry) => filesIn(join(folder, entry.name), depth - 1, name)));
  return [...files.map((entry) => join(folder, entry.name)), ...below.flat()];
}

interface Candidate {
  readonly path: string;
  readonly kind: ForeignSessionFile["kind"];
}

/** Undefined if it is empty or missing. */
async function describeFile({ path, kind }: Candidate): Promise<ForeignSessionFile | undefined> {
  // Unpacking every old one only to show its title would take too long.
  if (path.endsWith(".zst")) {
    const found = await stat(path).catch(() => undefined);
    return found && { path, kind, active: found.mtime.toISOString() };
  }
  const read = kind === "codex" ? readCodex : readClaudeCode;
  let file: ForeignSessionFile | undefined;
  for (const bytes of HEAD_BYTES) {
    const head = await readHead(path, bytes).catch(() => undefined);
    if (head === undefined) return undefined;
    const session = await read(linesOf(head.values), new ImportNotes());
    const { cwd, startedAt } = session;
    const first = session.turns.find(({ input }) => plainText(input) !== "");
    const title = titleOf(session.title ?? plainText(first?.input ?? []));
    file = {
      path,
      kind,
      active: head.active,
      ...(cwd !== undefined && { cwd }),
      ...(startedAt !== undefined && { started: startedAt }),
      ...(title !== undefined && { title }),
    };
    if (session.turns.length > 0) return file;
    if (head.isWhole) return undefined;
  }
  return file;
}

async function readHead(path: string, bytes: number) {
  const { size, mtime } = await stat(path);
  const file = await open(path);
  try {
    const buffer = Buffer.alloc(Math.min(size, bytes));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    const lines = buffer.toString("utf8", 0, bytesRead).split("\n");
    // The last line of a part of a file is cut.
    if (bytesRead < size) lines.pop();
    const values = lines.map(parseLine).filter((value): value is JsonObject => typeof value === "object");
    return { values, isWhole: bytesRead === size, active: mtime.toISOString() };
  } finally {
    await file.close();
  }
}

async function* linesOf(values: readonly JsonObject[]): AsyncGenerator<SourceLine> {
  for (const [index, value] of values.entries()) yield { number: index + 1, value };
}
