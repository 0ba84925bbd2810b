/** The key that signs tokens. It stays in the state folder, which tools and commands of the model cannot read. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readPrivateFile, writePrivateFile } from "./private-file.js";

const KEY_BYTES = 32;

export async function openSigningKey(stateFolder: string): Promise<Uint8Array> {
  const path = join(stateFolder, "control.key");
  let text = await readPrivateFile(path);
  if (text === undefined) {
    await writePrivateFile(path, `${randomBytes(KEY_BYTES).toString("hex")}\n`, { when: "create" });
    // Of several processes that start at once, one has made it.
    text = await readPrivateFile(path);
  }
  const hex = text?.trim() ?? "";
  if (/^[0-9a-f]{64}$/.test(hex)) return Buffer.from(hex, "hex");
  throw new Error(`${path} does not hold a key of 64 hexadecimal digits. Remove it; all tokens then become invalid.`);
}
