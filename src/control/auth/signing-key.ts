/** The key that signs tokens. It stays in the state folder, which tools and commands of the model cannot read. */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { withLock } from "../../system/file-lock.js";
import { readPrivateFile, writePrivateFile } from "./private-file.js";

const KEY_BYTES = 32;

/** A key that others could read is replaced: they could have made tokens with it. All tokens then become invalid. */
export async function openSigningKey(stateFolder: string, clock: Clock): Promise<Uint8Array> {
  const path = join(stateFolder, "control.key");
  let found = await readPrivateFile(path);
  if (found?.isPrivate === false) {
    // Of several processes that start at once, one replaces it.
    await withLock(`${path}.lock`, { clock }, async () => {
      if ((await readPrivateFile(path))?.isPrivate === false) await rm(path, { force: true });
    });
    found = undefined;
  }
  if (found === undefined) {
    await writePrivateFile(path, `${randomBytes(KEY_BYTES).toString("hex")}\n`, { when: "create" });
    // Of several processes that start at once, one has made it.
    found = await readPrivateFile(path);
  }
  const hex = found?.text.trim() ?? "";
  if (/^[0-9a-f]{64}$/.test(hex)) return Buffer.from(hex, "hex");
  throw new Error(`${path} does not hold a key of 64 hexadecimal digits. Remove it; all tokens then become invalid.`);
}
