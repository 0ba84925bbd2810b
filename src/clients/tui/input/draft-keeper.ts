/**
 * Stores the draft on the disk, so that it survives a crash. It is written a moment after the last key, and removed when it is sent or
 * emptied. Write errors are ignored.
 */
import type { Clock } from "../../../base/clock.js";
import type { DraftPart } from "./attachments.js";
import type { Draft } from "./draft-buffer.js";

export interface DraftStorage {
  /** Takes over the newest draft of this folder that no running client has; other clients no longer get it. */
  take(): Promise<string | undefined>;
  write(text: string): Promise<void>;
  remove(): Promise<void>;
}

export interface DraftKeeperOptions {
  readonly storage: DraftStorage;
  readonly clock: Clock;
  readonly redact: (text: string) => Promise<string>;
}

const WAIT_MS = 500;
/** A larger draft is mostly a paste that the user can paste again. */
const MAX_CHARACTERS = 2_000_000;

export class DraftKeeper {
  readonly #options: DraftKeeperOptions;
  #stop: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: DraftKeeperOptions) {
    this.#options = options;
  }

  /** The draft of a client that has ended. */
  async load(): Promise<Draft | undefined> {
    const text = await this.#options.storage.take().catch(() => undefined);
    return text === undefined ? undefined : readDraft(text);
  }

  /** `draft` is called when it is time to write. */
  changed(draft: () => Draft): void {
    this.#stop?.();
    this.#stop = this.#options.clock.after(WAIT_MS, () => {
      this.#stop = undefined;
      this.#write(draft());
    });
  }

  /** Writes a pending draft at the end of the program. */
  async flush(draft: () => Draft): Promise<void> {
    if (this.#stop !== undefined) {
      this.#stop();
      this.#stop = undefined;
      this.#write(draft());
    }
    await this.#writing;
  }

  #write(draft: Draft): void {
    this.#writing = this.#writing.then(() => this.#store(draft)).catch(() => {});
  }

  async #store({ parts }: Draft): Promise<void> {
    const { storage, redact } = this.#options;
    if (parts.length === 0) return storage.remove();
    const size = parts.reduce((sum, part) => sum + textOf(part).length, 0);
    if (size > MAX_CHARACTERS) return;
    const safe = await Promise.all(parts.map((part) => redacted(part, redact)));
    await storage.write(JSON.stringify({ parts: safe }));
  }
}

function textOf(part: DraftPart): string {
  if (typeof part === "string") return part;
  return "paste" in part ? part.paste : part.source;
}

async function redacted(part: DraftPart, redact: DraftKeeperOptions["redact"]): Promise<DraftPart> {
  if (typeof part === "string") return redact(part);
  return "paste" in part ? { paste: await redact(part.paste) } : part;
}

function readDraft(text: string): Draft | undefined {
  try {
    const { parts } = JSON.parse(text) as { parts?: unknown };
    return Array.isArray(parts) && parts.length > 0 && parts.every(isPart) ? { parts } : undefined;
  } catch {
    return undefined;
  }
}

function isPart(value: unknown): value is DraftPart {
  if (typeof value === "string") return true;
  if (typeof value !== "object" || value === null) return false;
  const { paste, image, source } = value as Record<string, unknown>;
  return typeof paste === "string" || (typeof image === "string" && typeof source === "string");
}
