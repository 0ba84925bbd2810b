/** The approved bytes themselves, by their hash, so that a later change can be shown against them. */
import { mkdirSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { REVIEWABLE_BYTES, sha256 } from "./read-content.js";

export class ApprovedContents {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async keep(bytes: Uint8Array): Promise<void> {
    if (bytes.length > REVIEWABLE_BYTES) return;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    await writeFileAtomic(join(this.#folder, sha256(bytes)), bytes, { mode: 0o600 });
  }

  /** Undefined if it was not stored, or has changed. */
  get(hash: string): Buffer | undefined {
    try {
      const bytes = readFileSync(join(this.#folder, hash));
      return sha256(bytes) === hash ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  forget(hash: string): void {
    try {
      unlinkSync(join(this.#folder, hash));
    } catch {
      // Another process was first, or it was never kept.
    }
  }
}
