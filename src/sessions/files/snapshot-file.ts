/**
 * `snapshot.json` of one session: its conversation up to an event, so that a resume need not read every line of the log.
 *
 * 1. A first line ties the content, which is the second one, to an event of the log, and tells whether either was changed.
 * 2. It is a copy. If anything is wrong with it, the log is read, and the next snapshot takes its place.
 * 3. It is deleted when the content of an event expires.
 *
 * A caller that keeps or discards holds the session's lock.
 */
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { snapshotMisfits } from "../log-rules.js";
import { SNAPSHOT_FORM, type Snapshot, StoreError } from "../store.js";
import { digestOf } from "./event-log.js";
import { guarded, ifThere } from "./file-errors.js";
import type { OpenedLog } from "./open-session.js";

/** Earlier versions kept the messages of whole turns in the first, and the length of the log in the second. */
const EARLIER = ["condensed.jsonl", "events.head"];

export class SnapshotFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async read(log: OpenedLog): Promise<Snapshot | undefined> {
    const file = await guarded(this.#path, () => ifThere(() => readFile(this.#path, "utf8")));
    const [tie, content = ""] = file?.split("\n") ?? [];
    if (tie === undefined || tie !== (await tieOf(log, content, Number(/^\{"event":(\d{1,15}),/.exec(tie)?.[1])))) {
      return undefined;
    }
    return JSON.parse(content) as Snapshot;
  }

  async keep(log: OpenedLog, snapshot: Snapshot): Promise<void> {
    const { from, to } = snapshot;
    const content = JSON.stringify(snapshot);
    const tie = from < log.expired_to || to <= from ? undefined : await tieOf(log, content, to);
    if (tie === undefined) throw snapshotMisfits(to);
    await this.discard();
    await guarded(this.#path, () => writeFileAtomic(this.#path, `${tie}\n${content}\n`, { mode: 0o600 }));
  }

  async discard(): Promise<void> {
    for (const path of [this.#path, ...EARLIER.map((name) => join(dirname(this.#path), name))]) {
      await guarded(path, () => rm(path, { force: true }));
    }
  }
}

/** The first line for a content; undefined if the log does not reach the event, or is damaged: its reader reports that. */
async function tieOf({ reader, log, expired_to }: OpenedLog, content: string, event: number) {
  if (!Number.isSafeInteger(event)) return undefined;
  try {
    const link = await reader.linkAt(event);
    const text = `${SNAPSHOT_FORM} ${log} ${link} ${expired_to} ${content}`;
    return link && JSON.stringify({ event, sum: digestOf(text) });
  } catch (error) {
    if (error instanceof StoreError && error.code === "damaged") return undefined;
    throw error;
  }
}
