/** A bash text as a tree, with what the judge needs: every command, every word, and the part of a word that is known beforehand. */

export interface Script {
  readonly items: readonly ListItem[];
}

export interface ListItem {
  readonly command: Command;
  /** Holds what follows the command; `""` at the end of a list. */
  readonly operator: "&&" | "||" | ";" | "&" | "\n" | "";
}

export type Command = SimpleCommand | Pipeline | Compound;

export interface SimpleCommand {
  readonly type: "simple";
  readonly assignments: readonly Assignment[];
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
  /** The source text, without the bodies of here-documents. */
  readonly text: string;
}

export interface Pipeline {
  readonly type: "pipeline";
  readonly commands: readonly Command[];
}

export type CompoundKind =
  | "arithmetic"
  | "case"
  | "conditional"
  | "coprocess"
  | "for"
  | "function"
  | "group"
  | "if"
  | "select"
  | "subshell"
  | "until"
  | "while";

export interface Compound {
  readonly type: "compound";
  readonly kind: CompoundKind;
  /** Holds what is expanded beside the bodies: the list of a `for`, subject and patterns of a `case`, the operands of `[[ ]]`. */
  readonly words: readonly Word[];
  readonly bodies: readonly Script[];
  readonly redirects: readonly Redirect[];
  readonly text: string;
}

export interface Assignment {
  readonly name: string;
  readonly append: boolean;
  /** `name[…]=` or `name=(…)`. */
  readonly array: boolean;
  /** The value, or the subscript and elements of an array. */
  readonly words: readonly Word[];
}

export type RedirectOperator = "<" | ">" | ">>" | ">|" | "<>" | "<&" | ">&" | "&>" | "&>>" | "<<" | "<<-" | "<<<";

export interface Redirect {
  readonly operator: RedirectOperator;
  /** `2` in `2>`, `{name}` in `{name}>`. */
  readonly descriptor: string | undefined;
  /** The file, descriptor or text; the body of a here-document. */
  readonly target: Word;
}

export interface Word {
  readonly parts: readonly WordPart[];
  readonly text: string;
}

export type WordPart =
  | { readonly type: "literal"; readonly value: string; readonly quoted: boolean }
  /** An unquoted `*`, `?` or `[`. */
  | { readonly type: "glob"; readonly value: string }
  /** An unquoted `~` that means a folder. */
  | { readonly type: "tilde" }
  /** An unquoted `{` or `}` of what bash may expand to several words. */
  | { readonly type: "brace"; readonly value: string }
  | {
      readonly type: "parameter";
      readonly name: string;
      /** Says what is done to it: `:-word`, `@P`, a leading `!` or `#`; empty when nothing is. */
      readonly operation: string;
      readonly quoted: boolean;
      readonly parts: readonly WordPart[];
    }
  | { readonly type: "substitution"; readonly script: Script; readonly quoted: boolean }
  | { readonly type: "arithmetic"; readonly text: string; readonly parts: readonly WordPart[] };

export type ParseResult =
  | { readonly ok: true; readonly script: Script }
  | { readonly ok: false; readonly reason: string; readonly at: number };
