/** What is used of highlight.js. */
export interface Emitter {
  addText(text: string): void;
  startScope(scope: string): void;
  endScope(): void;
  openNode(scope: string): void;
  closeNode(): void;
  __addSublanguage(emitter: Emitter, name: string): void;
  finalize(): void;
  toHTML(): string;
}

/** A construct; without a parent it is the language itself. */
export interface Mode {
  readonly parent?: Mode;
}

export interface Library<E> {
  highlight(
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): {
    readonly _emitter: E;
    /** The innermost construct that is open at the end. */
    readonly _top?: Mode;
  };
}

/** An instance that tells its results to `Emitter`. */
export function createLibrary<E extends Emitter>(Emitter: new () => E): Library<E>;
