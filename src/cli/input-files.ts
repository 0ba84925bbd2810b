/**
 * Describes where the terminal client keeps what a person typed: the history of all folders, and drafts that were not sent. Only the person can
 * read them.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../system/atomic-file.js";
import { isAlive, ownIdentity, type ProcessIdentity } from "../system/process-identity.js";

const PRIVATE = 0o600;
/** Oxbow deletes older drafts. */
const MOST_AGE_MS = 30 * 24 * 3_600_000;

export interface HistoryFile {
  read(): Promise<string>;
  append(line: string): Promise<void>;
  replace(text: string): Promise<void>;
}

export interface DraftFile {
  take(): Promise<string | undefined>;
  write(text: string): Promise<void>;
  remove(): Promise<void>;
}

/** `state`: the user's folder for state. */
export function historyFile(state: string): HistoryFile {
  const folder = join(state, "input");
  const path = join(folder, "history.jsonl");
  return {
    read: async () => (await readOrNothing(path)) ?? "",
    append: async (line) => {
      await makeFolder(folder);
      const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
      const handle = await open(path, flags, PRIVATE);
      try {
        await handle.chmod(PRIVATE);
        await handle.appendFile(line);
      } finally {
        await handle.close();
      }
    },
    replace: async (text) => {
      await makeFolder(folder);
      await writeFileAtomic(path, text, { mode: PRIVATE });
    },
  };
}

export interface DraftFileOptions {
  readonly state: string;
  /** The folder that the person works in. */
  readonly workspace: string;
  readonly process?: ProcessIdentity;
  readonly isAlive?: (process: ProcessIdentity) => boolean;
}

/** Each process has its own file, so that two clients in one folder do not mix their drafts. */
export function draftFile({
  state,
  workspace,
  process = ownIdentity(),
  isAlive: alive = isAlive,
}: DraftFileOptions): DraftFile {
  const folder = join(state, "input", "drafts");
  const mark = createHash("sha256").update(workspace).digest("hex").slice(0, 16);
  const own = join(folder, `${mark}-${process.pid}-${process.startTime}.json`);
  return {
    take: async () => {
      const left = (await leftDrafts(folder)).filter(({ owner }) => !alive(owner));
      for (const { path, at } of left) if (Date.now() - at > MOST_AGE_MS) await rm(path, { force: true });
      const newest = left.filter((draft) => draft.mark === mark).sort((a, b) => b.at - a.at)[0];
      if (newest === undefined) return undefined;
      // This process takes the draft over. If it crashes too, the draft is still there.
      await rename(newest.path, own);
      return readOrNothing(own);
    },
    write: async (text) => {
      await makeFolder(folder);
      await writeFileAtomic(own, text, { mode: PRIVATE });
    },
    remove: () => rm(own, { force: true }),
  };
}

interface LeftDraft {
  readonly path: string;
  readonly mark: string;
  readonly owner: ProcessIdentity;
  readonly at: number;
}

async function leftDrafts(folder: string): Promise<readonly LeftDraft[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const [, mark, pid, startTime] = /^([0-9a-f]{16})-(\d+)-(\d+)\.json$/.exec(name) ?? [];
      if (mark === undefined) return [];
      const path = join(folder, name);
      const status = await stat(path).catch(() => undefined);
      return status === undefined
        ? []
        : [{ path, mark, owner: { pid: Number(pid), startTime: Number(startTime) }, at: status.mtimeMs }];
    }),
  );
  return found.flat();
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

async function readOrNothing(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}
