/** What completion is made of: a source suggests for a place in the draft, and the menu shows it. */

export interface Suggestion {
  /** Replaces what was typed from `start` to the caret. */
  readonly value: string;
  readonly label: string;
  /** Of a command: its arguments. */
  readonly hint?: string;
  readonly description?: string;
  /**
   * What Enter does once it is in the draft: `send` sends the draft, `more` goes on completing (a namespace, a folder), `stay` leaves
   * it to the person.
   */
  readonly next: "send" | "more" | "stay";
}

export interface Suggestions {
  /** Where in the caret's line the replaced text begins. */
  readonly start: number;
  readonly items: readonly Suggestion[];
  /** One line below the list: how the command is used. */
  readonly usage?: string;
  /** What is typed is already complete, so Enter sends it as it is. */
  readonly complete?: true;
}

export interface Place {
  readonly line: string;
  readonly column: number;
  /** Commands stand only there. */
  readonly isFirstLine: boolean;
}

export interface CompletionSource {
  /** Undefined: nothing can be completed here. A promise may be left behind by the next key. */
  suggest(place: Place): Suggestions | undefined | Promise<Suggestions | undefined>;
}

/** The first source that has something to say answers. */
export function firstOf(...sources: readonly CompletionSource[]): CompletionSource {
  return {
    suggest(place) {
      for (const source of sources) {
        const found = source.suggest(place);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}
