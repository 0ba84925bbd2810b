/** Holds what an import dropped or could not read, once per kind, in order. */
const NAMED_LINES = 5;
const NAMED_KINDS = 12;

export class ImportNotes {
  readonly #damaged: { readonly line: number; readonly why: string }[] = [];
  readonly #unknown = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  readonly #other: string[] = [];
  #damagedCount = 0;

  damaged(line: number, why: string): void {
    this.#damagedCount++;
    if (this.#damaged.length < NAMED_LINES) this.#damaged.push({ line, why });
  }

  /** A line of a kind that this program does not know. */
  unknown(kind: string): void {
    this.#unknown.set(kind, (this.#unknown.get(kind) ?? 0) + 1);
  }

  /** Frequent problems: reported as `what: number`. */
  count(what: string, times = 1): void {
    if (times > 0) this.#counts.set(what, (this.#counts.get(what) ?? 0) + times);
  }

  add(note: string): void {
    if (!this.#other.includes(note)) this.#other.push(note);
  }

  list(): string[] {
    const notes = this.#damaged.map(({ line, why }) => `Line ${line} was left out: ${why}.`);
    const more = this.#damagedCount - this.#damaged.length;
    if (more > 0) notes.push(`${more} more damaged ${more === 1 ? "line was" : "lines were"} left out.`);
    if (this.#unknown.size > 0) {
      const kinds = [...this.#unknown].map(([kind, times]) => `${kind} (${times})`);
      const rest = kinds.length > NAMED_KINDS ? `, and ${kinds.length - NAMED_KINDS} more` : "";
      notes.push(`Lines of unknown kinds were left out: ${kinds.slice(0, NAMED_KINDS).join(", ")}${rest}.`);
    }
    for (const [what, times] of this.#counts) notes.push(`${what}: ${times}.`);
    return [...notes, ...this.#other];
  }
}
