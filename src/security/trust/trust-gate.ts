/**
 * All content of a folder passes here before it is loaded: what a harness asks before anything
 * else, and what its loaders hold afterwards.
 *
 * A folder without content costs a few looks at names: neither the lock nor the code that reads it is loaded.
 */
import type { ContentKind, FoundContent, TrustedItem } from "./content.js";
import { contentAt, type DiscoverOptions, discoverContent, NestedContent } from "./discover.js";
import type { PassOptions, TrustOutcome } from "./pass-content.js";

export interface TrustGateOptions extends DiscoverOptions, PassOptions {
  readonly folder: string;
}

export class TrustGate {
  readonly #options: TrustGateOptions;
  #nested: NestedContent | undefined;
  #around: readonly TrustedItem[] = [];
  readonly #later: TrustedItem[] = [];

  constructor({ person, ...options }: TrustGateOptions) {
    // An agent cannot answer.
    this.#options = person?.by.identity === "human" ? { ...options, person } : options;
  }

  /** Before anything is loaded, and whenever the sources are searched again. */
  async enter(): Promise<TrustOutcome> {
    const outcome = await pass(await discoverContent(this.#options), this.#options);
    this.#around = outcome.load;
    return outcome;
  }

  /**
   * Loads the instruction files on the way to a file that is first touched. In the middle of a turn unapproved content is
   * left out, not a reason to stop.
   */
  async touch(path: string): Promise<TrustOutcome> {
    this.#nested ??= new NestedContent(this.#options);
    return this.#leavingOut(await this.#nested.touch(path));
  }

  /** A file that approved content names, such as `@other.md` in instructions. At the start it is asked about or refused like all else. */
  async include(path: string, kind: ContentKind, moment: "start" | "turn" = "turn"): Promise<TrustOutcome> {
    const found = contentAt(path, { ...this.#options, kind });
    if (moment === "turn") return this.#leavingOut(found);
    const outcome = await pass(found, this.#options);
    this.#later.push(...outcome.load);
    return outcome;
  }

  of(kind: ContentKind): readonly TrustedItem[] {
    return [...this.#around, ...this.#later].filter((item) => item.kind === kind);
  }

  /** The bytes that were approved, or an error (`ContentChanged`). */
  async read(item: TrustedItem): Promise<Uint8Array> {
    const { readTrusted } = await import("./read-trusted.js");
    return readTrusted(item);
  }

  /** Private copies of approved files, which run instead of the originals; `folder` is one of Oxbow's own. */
  async copies(items: readonly TrustedItem[], folder: string): Promise<ReadonlyMap<TrustedItem, string>> {
    const { trustedCopies } = await import("./read-trusted.js");
    return trustedCopies(items, folder);
  }

  async #leavingOut(found: FoundContent): Promise<TrustOutcome> {
    const { person, skipUnapproved } = this.#options;
    const outcome = await pass(found, { ...this.#options, skipUnapproved: skipUnapproved || person === undefined });
    this.#later.push(...outcome.load);
    return outcome;
  }
}

async function pass(found: FoundContent, options: PassOptions): Promise<TrustOutcome> {
  if (found.items.length === 0 && found.unusable.length === 0) return { load: [], notes: [] };
  const { passContent } = await import("./pass-content.js");
  return passContent(found, options);
}
