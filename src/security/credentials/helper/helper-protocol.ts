/**
 * Describes how an engine and the credential helper find and understand each other. HTTP/1.1 over a Unix socket:
 *
 * 1. Every request carries the token of `helper.json`. With `x-oxbow-credential: PROVIDER/ACCOUNT` it is forwarded: its method, path
 *    and body go to the address that belongs to the credential. Without, it is for the helper itself: GET /status, GET /watch
 *    (a byte every few seconds for as long as the helper lives), POST /retire, POST /keys (a JSON array of keys from the environment of a
 *    client, which the helper keeps in its memory until it ends). With `x-oxbow-refused` the provider has just said 401
 *    to the same request: tokens that look valid are still renewed.
 * 2. The helper never sends a secret, and no request can get one.
 * 3. Errors of the helper itself about a forwarded request have the header `x-oxbow-helper-error`; every other answer is the provider's.
 * 4. A connection belongs to the credential of its first request.
 * 5. The folder is private to the user, and `helper.json` names the helper that is to be used. It appears complete.
 */
import { randomBytes } from "node:crypto";
import { linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CredentialError } from "../credential-error.js";
import type { EntryName } from "../credential-file.js";

/** Helpers and engines of different numbers do not see each other. */
export const PROTOCOL = 1;
export const TOKEN_HEADER = "x-oxbow-helper";
export const CREDENTIAL_HEADER = "x-oxbow-credential";
export const REFUSED_HEADER = "x-oxbow-refused";
export const ERROR_HEADER = "x-oxbow-helper-error";
export const BEAT_MS = 5000;

export interface HelperEndpoint {
  readonly version: string;
  readonly pid: number;
  /** With the pid it names one process; 0 if the system does not report it. */
  readonly startTime: number;
  readonly socket: string;
  readonly token: string;
}

/** The helper's error for a request that it did not or could not forward. */
export interface HelperProblem {
  readonly code: string;
  readonly message: string;
  /** The operating system's name, where there is one. */
  readonly cause?: string;
  /** The message is shown to the user. */
  readonly isWorded?: true;
}

export function endpointPath(folder: string): string {
  return join(folder, `helper-${PROTOCOL}.json`);
}

/** Undefined when there is none, or none that could be one. */
export function readEndpoint(folder: string): HelperEndpoint | undefined {
  return readNote(endpointPath(folder));
}

/**
 * Removes the note of a helper that is gone, and no other: between a look at the note and its removal another helper may have put its own
 * there. So the note is first moved aside, and put back if it is another one.
 */
export function removeNote(folder: string, token: string | undefined): void {
  const aside = join(folder, `${randomBytes(6).toString("hex")}.old`);
  try {
    renameSync(endpointPath(folder), aside);
  } catch {
    return;
  }
  try {
    if (readNote(aside)?.token !== token) linkSync(aside, endpointPath(folder));
  } catch {
    // A newer note has come.
  }
  rmSync(aside, { force: true });
}

function readNote(path: string): HelperEndpoint | undefined {
  try {
    const endpoint = JSON.parse(readFileSync(path, "utf8")) as Partial<HelperEndpoint>;
    const { version, pid, startTime, socket, token } = endpoint;
    const texts = [version, socket, token].every((text) => typeof text === "string" && text !== "");
    return texts && typeof pid === "number" && typeof startTime === "number" ? (endpoint as HelperEndpoint) : undefined;
  } catch {
    return undefined;
  }
}

/** Makes the folder, or throws when it is not the user's alone. */
export function privateFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    const own = process.getuid === undefined || found.uid === process.getuid();
    if (found.isDirectory() && own && (process.platform === "win32" || (found.mode & 0o077) === 0)) return folder;
  } catch (error) {
    throw new CredentialError("unavailable", `Oxbow cannot use ${folder}: ${(error as Error).message}.`);
  }
  throw new CredentialError("unavailable", `${folder} must be your own folder with mode 700.`);
}

export function credentialName({ provider, account }: EntryName): string {
  return `${encodeURIComponent(provider)}/${encodeURIComponent(account)}`;
}

export function parseCredentialName(text: string): EntryName | undefined {
  const [provider = "", account = "", ...rest] = text.split("/");
  if (provider === "" || account === "" || rest.length > 0) return undefined;
  try {
    return { provider: decodeURIComponent(provider), account: decodeURIComponent(account) };
  } catch {
    return undefined;
  }
}
