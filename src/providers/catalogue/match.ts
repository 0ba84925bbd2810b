/**
 * Decides which listed model a name means. Names come dated (`claude-sonnet-4-5-20250929`), aliased (`…-latest`), as paths (`models/gemini-…`)
 * and with dots for dashes. A name that only looks similar (`gpt-5` and `gpt-5-mini`) is another model.
 */

export interface Match {
  readonly id: string;
  /** `name` is not that id, but a dated or aliased form of it. */
  readonly similar: boolean;
}

export class ModelIndex {
  readonly #provider: string;
  readonly #exact = new Map<string, string>();
  /** By the name without its date; of several the newest. */
  readonly #undated = new Map<string, string>();

  constructor(provider: string, ids: Iterable<string>) {
    this.#provider = provider;
    for (const id of ids) this.#exact.set(spelling(id), id);
    for (const [name, id] of [...this.#exact].sort(([a], [b]) => (a < b ? -1 : 1)))
      this.#undated.set(undated(name), id);
  }

  find(name: string): Match | undefined {
    const spelt = spelling(this.#withoutPath(name.trim()));
    const exact = this.#exact.get(spelt);
    if (exact !== undefined) return { id: exact, similar: false };
    const bare = undated(spelt);
    const similar = this.#exact.get(bare) ?? this.#undated.get(bare);
    return similar === undefined ? undefined : { id: similar, similar: true };
  }

  /** Gemini's names are paths, and gateways put the vendor before the name. */
  #withoutPath(name: string): string {
    const path = /^([\w.-]+)\/(.+)$/.exec(name);
    const isOwn = path !== null && (path[1] === "models" || path[1] === this.#provider);
    return isOwn && !this.#exact.has(spelling(name)) ? (path[2] as string) : name;
  }
}

function spelling(name: string): string {
  return name.toLowerCase().replaceAll(/[._]/g, "-");
}

/** `-20250929`, `-2025-09-29`, `@20250929`, `-latest`, and Gemini's `-001`. */
function undated(name: string): string {
  return name.replace(/(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest|-00\d)$/, "");
}
