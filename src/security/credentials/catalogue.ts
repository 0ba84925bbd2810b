/**
 * Describes what is known about the stored credentials without their key: the first line of `creds.enc`. Every start of the engine reads it, so
 * this module loads no other code.
 */
import { readFileSync } from "node:fs";
import { CredentialError } from "./credential-error.js";

export const FORMAT = "oxbow-credentials";
export const FORMAT_VERSION = 1;
/** Far more than any user has. */
const MAX_BYTES = 4 * 1024 * 1024;

export type KeyOrigin = "machine-key" | "passphrase" | "keychain" | "key-file";

export interface CatalogueEntry {
  readonly provider: string;
  readonly account: string;
  readonly kind: "api_key" | "oauth";
  /** The only address it is sent to. */
  readonly baseUrl: string;
  readonly addedAt: number;
  /** Says who signed in, where that is known. */
  readonly identity?: string;
}

export interface Catalogue {
  /** Says what kind of key opens the file, with enough of a trace of it to know a wrong one. */
  readonly key: { readonly from: KeyOrigin; readonly check: string };
  readonly entries: readonly CatalogueEntry[];
}

/** Undefined when nothing is stored. */
export function readCatalogue(path: string): Catalogue | undefined {
  const text = readCredentialText(path);
  return text === undefined ? undefined : parseCatalogue(firstLine(text), path);
}

export function readCredentialText(path: string): string | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CredentialError("unavailable", `Oxbow cannot read ${path}: ${(error as Error).message}.`, {
      cause: error,
    });
  }
  if (bytes.length > MAX_BYTES) throw damaged(path);
  return bytes.toString("latin1");
}

export function firstLine(text: string): string {
  const end = text.indexOf("\n");
  return end < 0 ? text : text.slice(0, end);
}

/** The line is one byte a character, as it was read. */
export function parseCatalogue(line: string, path: string): Catalogue {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(line, "latin1").toString("utf8"));
  } catch {
    throw damaged(path);
  }
  const header = (typeof value === "object" && value !== null ? value : {}) as Partial<Catalogue> & {
    readonly format?: unknown;
    readonly version?: unknown;
  };
  if (header.format !== FORMAT || typeof header.version !== "number") throw damaged(path);
  if (header.version > FORMAT_VERSION) {
    throw new CredentialError("newer", `${path} was written by a newer Oxbow. Upgrade, or move the file away.`);
  }
  const { key, entries } = header;
  if (!isKey(key) || !Array.isArray(entries) || !entries.every(isEntry)) throw damaged(path);
  return { key, entries };
}

export function damaged(path: string): CredentialError {
  return new CredentialError(
    "damaged",
    `${path} is damaged. Restore it from a backup, or remove it and store the keys again with 'oxbow auth set'.`,
  );
}

const ORIGINS: readonly unknown[] = ["machine-key", "passphrase", "keychain", "key-file"] satisfies KeyOrigin[];

function isKey(value: unknown): value is Catalogue["key"] {
  const { from, check } = (value ?? {}) as Partial<Catalogue["key"]>;
  return ORIGINS.includes(from) && typeof check === "string";
}

function isEntry(value: unknown): value is CatalogueEntry {
  const { provider, account, kind, baseUrl, addedAt } = (value ?? {}) as Partial<CatalogueEntry>;
  const named = [provider, account, baseUrl].every((text) => typeof text === "string" && text !== "");
  return named && (kind === "api_key" || kind === "oauth") && typeof addedAt === "number";
}
