/**
 * A token from a file, for CI and for servers without a terminal: JSON with the token and its claims. The file is made elsewhere, so the
 * token needs no signature of this machine: it is a secret of at least 32 characters, and the claims beside it say what it allows.
 */
import { open } from "node:fs/promises";
import { isJsonObject } from "../../protocol/json.js";
import { readClaims, type TokenClaims } from "./claims.js";

export interface FileToken {
  readonly token: string;
  readonly claims: TokenClaims;
}

const LEAST_CHARACTERS = 32;
const MOST_BYTES = 64 * 1024;

/** Undefined if there is no such file. Throws with a sentence for the user if it cannot be used. */
export async function readTokenFile(path: string): Promise<FileToken | undefined> {
  const text = await readStrict(path);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${path} is not JSON. 'oxbow token file' makes such a file.`);
  }
  if (!isJsonObject(value) || typeof value.token !== "string") throw new Error(`${path} has no "token".`);
  const { token, ...rest } = value;
  if (token.length < LEAST_CHARACTERS) {
    throw new Error(`The token in ${path} is too short: it needs at least ${LEAST_CHARACTERS} random characters.`);
  }
  const read = readClaims(rest);
  if ("problem" in read) throw new Error(`Oxbow cannot use the token in ${path}: ${read.problem}.`);
  return { token, claims: read.claims };
}

async function readStrict(path: string): Promise<string | undefined> {
  const handle = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Error(`Oxbow cannot read ${path}: ${error.code ?? error.message}.`);
  });
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error(`${path} is not a file.`);
    const mode = stats.mode & 0o7777;
    if (mode !== 0o400) {
      const shown = mode.toString(8).padStart(4, "0");
      throw new Error(`${path} has mode ${shown}. A token file must have mode 0400: chmod 0400 ${path}`);
    }
    const user = process.getuid?.();
    if (user !== undefined && stats.uid !== user) throw new Error(`${path} belongs to another user.`);
    if (stats.size > MOST_BYTES) throw new Error(`${path} is too large for a token file.`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}
