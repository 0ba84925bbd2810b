/** Describes what the user gathered with commands for the next input: files, searches, outputs. Each has a label that names its command. */

export interface GatheredText {
  /** `[context: /read a.txt]`. */
  readonly label: string;
  readonly text: string;
}

export class GatheredContext {
  #texts: GatheredText[] = [];

  get texts(): readonly GatheredText[] {
    return this.#texts;
  }

  /** If a command runs again, its text replaces the earlier one. */
  add(command: string, text: string): GatheredText {
    const gathered = { label: `[context: ${command.replaceAll(/\s+/g, " ").trim()}]`, text };
    this.#texts = [...this.#texts.filter(({ label }) => label !== gathered.label), gathered];
    return gathered;
  }

  /** Returns the texts for the model and clears them. */
  take(): readonly GatheredText[] {
    const texts = this.#texts;
    this.#texts = [];
    return texts;
  }

  clear(): number {
    return this.take().length;
  }
}
