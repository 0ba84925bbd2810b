/** `--image FILE`: images for a prompt. Problems are reported before anything is sent. */
import { open } from "node:fs/promises";
import { UsageError } from "../base/usage-error.js";
import type { ImageBlock } from "../protocol/content.js";
import { imageType } from "../tools/files/image-type.js";

/** More than any provider accepts. The limit of the model is checked once it is known. */
const MAX_BYTES = 75 * 1024 * 1024;
const NOT_AN_IMAGE = "is not a PNG, JPEG, GIF or WebP image";

export function readImages(files: readonly string[]): Promise<readonly ImageBlock[]> {
  return Promise.all(files.map(readImage));
}

async function readImage(file: string): Promise<ImageBlock> {
  const handle = await open(file).catch((error: Error) => {
    throw new UsageError(`--image: cannot read ${file}: ${error.message}`);
  });
  try {
    const status = await handle.stat();
    if (!status.isFile()) throw new UsageError(`--image: ${file} is not a file.`);
    if (status.size > MAX_BYTES)
      throw new UsageError(`--image: ${file} is larger than any model accepts. Make a smaller copy.`);
    const bytes = await handle.readFile();
    const type = imageType(bytes);
    if (type === undefined) throw new UsageError(`--image: ${file} ${NOT_AN_IMAGE}.`);
    return { type: "image", media_type: type, data: bytes.toString("base64") };
  } finally {
    await handle.close();
  }
}
