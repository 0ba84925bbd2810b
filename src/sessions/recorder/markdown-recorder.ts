/**
 * `/record`: writes a session to a Markdown file while it runs.
 *
 * 1. What is written comes in the order of the events, and is on the disk after every turn.
 * 2. Nothing of another file is ever overwritten: a new recording makes its file, or continues one that begins as a recording
 *    does, with the turns counted on.
 * 3. A recording never breaks a turn: `take` does not throw and does not wait. What goes wrong is reported once, and ends the
 *    recording.
 */
import type { FileHandle } from "node:fs/promises";
import { join, resolve } from "node:path";
import { safeLine } from "../../base/terminal-text.js";
import type { Envelope } from "../../protocol/envelope.js";
import { codeSpan } from "../markdown.js";
import {
  asRefusal,
  createNew,
  examine,
  flush,
  MARKER,
  openOrCreate,
  RecordingRefused,
  reason,
} from "./recording-file.js";
import { type Redact, TurnMarkdown } from "./turn-markdown.js";

export { RecordingRefused } from "./recording-file.js";

export interface MarkdownRecorderOptions {
  /** The folder of files without one. */
  readonly workspace: string;
  /** `provider:model` at the start of a recording. */
  readonly model: () => string;
  readonly redact: Redact;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
  /** Reported once for each failed recording. */
  readonly onProblem: (message: string) => void;
  /** For the name of the file; the machine's own when absent. */
  readonly timeZone?: string;
}

export type RecordingStatus =
  | { readonly recording: true; readonly file: string; readonly started_at: string; readonly turns: number }
  /** `problem`: why the last one failed. */
  | { readonly recording: false; readonly problem?: string };

export interface Recorded {
  readonly file: string;
  /** Turns that this recording added. */
  readonly turns: number;
  readonly problem?: string;
}

interface Recording {
  readonly file: string;
  readonly handle: FileHandle;
  readonly markdown: TurnMarkdown;
  readonly startedAt: string;
  readonly turnsBefore: number;
  /** The last write; each waits for the one before. */
  written: Promise<void>;
  problem?: string;
}

const NOTHING = Promise.resolve(undefined);

export class MarkdownRecorder {
  readonly #options: MarkdownRecorderOptions;
  #state: Recording | "starting" | undefined;
  #stopping: Promise<Recorded | undefined> = NOTHING;
  #problem: string | undefined;

  constructor(options: MarkdownRecorderOptions) {
    this.#options = options;
  }

  /** Begins with the next turn. Without a name: `oxbow-session-YYYYMMDD-HHMMSS.md` in the workspace, always a new file. */
  async start(file?: string): Promise<{ readonly file: string; readonly continued: boolean }> {
    if (this.#state !== undefined) {
      const where = this.#state === "starting" ? "" : ` to ${this.#state.file}`;
      throw new RecordingRefused(`Already recording${where}. End that first: /record stop.`);
    }
    this.#state = "starting";
    try {
      const { recording, continued } = await this.#open(file);
      this.#state = recording;
      this.#problem = undefined;
      return { file: recording.file, continued };
    } catch (error) {
      this.#state = undefined;
      throw error;
    }
  }

  /** Records the next event. Ends with the session. */
  take(event: Envelope): void {
    const recording = this.#state;
    if (recording === undefined || recording === "starting") return;
    try {
      this.#write(recording, recording.markdown.take(event));
    } catch (error) {
      this.#fail(recording, error);
      return;
    }
    if (event.kind === "TurnEnded") this.#then(recording, () => flush(recording.file, recording.handle));
    if (event.kind === "SessionEnded") void this.stop();
  }

  /** Stops the recording. When this resolves the file is complete, also when the session's end has begun it. Undefined when nothing was recorded. */
  stop(): Promise<Recorded | undefined> {
    const recording = this.#state;
    if (recording === undefined || recording === "starting") return this.#stopping;
    this.#state = undefined;
    const stopping = this.#close(recording).finally(() => {
      if (this.#stopping === stopping) this.#stopping = NOTHING;
    });
    this.#stopping = stopping;
    return stopping;
  }

  status(): RecordingStatus {
    const recording = this.#state;
    if (recording === undefined || recording === "starting") {
      return { recording: false, ...(this.#problem !== undefined && { problem: this.#problem }) };
    }
    const { file, startedAt, markdown, turnsBefore } = recording;
    return { recording: true, file, started_at: startedAt, turns: markdown.turn - turnsBefore };
  }

  async #close(recording: Recording): Promise<Recorded> {
    const turns = recording.markdown.turn - recording.turnsBefore;
    try {
      this.#write(recording, recording.markdown.end());
    } catch (error) {
      this.#fail(recording, error);
    }
    this.#then(recording, () => flush(recording.file, recording.handle));
    await recording.written;
    await recording.handle.close().catch(() => {});
    const { file, problem } = recording;
    return { file, turns, ...(problem !== undefined && { problem }) };
  }

  async #open(name: string | undefined): Promise<{ recording: Recording; continued: boolean }> {
    const { workspace, redact, wall } = this.#options;
    const now = wall();
    const asked = name?.trim();
    const { file, handle, isNew } = await (asked
      ? openOrCreate(resolve(workspace, asked))
      : createNew(join(workspace, this.#stem(now))));
    try {
      const found = isNew ? { lastTurn: 0, isEmpty: true } : await examine(file, handle);
      const startedAt = new Date(now).toISOString();
      await handle.appendFile(this.#header(startedAt, found));
      await handle.sync();
      const markdown = new TurnMarkdown(redact, found.lastTurn);
      const written = Promise.resolve();
      const recording = { file, handle, markdown, startedAt, turnsBefore: found.lastTurn, written };
      return { recording, continued: !found.isEmpty };
    } catch (error) {
      await handle.close().catch(() => {});
      throw asRefusal(error, file);
    }
  }

  #stem(now: number): string {
    return `oxbow-session-${compactTime(now, this.#options.timeZone)}`;
  }

  #header(startedAt: string, { isEmpty }: { readonly isEmpty: boolean }): string {
    const { model, workspace, redact } = this.#options;
    const facts = [
      `- ${isEmpty ? "Started" : "Continued"}: ${startedAt}`,
      `- Model: ${codeSpan(redact(safeLine(model())))}`,
      `- Workspace: ${codeSpan(redact(safeLine(workspace)))}`,
    ].join("\n");
    // The existing text may end in the middle of a line.
    return isEmpty ? `${MARKER}\n# Oxbow session\n\n${facts}\n\n` : `\n\n---\n\n${facts}\n\n`;
  }

  #write(recording: Recording, text: string): void {
    if (text !== "") this.#then(recording, () => recording.handle.appendFile(text));
  }

  #then(recording: Recording, action: () => Promise<unknown>): void {
    recording.written = recording.written.then(async () => {
      if (recording.problem !== undefined) return;
      try {
        await action();
      } catch (error) {
        this.#fail(recording, error);
      }
    });
  }

  #fail(recording: Recording, error: unknown): void {
    if (recording.problem !== undefined) return;
    recording.problem = `The recording to ${recording.file} has ended: ${reason(error)}`;
    this.#problem = recording.problem;
    if (this.#state === recording) {
      this.#state = undefined;
      void recording.handle.close().catch(() => {});
    }
    try {
      this.#options.onProblem(recording.problem);
    } catch {
      // A failing listener must not break the recording.
    }
  }
}

/** `20260131-140509`. */
function compactTime(ms: number, timeZone: string | undefined): string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    dateStyle: "short",
    timeStyle: "medium",
    ...(timeZone !== undefined && { timeZone }),
  });
  return format.format(ms).replaceAll(/[-:]/g, "").replace(" ", "-");
}
