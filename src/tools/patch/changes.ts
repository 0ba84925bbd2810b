/** Describes what a patch changes, whatever its format. */
export type FileChange =
  | { readonly kind: "add"; readonly path: string; readonly text: string }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "update"; readonly path: string; readonly moveTo?: string; readonly hunks: readonly Hunk[] };

export interface Hunk {
  /** Its first line in the patch, from 1. */
  readonly patchLine: number;
  /** Lines of the file before the change, each to be looked for after the one before it. */
  readonly headers: readonly string[];
  readonly lines: readonly HunkLine[];
  readonly atEnd: boolean;
}

export interface HunkLine {
  readonly kind: "keep" | "drop" | "add";
  readonly text: string;
}
