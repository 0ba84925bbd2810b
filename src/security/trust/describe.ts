/** One file, or the entries of one file, as items. */
import { realpathSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { isWithin } from "../../system/within.js";
import type { ContentItem, ContentKind, Owner, UnusableContent } from "./content.js";
import { entriesOf } from "./entries.js";
import { type FileContent, type ReadOptions, readContent, sha256, sizeLimit, type Unreadable } from "./read-content.js";

export interface Place {
  /** Without links. */
  readonly root: string;
  /** Below the root, with forward slashes. */
  readonly path: string;
  readonly kind: ContentKind;
  readonly owner: Owner;
}

export interface LocatedFile {
  readonly real: string;
  readonly isLink: boolean;
}

/** Finds where a path really leads, when content may come from there. */
function locate({ root, path, owner }: Omit<Place, "kind">): LocatedFile | Unreadable {
  const plain = join(root, path);
  let real: string;
  try {
    real = realpathSync.native(plain);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ELOOP") return { problem: "points to itself" };
    return { problem: code === "ENOENT" ? "points to a missing file" : `cannot be read (${code})` };
  }
  const problem = misplaced(real, { root, owner });
  return problem === undefined ? { real, isLink: real !== plain } : { problem };
}

/** A user may keep configuration elsewhere and link to it. A link out of a project may target another user's files. */
export function misplaced(real: string, { root, owner }: Pick<Place, "root" | "owner">): string | undefined {
  if (owner === "user") return undefined;
  if (!isWithin(real, root)) return `leads out of the folder, to ${real}`;
  // Addresses with passwords are in there.
  const leadsToGit = relative(root, real).split(sep).includes(".git");
  return leadsToGit ? `leads into ${relative(root, real)}` : undefined;
}

export function readPlace(place: Place, options: Partial<ReadOptions>): (FileContent & LocatedFile) | Unreadable {
  const located = locate(place);
  if ("problem" in located) return located;
  const content = readContent(located.real, { limit: sizeLimit(place.kind), keep: sizeLimit(place.kind), ...options });
  return "problem" in content ? content : { ...content, ...located };
}

/** Scripts of a skill are started by their interpreter as often as by their mode. */
const SCRIPT =
  /\.(?:sh|bash|zsh|fish|ps1|psm1|bat|cmd|py|rb|pl|php|lua|js|cjs|mjs|jsx|ts|cts|mts|tsx|jar|exe|dll|so|dylib|wasm)$/i;

/** A script in a folder of programs is one, too: the sandbox keeps a model from setting the executable bit of what it wrote there. */
const PROGRAM_KINDS: ReadonlySet<ContentKind> = new Set(["hook", "tool", "command"]);

function isProgram({ kind, path }: Place, { isScript }: FileContent): boolean {
  return kind === "skill-file" ? SCRIPT.test(path) : PROGRAM_KINDS.has(kind) && isScript;
}

/** `budget`: how many bytes may still be hashed. */
export function describeFile(place: Place, budget = Number.POSITIVE_INFINITY): ContentItem | UnusableContent {
  return described(place, readPlace(place, { limit: Math.min(sizeLimit(place.kind), budget), keep: 0 }));
}

/** The same for a text, with the text. */
export function describeText(place: Place, budget: number) {
  const read = readPlace(place, { limit: Math.min(sizeLimit(place.kind), budget) });
  return { item: described(place, read), text: "bytes" in read ? String(read.bytes) : "" };
}

function described(place: Place, read: ReturnType<typeof readPlace>): ContentItem | UnusableContent {
  if ("problem" in read) return { ...place, problem: read.problem };
  return {
    ...place,
    executable: read.executable || isProgram(place, read),
    sha256: read.sha256,
    size: read.size,
    ...(read.isLink && { target: read.real }),
  };
}

/** Lists what the user approves with a session folder. Its content changes with every turn, so the approval is for its use. */
export const STORE_TERMS = [
  "Oxbow would store the sessions of this project here, as plain files:",
  "what you type, what the model answers and what its tools read, not encrypted,",
  "readable for everyone with access to this folder, and to the repository if you commit it.",
  "Without your approval, sessions go to your own encrypted database.",
  "",
].join("\n");

const EVERYBODY_MAY_WRITE = 0o002;

export function describeStore(place: Place): ContentItem | UnusableContent {
  const problem = storeProblem(place);
  if (problem !== undefined) return { ...place, problem };
  return { ...place, executable: false, sha256: sha256(STORE_TERMS), size: Buffer.byteLength(STORE_TERMS) };
}

/** Another user with write access could plant a session for Oxbow to resume. */
function storeProblem(place: Place): string | undefined {
  const located = locate(place);
  if ("problem" in located) return located.problem;
  if (located.isLink) return `is a link, or lies behind one (${located.real})`;
  const uid = process.getuid?.();
  for (const folder of [located.real, dirname(located.real)]) {
    const stat = statSync(folder);
    if (!stat.isDirectory()) return "is not a folder";
    if (uid === undefined) continue;
    if (stat.uid !== uid) return "belongs to another user";
    if ((stat.mode & EVERYBODY_MAY_WRITE) !== 0) return "is writable by everyone";
  }
  return undefined;
}

/** The file's entries; an item each, and none for the file. */
export async function describeEntries(place: Place): Promise<readonly (ContentItem | UnusableContent)[]> {
  const read = readPlace(place, {});
  if ("problem" in read) return [{ ...place, problem: read.problem }];
  const entries = await entriesOf(place.path, String(read.bytes));
  if (entries === undefined) {
    return [{ ...place, problem: `is not valid ${place.path.endsWith(".json") ? "JSON" : "TOML"}` }];
  }
  return entries.map(({ name, kind, canonical }) => ({
    ...place,
    entry: name,
    kind,
    executable: false,
    sha256: sha256(canonical),
    size: Buffer.byteLength(canonical),
    ...(read.isLink && { target: read.real }),
  }));
}
