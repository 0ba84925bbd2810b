/** Images for a prompt: `--image FILE`, and files that are dropped on the terminal. Problems are reported before anything is sent. */
import { constants, open } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { safeLine } from "../base/terminal-text.js";
import { UsageError } from "../base/usage-error.js";
import type { ImageBlock } from "../protocol/content.js";
import { readGivenFile } from "../system/given-file.js";
import { imageType } from "../tools/files/image-type.js";

/** More than any provider accepts. The limit of the model is checked once it is known. */
const MAX_BYTES = 75 * 1024 * 1024;
const NOT_AN_IMAGE = "is not a PNG, JPEG, GIF or WebP image";

export function readImages(files: readonly string[]): Promise<readonly ImageBlock[]> {
  return Promise.all(files.map(readImage));
}

/** Undefined when there is no such file, so that the path stays words; a text says why a file cannot be used. */
export async function readDroppedImage(path: string): Promise<ImageBlock | string | undefined> {
  const file = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const status = await handle.stat();
    if (!status.isFile()) return undefined;
    const name = safeLine(basename(file));
    if (status.size > MAX_BYTES) return `${name} is larger than any model takes. The path stays as text.`;
    const bytes = await handle.readFile();
    const type = imageType(bytes);
    if (type === undefined) return `${name} ${NOT_AN_IMAGE}. The path stays as text.`;
    return { type: "image", media_type: type, data: bytes.toString("base64") };
  } finally {
    await handle.close();
  }
}

async function readImage(file: string): Promise<ImageBlock> {
  const bytes = await readGivenFile(file, { most: MAX_BYTES }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EISDIR") throw new UsageError(`--image: ${file} is not a file.`);
    throw new UsageError(`--image: cannot read ${file}: ${error.message}`);
  });
  if (bytes.length > MAX_BYTES)
    throw new UsageError(`--image: ${file} is larger than any model accepts. Make a smaller copy.`);
  const type = imageType(bytes);
  if (type === undefined) throw new UsageError(`--image: ${file} ${NOT_AN_IMAGE}.`);
  return { type: "image", media_type: type, data: bytes.toString("base64") };
}
