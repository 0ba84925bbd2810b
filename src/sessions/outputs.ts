/**
 * The long outputs of commands, in one folder for each session (`output/sess_…/command-….log`). They are deleted with their
 * session's content. Their total size has a limit: the oldest are deleted first.
 */
import { readdir, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createIdSource } from "../base/ulid.js";
import { isId, type SessionId } from "../protocol/ids.js";
import type { SessionRecord } from "./store.js";

interface OutputFile {
  readonly path: string;
  readonly bytes: number;
  readonly changedAt: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

export async function removeOutputs(folder: string, session: SessionId): Promise<void> {
  if (isId("sess", session)) await rm(join(folder, session), { recursive: true, force: true });
}

/** Empty for an existing session without outputs. */
export async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {});
}

/** Deletes the oldest files until all together have at most `limit` bytes; the newest stays in any case. */
export async function trimOutputs(folder: string, limit: number): Promise<void> {
  const files = (await outputFiles(folder)).sort((a, b) => b.changedAt - a.changedAt);
  let sum = 0;
  for (const [index, { path, bytes }] of files.entries()) {
    sum += bytes;
    if (sum > limit && index > 0) await rm(path, { force: true });
  }
}

export interface SweepOptions {
  readonly now: number;
  /** Of the content of sessions. */
  readonly days: number;
  /** The session as the store has it. */
  find(session: SessionId): Promise<SessionRecord | undefined>;
  /** Says whether a session is deleted, not in another store. */
  readonly knowsAll: boolean;
}

/** Deletes outputs of deleted sessions, of sessions that have lost their content, and those older than content may be. */
export async function sweepOutputs(folder: string, options: SweepOptions): Promise<void> {
  const { now, days, find, knowsAll } = options;
  const aDayAgo = createIdSource({ wall: () => now - DAY_MS, random: (bytes) => bytes.fill(0) }).next("sess");
  for (const name of await namesIn(folder)) {
    if (!isId("sess", name)) continue;
    const record = await find(name as SessionId);
    // A session that has just begun has a folder before the store knows it.
    const isGone =
      record === undefined ? knowsAll && name < aDayAgo : !record.pinned && record.expired_to >= record.last_event;
    if (isGone) await removeOutputs(folder, name as SessionId);
    else if (record?.pinned !== true) await removeOlder(join(folder, name), now - days * DAY_MS);
  }
}

async function removeOlder(folder: string, before: number): Promise<void> {
  for (const { path, changedAt } of await filesIn(folder)) if (changedAt < before) await rm(path, { force: true });
}

async function outputFiles(folder: string): Promise<OutputFile[]> {
  const folders = [folder, ...(await namesIn(folder)).map((name) => join(folder, name))];
  return (await Promise.all(folders.map(filesIn))).flat();
}

async function filesIn(folder: string): Promise<readonly OutputFile[]> {
  const files: OutputFile[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) files.push({ path, bytes: found.size, changedAt: found.mtimeMs });
  }
  return files;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}
