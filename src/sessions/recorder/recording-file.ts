/**
 * The file of a recording.
 *
 * 1. An existing file is opened only for appending, and only when it begins with the marker or is empty.
 * 2. Its turns are the lines `### Turn N`; turn-markdown.ts writes no other line like that.
 */
import { constants, type FileHandle, open, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";

export const MARKER = "<!-- oxbow recording 1 -->";
const TURN = /^### Turn (\d+)$/;
/** A transcript may hold what only its owner should read. */
const MODE = 0o600;
const MAX_NAMES = 100;

/** The recording did not start; the message says what to do. */
export class RecordingRefused extends Error {
  override readonly name = "RecordingRefused";
}

export interface Opened {
  readonly file: string;
  readonly handle: FileHandle;
  readonly isNew: boolean;
}

/** A file that was not there: `stem.md`, or `stem-2.md` … when that is taken. */
export async function createNew(stem: string): Promise<Opened> {
  for (let attempt = 1; ; attempt++) {
    const file = attempt === 1 ? `${stem}.md` : `${stem}-${attempt}.md`;
    try {
      return { file, handle: await open(file, "wx", MODE), isNew: true };
    } catch (error) {
      if (codeOf(error) !== "EEXIST" || attempt === MAX_NAMES) throw asRefusal(error, file);
    }
  }
}

export async function openOrCreate(file: string): Promise<Opened> {
  try {
    return { file, handle: await open(file, "wx", MODE), isNew: true };
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw asRefusal(error, file);
  }
  try {
    // Must not block on a pipe; its kind is checked next.
    const flags = constants.O_RDWR | constants.O_APPEND | (constants.O_NONBLOCK ?? 0);
    return { file, handle: await open(file, flags), isNew: false };
  } catch (error) {
    throw asRefusal(error, file);
  }
}

/** Tells whether a file is a recording that can be continued, and at which turn. */
export async function examine(file: string, handle: FileHandle): Promise<{ lastTurn: number; isEmpty: boolean }> {
  const status = await handle.stat();
  if (!status.isFile()) throw new RecordingRefused(`${file} is not an ordinary file. Choose another name.`);
  if (status.size === 0) return { lastTurn: 0, isEmpty: true };
  const start = Buffer.alloc(MARKER.length);
  await handle.read(start, 0, start.length, 0);
  if (start.toString("latin1") !== MARKER) {
    throw new RecordingRefused(
      `${file} exists and is not a recording, so it is left alone. Choose another name, or move it away.`,
    );
  }
  let lastTurn = 0;
  for await (const line of handle.readLines({ autoClose: false, start: 0 })) {
    const turn = Number(TURN.exec(line)?.[1] ?? 0);
    if (turn > lastTurn) lastTurn = turn;
  }
  return { lastTurn, isEmpty: false };
}

/** To the disk; and makes sure that the disk still has it under its name, because an open file can be removed unnoticed. */
export async function flush(file: string, handle: FileHandle): Promise<void> {
  await handle.sync();
  const [ours, named] = await Promise.all([handle.stat(), stat(file)]);
  if (ours.ino !== named.ino || ours.dev !== named.dev) throw new Error("another file has replaced it.");
}

export function asRefusal(error: unknown, file: string): RecordingRefused {
  if (error instanceof RecordingRefused) return error;
  const message =
    codeOf(error) === "ENOENT"
      ? `There is no folder ${dirname(file)} for ${basename(file)}. Make it first, or choose another.`
      : `Oxbow cannot write ${file}: ${reason(error)}`;
  return new RecordingRefused(message, { cause: error });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full.",
  EDQUOT: "your disk quota is used up.",
  EFBIG: "the file has reached the largest size that is allowed.",
  ENOENT: "the file, or its folder, was removed.",
  EACCES: "you may not write there.",
  EPERM: "you may not write there.",
  EROFS: "the disk is read-only.",
  EISDIR: "it is a folder.",
};

export function reason(error: unknown): string {
  return REASONS[codeOf(error) ?? ""] ?? (error instanceof Error ? error.message : String(error));
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
