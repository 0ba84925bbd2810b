/** The parts of completion: a source makes suggestions for a place in the draft, and the menu shows them. */

export interface Suggestion {
  /** Replaces the text from `start` to the caret. */
  readonly value: string;
  readonly label: string;
  /** Of a command: its arguments. */
  readonly hint?: string;
  readonly description?: string;
  /**
   * Holds what Enter does once it is in the draft: `send` sends the draft, `more` continues the completion (a namespace, a folder), `stay`
   * does nothing else.
   */
  readonly next: "send" | "more" | "stay";
}

export interface Suggestions {
  /** The place in the caret's line where the replaced text begins. */
  readonly start: number;
  readonly items: readonly Suggestion[];
  /** One line below the list: how the command is used. */
  readonly usage?: string;
  /** The typed text needs no suggestion, so Enter sends it unchanged; an entry that the user moved to is still taken. */
  readonly complete?: true;
}

export interface Place {
  readonly line: string;
  readonly column: number;
  /** Commands are only possible there. */
  readonly isFirstLine: boolean;
}

export interface CompletionSource {
  /** Undefined: nothing can be completed here. The next key may make a promise obsolete. */
  suggest(place: Place): Suggestions | undefined | Promise<Suggestions | undefined>;
}

/** The first source with suggestions answers. */
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
