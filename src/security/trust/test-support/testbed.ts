/** A project and a user's folders on the disk, and a person who answers as told. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ApprovedLock, type Approver } from "../approved-lock.js";
import type { Conversation } from "../ask-pending.js";
import type { ContentItem, FoundContent } from "../content.js";
import { nameOf } from "../content.js";
import { type DiscoverOptions, discoverContent } from "../discover.js";
import { reviewContent } from "../review.js";

export const ALICE: Approver = { identity: "human", name: "alice" };
export const LOOK = { width: 100, color: false } as const;
export const NOW = () => new Date("2030-01-02T03:04:05.000Z");

export class Testbed {
  readonly base: string;
  readonly folder: string;
  readonly config: string;
  readonly outside: string;

  constructor() {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-trust-")));
    this.folder = join(this.base, "project");
    this.config = join(this.base, "home", "config");
    this.outside = join(this.base, "outside");
    for (const path of [this.folder, this.config, this.outside]) mkdirSync(path, { recursive: true });
    mkdirSync(join(this.folder, ".git"));
  }

  /** Below the project unless the path is absolute. */
  put(path: string, text: string | Uint8Array, mode = 0o644): string {
    const full = path.startsWith("/") ? path : join(this.folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    chmodSync(full, mode);
    return full;
  }

  program(path: string, text = "#!/bin/sh\nexit 0\n"): string {
    return this.put(path, text, 0o755);
  }

  link(target: string, path: string): void {
    const full = path.startsWith("/") ? path : join(this.folder, path);
    mkdirSync(dirname(full), { recursive: true });
    symlinkSync(target, full);
  }

  get home() {
    return { config: this.config };
  }

  get options() {
    return { folder: this.folder, home: this.home, ...LOOK, now: NOW, by: ALICE };
  }

  lock(portable?: string): ApprovedLock {
    return new ApprovedLock({
      file: join(this.config, "approved.lock"),
      contents: join(this.base, "home", "data", "approved"),
      ...(portable !== undefined && { portable: { file: portable, root: this.folder } }),
    });
  }

  find(more: Pick<DiscoverOptions, "extra"> = {}): Promise<FoundContent> {
    return discoverContent({ folder: this.folder, home: this.home, ...more });
  }

  async item(name: string): Promise<ContentItem> {
    const found = (await this.find()).items.find((item) => nameOf(item) === name);
    if (found === undefined) throw new Error(`${name} was not found`);
    return found;
  }

  /** Approves everything that is there now. */
  async approveAll(more: Pick<DiscoverOptions, "extra"> = {}): Promise<void> {
    const lock = this.lock();
    const review = await reviewContent(await this.find(more), lock);
    for (const { item, change, after } of [...review.pending, ...review.minorChanges]) {
      await lock.record({ decision: "approved", item, change, bytes: after, by: ALICE, at: NOW() });
    }
  }

  async review() {
    return reviewContent(await this.find(), this.lock());
  }

  remove(): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** Gives the answers in turn, then none. */
export class Script implements Conversation {
  readonly shown: string[] = [];
  readonly questions: string[] = [];
  readonly #answers: string[];

  constructor(...answers: string[]) {
    this.#answers = answers;
  }

  show(text: string): void {
    this.shown.push(text);
  }

  async ask(question: string): Promise<string | undefined> {
    this.questions.push(question);
    return this.#answers.shift();
  }

  get text(): string {
    return this.shown.join("\n");
  }
}
