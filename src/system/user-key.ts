/**
 * The key of an encrypted file of the user (the session database, the credentials): `OXBOW_MACHINE_KEY`, else a passphrase, else the
 * keychain if the user chose it or it answers for a new key, else a key file.
 *
 * 1. A key file is never replaced. It appears atomically, complete and on the disk, so if several processes start at once, one makes
 *    it and the others read it.
 * 2. Oxbow makes no new key for an existing file: that key could not open it, and would hide that the right key is lost.
 * 3. Where no keychain answers, the key file takes its place, unless a file is there that only the keychain's key can open.
 * 4. By default a new key goes into the keychain, and a key file that is there stays: no one is asked to unlock anything for it.
 * 5. No message contains a key or a part of one.
 */
import { randomBytes, scrypt } from "node:crypto";
import { chmod, link, mkdir, open, readFile, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KeyError } from "./key-error.js";
import type { KeychainOptions } from "./keychain.js";
import { syncFolder } from "./sync-folder.js";

/** Describes what a key is for. */
export interface Keyhole {
  /** The key file is NAME.key, the passphrase's salt NAME.salt, the keychain's entry oxbow-NAME. */
  readonly name: string;
  /** The encrypted file. */
  readonly path: string;
  /** The name for people: "database". */
  readonly noun: string;
  /** The setting that chooses between keychain and file. */
  readonly setting: string;
}

export interface KeyOptions {
  /** The data folder, where the key file and the passphrase's salt are. */
  readonly folder: string;
  readonly keyhole: Keyhole;
  readonly machineKey?: string | undefined;
  readonly passphrase?: string | undefined;
  /** Keep it in the operating system's keychain instead of a file; `new`: only if there is no key file. */
  readonly keychain?: Pick<KeychainOptions, "path" | "platform" | "avoid"> & { readonly when?: "new" | "always" };
}

export interface ResolvedKey {
  readonly key: Uint8Array;
  readonly from: "machine-key" | "passphrase" | "keychain" | "key-file";
  /** The key file. */
  readonly path?: string;
  /** The reason why the key is not in the keychain. */
  readonly instead?: string;
  /** A key file that the keychain's key was copied from. */
  readonly leftover?: string;
  /** The place of a new key, for one message to the user. */
  readonly created?: string;
}

const KEY_BYTES = 32;
const SHORT_MS = 5_000;
/** About half a second and 128 MB; an existing salt file has its own cost. */
const SCRYPT_COST = 2 ** 17;
const SCRYPT_COSTS: ReadonlySet<unknown> = new Set([2 ** 15, 2 ** 16, SCRYPT_COST, 2 ** 18, 2 ** 19, 2 ** 20]);
const SCRYPT_BLOCK = 8;

export async function resolveKey(options: KeyOptions): Promise<ResolvedKey> {
  const { machineKey, passphrase } = options;
  // `OXBOW_PASSPHRASE= oxbow` sets an empty variable, which counts as not set.
  if (machineKey) return { key: parseMachineKey(machineKey), from: "machine-key" };
  if (passphrase) return { key: await passphraseKey(passphrase, options), from: "passphrase" };
  const { keychain } = options;
  const usesFile = keychain?.when === "new" && (await readPrivate(keyFile(options))) !== undefined;
  if (keychain === undefined || usesFile) return fileKey(options);
  try {
    return await keychainKey(options, keychain);
  } catch (error) {
    if (!(error instanceof KeyError) || error.code !== "unavailable") throw error;
    const isKept = (await readPrivate(keyFile(options))) !== undefined;
    const { path, noun } = options.keyhole;
    if (!isKept && (await hasContent(path))) {
      const advice = `The key of the ${noun} is only there: unlock the keychain, or run Oxbow where it answers.`;
      throw new KeyError(error.code, `${error.message} ${advice}`, { cause: error });
    }
    return { ...(await fileKey(options)), instead: error.message };
  }
}

function keyFile({ folder, keyhole }: KeyOptions): string {
  return join(folder, `${keyhole.name}.key`);
}

async function fileKey(options: KeyOptions): Promise<ResolvedKey> {
  const path = keyFile(options);
  const { text, created } = await readOrMake(path, options, () => `${randomBytes(KEY_BYTES).toString("hex")}\n`);
  const hex = text.trim();
  if (!isHex(hex)) throw new KeyError("wrong-key", `${path} does not hold a key of 64 hexadecimal digits.`);
  return { key: Buffer.from(hex, "hex"), from: "key-file", path, ...(created ? { created: path } : {}) };
}

/** An existing key file is copied, and comes before another entry of the keychain, which did not answer then: the file decrypts the existing data. */
async function keychainKey(options: KeyOptions, place: NonNullable<KeyOptions["keychain"]>): Promise<ResolvedKey> {
  const { openKeychain } = await import("./keychain.js");
  const { name, setting } = options.keyhole;
  // A user who did not ask for the keychain does not wait for one that cannot be unlocked here.
  const patience = place.when === "new" && !(await hasContent(options.keyhole.path)) ? { patienceMs: SHORT_MS } : {};
  const keychain = await openKeychain({ ...place, ...patience, name, setting, account: options.folder });
  const found = await keychain.read();
  const path = keyFile(options);
  const earlier = (await readPrivate(path))?.trim();
  if (found !== undefined && (earlier === undefined || earlier === found)) {
    if (!isHex(found)) throw new KeyError("wrong-key", `The keychain's entry oxbow-${name} does not hold a key.`);
    return { key: Buffer.from(found, "hex"), from: "keychain", ...(earlier !== undefined && { leftover: path }) };
  }
  if (earlier === undefined && (await hasContent(options.keyhole.path)))
    throw keyIsGone("The keychain's entry", options);
  const hex = earlier ?? randomBytes(KEY_BYTES).toString("hex");
  await keychain.write(hex);
  if ((await keychain.read()) !== hex)
    throw new KeyError(
      "unavailable",
      `The keychain took the key, but does not give it back. Unlock the keychain, or set ${setting} = "file".`,
    );
  const copied = earlier !== undefined;
  const created = copied ? `in the keychain now, a copy of ${path}` : "in the keychain";
  return { key: Buffer.from(hex, "hex"), from: "keychain", created, ...(copied && { leftover: path }) };
}

/** 32 bytes: as 64 hexadecimal digits, as base64 (also base64url, also without padding), or as they are. */
export function parseMachineKey(value: string): Uint8Array {
  if (isHex(value)) return Buffer.from(value, "hex");
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(value)) return Buffer.from(value, "base64");
  const raw = Buffer.from(value, "utf8");
  // Bytes that are not UTF-8 do not survive an environment variable; they arrive as U+FFFD.
  if (raw.length === KEY_BYTES && !value.includes("\ufffd")) return raw;
  throw new KeyError(
    "invalid",
    "OXBOW_MACHINE_KEY must be 32 bytes: 64 hexadecimal digits, base64, or 32 characters. 'openssl rand -hex 32' makes one.",
  );
}

function isHex(value: string): boolean {
  return /^[0-9a-f]{64}$/i.test(value);
}

async function passphraseKey(passphrase: string, options: KeyOptions): Promise<Uint8Array> {
  const path = join(options.folder, `${options.keyhole.name}.salt`);
  const make = () => `${JSON.stringify({ kdf: "scrypt", cost: SCRYPT_COST, salt: randomBytes(32).toString("hex") })}\n`;
  const { cost, salt } = parseSalt(path, (await readOrMake(path, options, make)).text);
  const maxmem = 2 * 128 * SCRYPT_BLOCK * cost;
  return new Promise((resolve, reject) => {
    // The same passphrase typed on another keyboard may be composed differently.
    scrypt(passphrase.normalize("NFC"), salt, KEY_BYTES, { N: cost, r: SCRYPT_BLOCK, p: 1, maxmem }, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

function parseSalt(path: string, text: string): { readonly cost: number; readonly salt: Buffer } {
  try {
    const { kdf, cost, salt } = JSON.parse(text) as Record<string, unknown>;
    if (kdf === "scrypt" && SCRYPT_COSTS.has(cost) && typeof salt === "string" && isHex(salt)) {
      return { cost: cost as number, salt: Buffer.from(salt, "hex") };
    }
  } catch {
    // The check below reports it.
  }
  throw new KeyError(
    "wrong-key",
    `${path} is not a salt file of Oxbow. Restore the right one: the passphrase needs it.`,
  );
}

async function readOrMake(
  path: string,
  options: KeyOptions,
  make: () => string,
): Promise<{ readonly text: string; readonly created: boolean }> {
  const found = await readPrivate(path);
  if (found !== undefined) return { text: found, created: false };
  if (await hasContent(options.keyhole.path)) {
    // Another process may have made both since we looked; the key always comes first.
    const late = await readPrivate(path);
    if (late !== undefined) return { text: late, created: false };
    throw keyIsGone(path, options);
  }
  const text = make();
  const created = await createPrivate(path, text);
  return { text: created ? text : ((await readPrivate(path)) ?? ""), created };
}

function keyIsGone(what: string, { keyhole: { path, noun } }: KeyOptions): KeyError {
  return new KeyError(
    "wrong-key",
    `${what} is missing, and Oxbow cannot read ${path} without it. Restore it, or set the OXBOW_MACHINE_KEY or ` +
      `OXBOW_PASSPHRASE that the ${noun} was made with, or move the ${noun} away to start a new one.`,
  );
}

async function readPrivate(path: string): Promise<string | undefined> {
  try {
    // A copy or a restore may have widened the mode; on file systems without modes this changes nothing.
    if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600).catch(() => {});
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new KeyError("unavailable", `Oxbow cannot read the key: ${(error as Error).message}.`, { cause: error });
  }
}

async function hasContent(path: string): Promise<boolean> {
  return stat(path).then(
    ({ size }) => size > 0,
    () => false,
  );
}

/** False if another process was first. The mode is 0600 from the first byte on, which system/atomic-file does not guarantee. */
async function createPrivate(path: string, text: string): Promise<boolean> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeAndSync(temporary, text);
    try {
      return await putInPlace(temporary, path, text);
    } finally {
      await unlink(temporary).catch(() => {});
    }
  } catch (error) {
    const reason = (error as Error).message;
    const advice = "If you cannot write there, set OXBOW_HOME to a folder where you can.";
    throw new KeyError("unavailable", `Oxbow cannot create a key: ${reason}. ${advice}`, { cause: error });
  }
}

async function putInPlace(temporary: string, path: string, text: string): Promise<boolean> {
  try {
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    // A file system without hard links: the name first, the content a moment later.
    const made = await writeAndSync(path, text).catch((failure: NodeJS.ErrnoException) => failure);
    if (made !== undefined && made.code === "EEXIST") return false;
    if (made !== undefined) throw made;
  }
  await syncFolder(dirname(path));
  return true;
}

async function writeAndSync(path: string, text: string): Promise<undefined> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
