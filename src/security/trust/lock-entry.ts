/**
 * One decision, as a line of JSON.
 *
 * 1. Every line carries the version of the format. A line of a later version stops the reader: it may take an approval back.
 * 2. Unknown fields are kept.
 */
import { type ChangeClass, isChangeClass } from "./change-class.js";
import { type ContentKind, isContentKind } from "./content.js";
import { TrustError } from "./trust-error.js";

const VERSION = 1;

export interface LockEntry {
  /** The folder the decision is for. A portable lock has none: its decisions are for the project it is used in. */
  readonly root?: string;
  readonly path: string;
  readonly entry?: string;
  readonly kind: ContentKind;
  readonly decision: "approved" | "refused";
  readonly sha256: string;
  readonly size: number;
  readonly executable: boolean;
  /** Holds what the person was asked about. */
  readonly class: ChangeClass;
  readonly at: string;
  readonly by: string;
  /** The hashes of the program files that an entry starts, by path: absolute, or below the root. */
  readonly pins?: Readonly<Record<string, string>>;
}

export function formatEntry(entry: LockEntry): string {
  const { root, path, entry: part, kind, decision, sha256, size, executable, class: change, at, by, pins } = entry;
  return JSON.stringify({
    v: VERSION,
    root,
    path,
    entry: part,
    kind,
    decision,
    sha256,
    size,
    executable,
    class: change,
    at,
    by,
    pins,
  });
}

/** Says whether approved programs of a project run without a flag. The last one about a project counts. */
export interface ProgramsEntry {
  readonly root: string;
  readonly programs: "run" | "ask";
  readonly at: string;
  readonly by: string;
}

export function formatPrograms({ root, programs, at, by }: ProgramsEntry): string {
  return JSON.stringify({ v: VERSION, root, programs, at, by });
}

/** Undefined for any other line. */
export function parsePrograms(line: string): ProgramsEntry | undefined {
  if (!line.includes('"programs"')) return undefined;
  try {
    const { v, root, programs, at, by } = JSON.parse(line) as Record<string, unknown>;
    if (v !== VERSION || typeof root !== "string" || typeof at !== "string" || typeof by !== "string") return undefined;
    return programs === "run" || programs === "ask" ? { root, programs, at, by } : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined when the line is damaged. */
export function parseEntry(line: string, file: string): LockEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { v, ...rest } = value as Record<string, unknown>;
  if (typeof v === "number" && v > VERSION) {
    throw new TrustError(`${file} was written by a later version of Oxbow. Use that version, or move the file away.`);
  }
  return v === VERSION && isEntry(rest) ? rest : undefined;
}

function isEntry(value: Record<string, unknown>): value is Record<string, unknown> & LockEntry {
  const { root, path, entry, kind, decision, sha256, size, executable, class: change, at, by, pins } = value;
  return (
    (root === undefined || typeof root === "string") &&
    typeof path === "string" &&
    (entry === undefined || typeof entry === "string") &&
    isContentKind(kind) &&
    (decision === "approved" || decision === "refused") &&
    typeof sha256 === "string" &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    Number.isSafeInteger(size) &&
    typeof executable === "boolean" &&
    isChangeClass(change) &&
    typeof at === "string" &&
    typeof by === "string" &&
    (pins === undefined || isPins(pins))
  );
}

function isPins(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((hash) => typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash));
}
