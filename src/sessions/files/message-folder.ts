/**
 * `messages/` of one session: written from the log, read back if the user changed something.
 *
 * 1. The log is the truth about what happened, and an edit does not change it. Once the user has edited, added or deleted a
 *    file, the files are the truth about the conversation, and stay so.
 * 2. A file that the user has changed is never written again, except to delete expired content.
 * 3. New files get a number above the highest one ever used.
 * 4. A file is on the disk before the index names it. After a crash in between, the next pass completes the index.
 */
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { Message } from "../../protocol/content.js";
import { StoreError } from "../store.js";
import { digestOf } from "./chain.js";
import { conversationOf } from "./edited-conversation.js";
import type { EventReader } from "./event-log.js";
import { withoutWords } from "./expired-message.js";
import { errnoOf } from "./file-errors.js";
import { withLock } from "./lock.js";
import { type MessageEntry, messageFileName, renderMessage } from "./message-file.js";
import { type FoundFile, MessageFiles, seqOf } from "./message-files.js";
import { type Draft, MESSAGE_KINDS, MessageFold } from "./message-fold.js";
import { type IndexedFile, MessageIndex } from "./message-index.js";
import { WrittenFiles } from "./written-files.js";

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
    if (this.#scheduled || !events.some(({ kind }) => MESSAGE_KINDS.has(kind))) return;
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

  /** Replaces the messages that the log makes with those of another session with the same events. */
  async takeOver({ files, deleted }: EditedMessages): Promise<void> {
    await this.#exclusively(async () => {
      await this.#catchUp();
      const written = files.map(({ name, entry, at }) => ({ file: name, text: renderMessage(entry), at }));
      const known = written.flatMap(({ file, text, at }) =>
        at === undefined ? [] : [{ file, sum: digestOf(text), at }],
      );
      await this.#index.replace([{ edited: true }, ...known, ...deleted, { done: this.#fold.completeTo }]);
      for (const name of await this.#files.names()) await unlink(join(this.#options.folder, name));
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
    for (const draft of [...fold.changed.values()].sort((a, b) => a.at - b.at)) {
      const adopted = await this.#adopt(draft, strange);
      // When the index was lost, a missing file of an earlier turn was deleted by the user.
      if (!adopted && this.#index.lost && draft.at <= fold.completeTo) await this.#index.add({ edited: true });
      else if (!adopted) highest = await this.#write(draft, highest + 1);
      fold.changed.delete(draft.at);
    }
  }

  /** Returns its number: the first free one from `seq` on. */
  async #write(draft: Draft, seq: number): Promise<number> {
    const entry = { ...draft.entry, seq } as MessageEntry;
    const text = renderMessage(entry);
    const file = messageFileName(entry);
    try {
      await this.#files.put(file, text, "create");
    } catch (error) {
      // The user was faster.
      if (errnoOf(error) === "EEXIST") return this.#write(draft, seq + 1);
      throw error;
    }
    await this.#index.add({ file, sum: digestOf(text), at: draft.at });
    return seq;
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
