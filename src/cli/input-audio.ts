/** Audio for a prompt: `--audio FILE`. Problems are reported before anything is sent. */
import { UsageError } from "../base/usage-error.js";
import type { AudioBlock } from "../protocol/content.js";
import { readGivenFile } from "../system/given-file.js";

/** More than any provider accepts. The limit of the model is checked once it is known. */
const MAX_BYTES = 75 * 1024 * 1024;

export function readAudio(files: readonly string[]): Promise<readonly AudioBlock[]> {
  return Promise.all(files.map(readOne));
}

async function readOne(file: string): Promise<AudioBlock> {
  const bytes = await readGivenFile(file, { most: MAX_BYTES }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EISDIR") throw new UsageError(`--audio: ${file} is not a file.`);
    throw new UsageError(`--audio: cannot read ${file}: ${error.message}`);
  });
  if (bytes.length > MAX_BYTES)
    throw new UsageError(`--audio: ${file} is larger than any model accepts. Send a shorter piece.`);
  const type = audioType(bytes);
  if (type === undefined) throw new UsageError(`--audio: ${file} is not a WAV, MP3, AIFF, AAC, OGG, FLAC or M4A file.`);
  return { type: "audio", media_type: type, data: bytes.toString("base64") };
}

/** Detected from the first bytes, because names may be wrong. */
export function audioType(head: Buffer): string | undefined {
  const starts = (bytes: string, at = 0) => head.toString("latin1", at, at + bytes.length) === bytes;
  if (starts("RIFF") && starts("WAVE", 8)) return "audio/wav";
  if (starts("FORM") && (starts("AIFF", 8) || starts("AIFC", 8))) return "audio/aiff";
  if (starts("OggS")) return "audio/ogg";
  if (starts("fLaC")) return "audio/flac";
  if (starts("ftyp", 4)) return "audio/mp4";
  if (starts("ID3")) return "audio/mpeg";
  const [first = 0, second = 0] = head;
  if (first !== 0xff) return undefined;
  // Frames of AAC have the layer 0, those of MP3 the layer 3, in the same place.
  if ((second & 0xf6) === 0xf0) return "audio/aac";
  return (second & 0xe6) === 0xe2 ? "audio/mpeg" : undefined;
}
