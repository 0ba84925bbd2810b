/**
 * `messages/` of one session: written from the log, read back if the user changed something.
 *
 * 1. The log is the truth about what happened, and an edit does not change it. Once the user has edited, added or deleted a
 *    file, the files are the truth about the conversation, and stay so.
 * 2. A file that the user has changed is never written again, except to delete expired content.
 * 3. New files get a number above the highest one ever used.
 * 4. A file is on the disk before the index names it. After a crash in between, the next pass completes the index.
 */
import type { Clock } from "../../base/clock.js";
import type { Message } from "../../protocol/content.js";
import type { CallId } from "../../protocol/ids.js";
import { StoreError } from "../store.js";
import { conversationOf } from "./edited-conversation.js";
import { digestOf, type EventReader } from "./event-log.js";
import { withoutWords } from "./expired-message.js";
import { errnoOf } from "./file-errors.js";
import { withLock } from "./lock.js";
import { type MessageEntry, messageFileName, renderMessage, withCalls } from "./message-file.js";
import { type FoundFile, MessageFiles, seqOf } from "./message-files.js";
import { type Draft, MESSAGE_KINDS, MessageFold } from "./message-fold.js";
import { type IndexedFile, MessageIndex } from "./message-index.js";
import { WrittenFiles } from "./written-files.js";

/** Each file waits for the disk, and files that wait together wait once. */
const WRITTEN_AT_ONCE = 64;

export interface MessageFolderOptions {
  readonly folder: string;
  readonly index: string;
  readonly lock: string;
  readonly clock: Clock;
  /** The current log of these messages. */
  readonly openLog: () => Promise<{ readonly log: string; readonly reader: EventReader }>;
}

/** The messages of an edited session, up to the end of a turn. */
export interface EditedMessages {
  /** In their order. `at` is the event that the file began with, when we wrote it. */
  readonly files: readonly { readonly entry: MessageEntry; readonly name: string; readonly at?: number }[];
  /** Files that the user has deleted. */
  readonly deleted: readonly IndexedFile[];
}

export class MessageFolder {
  readonly #options: MessageFolderOptions;
  #index: MessageIndex;
  #log: string | undefined;
  #fold = new MessageFold(0);
  #turn: Promise<unknown> = Promise.resolve();
  #scheduled = false;
  readonly #files: MessageFiles;
  readonly #written: WrittenFiles;

  constructor(options: MessageFolderOptions) {
    this.#options = options;
    this.#index = new MessageIndex(options.index);
    const { folder, clock } = options;
    const files = new MessageFiles(folder);
    this.#files = files;
    this.#written = new WrittenFiles({ folder, clock, names: () => files.names(), read: (name) => files.read(name) });
  }

  /** Catches up with the log soon if these events make messages. What fails is tried again with the next event, or with the next read. */
  scheduleFor(events: readonly { readonly kind: string }[]): void {
    if (events.some(({ kind }) => MESSAGE_KINDS.has(kind))) this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#exclusively(async () => {
      // What is written from now on needs another pass.
      this.#scheduled = false;
      await this.#catchUp();
    }).catch(() => {
      this.#scheduled = false;
    });
  }

  async idle(): Promise<void> {
    await this.#turn;
  }

  /** The session is gone; another may take its name. */
  forget(): void {
    this.#log = undefined;
    this.#written.forget();
  }

  async close(): Promise<void> {
    await this.idle();
    this.#written.forget();
  }

  /** The conversation before the open turn, if the user has changed it. */
  async editedConversation(): Promise<readonly Message[] | undefined> {
    return this.#exclusively(async () => {
      if (await this.#isUnwritten()) {
        this.#schedule();
        return undefined;
      }
      await this.#catchUp();
      if (!this.#index.edited) {
        if (await this.#written.areAsWritten(this.#index)) return undefined;
        await this.#index.add({ edited: true });
      }
      await this.#index.readAll();
      const files = await this.#files.readAll();
      const openTurn = this.#fold.openTurn ?? Number.POSITIVE_INFINITY;
      const before = files.filter(({ name }) => (this.#index.named(name)?.at ?? 0) < openTurn);
      return conversationOf(
        before.map((file) => this.#files.parse(file)),
        (event) => this.#firstSeqFrom(event),
      );
    });
  }

  /** A branch begins without files: no file can have been edited, and the first turn need not wait for thousands of them. */
  async #isUnwritten(): Promise<boolean> {
    // Refuses a session that is not there.
    await this.#options.openLog();
    await this.#index.refresh();
    const { done, edited, lost } = this.#index;
    return done === 0 && !edited && !lost && (await this.#files.names()).length === 0;
  }

  /** The number of our first file with this event or a later one. */
  #firstSeqFrom(event: number): number | undefined {
    let first: number | undefined;
    for (const { file, at } of this.#index.files) {
      if (at >= event && (first === undefined || seqOf(file) < first)) first = seqOf(file);
    }
    return first;
  }

  /** The messages as they are up to an event; undefined when no file was edited. */
  async editedUpTo(event: number): Promise<EditedMessages | undefined> {
    return this.#exclusively(async () => {
      await this.#catchUp();
      // A look at the files since the last summary is quick, and those before it count only for a branch before it.
      const isAllOfIt = event >= this.#index.from;
      if (isAllOfIt && !this.#index.edited && (await this.#written.areAsWritten(this.#index))) return undefined;
      await this.#index.readAll();
      const found = await this.#files.readAll();
      if (!this.#index.edited && this.#isUntouched(found)) return undefined;
      const atOf = ({ name }: FoundFile) => this.#index.named(name)?.at;
      // Files that the user added belong to the files before them.
      const end = found.findIndex((file) => (atOf(file) ?? 0) > event);
      const names = new Set(found.map(({ name }) => name));
      return {
        files: (end === -1 ? found : found.slice(0, end)).map((file) => {
          const at = atOf(file);
          return { name: file.name, entry: this.#files.parse(file), ...(at !== undefined && { at }) };
        }),
        deleted: [...this.#index.files].filter(({ file, at }) => at <= event && !names.has(file)),
      };
    });
  }

  /** Begins with the messages of the session that this one is a branch of; `upTo` is the last event of both. */
  async takeOver(
    { files, deleted }: EditedMessages,
    { upTo, callOf }: { readonly upTo: number; readonly callOf: (call: CallId) => CallId },
  ): Promise<void> {
    await this.#exclusively(async () => {
      const texts = files.map(({ entry }) => renderMessage(withCalls(entry, callOf)));
      const written = files.map(({ name, at }, i) => ({ file: name, text: texts[i] as string, at }));
      const known = written.flatMap(({ file, text, at }) =>
        at === undefined ? [] : [{ file, sum: digestOf(text), at }],
      );
      await this.#index.replace([{ edited: true }, ...known, ...deleted, { done: upTo }]);
      for (const { file, text } of written) await this.#files.put(file, text, "create");
    });
  }

  /** Deletes the content of every message up to this event. */
  async expire(event: number): Promise<void> {
    await this.#exclusively(async () => {
      await this.#catchUp();
      await this.#index.readAll();
      const expired = [...this.#index.files].filter(({ at }) => at <= event);
      const last = Math.max(0, ...expired.map(({ file }) => seqOf(file)));
      for (const found of await this.#files.readAll()) if (found.seq <= last) await this.#dropWords(found);
      // An open turn's drafts still hold the words; they are made again from what the log has left.
      this.#log = undefined;
    });
  }

  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const { lock, clock } = this.#options;
    const result = this.#turn.then(() => withLock(lock, { clock }, work));
    this.#turn = result.catch(() => {});
    return result;
  }

  async #catchUp(): Promise<void> {
    const { log, reader } = await this.#options.openLog();
    // A session may be removed and made again under the same name.
    if (log !== this.#log) this.#index = new MessageIndex(this.#options.index);
    const known = this.#index.inode;
    await this.#index.refresh();
    if (this.#index.inode !== known) this.#written.forget();
    if (log !== this.#log || this.#fold.last < this.#index.done) this.#fold = new MessageFold(this.#index.done);
    this.#log = log;
    const fold = this.#fold;
    for await (const event of reader.read({ after: fold.last })) fold.take(event);
    if (fold.changed.size > 0) await this.#writeChanged(fold);
    if (fold.completeTo > this.#index.done) {
      await this.#index.addDone(fold.completeTo, Math.max(fold.from, this.#index.from));
    }
  }

  async #writeChanged(fold: MessageFold): Promise<void> {
    const strange = (await this.#written.strangers(this.#index)).map((file) => ({ file, seq: seqOf(file) }));
    // Those that were deleted count too: their numbers are not given out again.
    let highest = this.#index.highest;
    for (const { seq } of strange) highest = Math.max(highest, seq);
    const fresh: Draft[] = [];
    for (const draft of [...fold.changed.values()].sort((a, b) => a.at - b.at)) {
      const adopted = await this.#adopt(draft, strange);
      // When the index was lost, a missing file of an earlier turn was deleted by the user.
      const wasDeleted = !adopted && this.#index.lost && draft.at <= fold.completeTo;
      if (wasDeleted) await this.#index.add({ edited: true });
      if (adopted || wasDeleted) fold.changed.delete(draft.at);
      else fresh.push(draft);
    }
    for (let from = 0; from < fresh.length; ) {
      const { count, last } = await this.#write(fresh.slice(from, from + WRITTEN_AT_ONCE), highest + 1);
      for (const { at } of fresh.slice(from, from + count)) fold.changed.delete(at);
      from += count;
      highest = last;
    }
  }

  /** Writes new files with consecutive numbers, and says how many came before a number that the user has just taken. */
  async #write(drafts: readonly Draft[], seq: number): Promise<{ readonly count: number; readonly last: number }> {
    const files = drafts.map(({ at, entry }, i) => {
      const numbered = { ...entry, seq: seq + i } as MessageEntry;
      return { file: messageFileName(numbered), text: renderMessage(numbered), at };
    });
    const ends = await Promise.allSettled(files.map(({ file, text }) => this.#files.put(file, text, "create")));
    const failed = ends.findIndex(({ status }) => status === "rejected");
    const count = failed === -1 ? files.length : failed;
    await this.#index.add(...files.slice(0, count).map(({ file, text, at }) => ({ file, sum: digestOf(text), at })));
    const failure = ends[count];
    if (failure?.status !== "rejected") return { count, last: seq + count - 1 };
    // Those behind it get other numbers, so that the order stays.
    const behind = files.filter((_, i) => i > count && ends[i]?.status === "fulfilled");
    for (const { file } of behind) await this.#files.remove(file);
    if (errnoOf(failure.reason) !== "EEXIST") throw failure.reason;
    return { count, last: seq + count };
  }

  /** True when the draft has its file already: one we know, or one that a crash kept from the index. */
  async #adopt(draft: Draft, strange: readonly { readonly file: string; readonly seq: number }[]): Promise<boolean> {
    const { at, entry } = draft;
    const known = this.#index.startingAt(at);
    if (known !== undefined) {
      await this.#rewrite(draft, known);
      return true;
    }
    for (const { file, seq } of strange) {
      const candidate = { ...entry, seq } as MessageEntry;
      if (messageFileName(candidate) !== file || this.#index.named(file) !== undefined) continue;
      const text = renderMessage(candidate);
      if (!this.#files.read(file)?.equals(Buffer.from(text))) continue;
      await this.#index.add({ file, sum: digestOf(text), at });
      return true;
    }
    return false;
  }

  async #rewrite({ at, entry }: Draft, { file, sum }: { readonly file: string; readonly sum: string }): Promise<void> {
    const text = renderMessage({ ...entry, seq: seqOf(file) } as MessageEntry);
    if (digestOf(text) === sum) return;
    const there = this.#files.read(file);
    const now = there && digestOf(there);
    if (now !== sum && now !== digestOf(text)) return;
    if (now === sum) await this.#files.put(file, text, "replace");
    await this.#index.add({ file, sum: digestOf(text), at });
  }

  #isUntouched(files: readonly FoundFile[]): boolean {
    return (
      files.length === [...this.#index.files].length &&
      files.every(({ name, bytes }) => this.#index.named(name)?.sum === digestOf(bytes))
    );
  }

  async #dropWords(found: FoundFile): Promise<void> {
    const { name, seq, bytes } = found;
    const known = this.#index.named(name);
    let entry: MessageEntry | undefined;
    try {
      entry = this.#files.parse(found);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
    const text = withoutWords(entry, seq);
    if (bytes.equals(Buffer.from(text))) return;
    await this.#files.put(name, text, "replace");
    // A file that the user has changed stays marked in the index.
    if (known?.sum === digestOf(bytes)) await this.#index.add({ ...known, sum: digestOf(text) });
  }
}
