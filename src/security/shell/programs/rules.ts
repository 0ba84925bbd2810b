/**
 * Says how the tables beside this file describe a program.
 *
 * 1. A table is a list of what is allowed. An option, an operand or a sub-command that is not in it makes a command ask.
 * 2. Option names are whole: abbreviations that a program would accept are not in a table and ask.
 * 3. An option is listed with a value only where every version of the program takes one, so that the next word is never
 *    mistaken for one; and that word may not start with a dash.
 */
export interface ProgramRules {
  /** Options without a value: `-a --all`. Single letters may be joined. */
  readonly flags?: string;
  /** Options with a value: `-n 5`, `-n5`, `--lines 5`, `--lines=5`. */
  readonly valued?: string;
  /** Options whose value is a file to read. */
  readonly files?: string;
  /** Long options that take a value only after `=`. */
  readonly optional?: string;
  /** `-20` is a count. */
  readonly count?: true;
  /** Says what the operands are; default: files. `checked`: `check` examines them. */
  readonly operands?: "none" | "text" | "files" | "pattern, files" | "checked";
  /** Options that give the pattern, so that every operand is a file. */
  readonly patterns?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  /** One of these options must be there. */
  readonly required?: string;
  /** No option of the program writes, runs or connects: names that a glob finds may look like options. */
  readonly globs?: true;
  /** Read-only with any arguments, also variables. */
  readonly anyText?: true;
  /** After `--` an operand may start with a dash. */
  readonly dashes?: true;
  /** A rule that a table cannot express, by its name in `checks/`. */
  readonly check?: CheckName;
  /** Unusual options and operands: `check` parses the words itself. */
  readonly unlike?: true;
  readonly commands?: Readonly<Record<string, ProgramRules>>;
  /** Options without a value that may stand before a sub-command. */
  readonly leading?: string;
}

export type CheckName =
  | "awk"
  | "date"
  | "find"
  | "git-format"
  | "git-objects"
  | "git-ref-format"
  | "git-remote-name"
  | "git-setting"
  | "git-tag"
  | "java-version"
  | "jq"
  | "lsof"
  | "named-file"
  | "printenv"
  | "printf"
  | "ps"
  | "sed"
  | "sleep"
  | "tar"
  | "test"
  | "yq";

export type ProgramTable = Readonly<Record<string, ProgramRules>>;
