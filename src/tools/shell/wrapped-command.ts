/** A command before and after a sandbox is put around it. */
import type { ToolContext } from "../../engine/ports.js";
import type { ProcessEnd } from "../../system/process-group.js";
import type { Launch, ProcessRequest } from "../../system/process-launch.js";

/** A program about to be started. */
export interface ShellCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The same program inside a wrapper such as a sandbox. */
export interface WrappedCommand extends ShellCommand {
  /** Open files that must not reach it. */
  readonly withheld?: ProcessRequest["withheld"];
  /** The program is a wrapper that ends with the command. */
  readonly isWrapper?: boolean;
  /** Says that all processes of the command have ended when the wrapper ends. */
  readonly endsWithAll?: boolean;
  /** An explanation of a failure for the model, from the command's output. */
  explain?(output: string): string | undefined;
  /** Starts it in a special way; default: like any other program. */
  readonly launch?: Launch;
  /** Called when the command begins. `granted`: guarded paths that the user allowed. */
  started?(granted: readonly string[]): void;
  /** Called when the command has ended. */
  ended?(): Promise<void>;
  /** Applies what the command wrote, where that is held back. Called before `ended`. */
  settle?(
    end: Pick<ProcessEnd, "reason">,
    context: Pick<ToolContext, "granted" | "approved" | "ask">,
  ): Promise<SettledChanges>;
  /** Holds what the model should know when a command goes on running. */
  readonly startNote?: string | undefined;
  /** A note for the model about what commands left behind; given once. */
  leftBehind?(): string | undefined;
}

export interface SettledChanges {
  /** For the model, a line each. */
  readonly notes: readonly string[];
  /** Each with `+`, `~` or `-` in front. */
  readonly changed: readonly string[];
  /** Nothing was applied, although the command ended by itself. */
  readonly failed?: boolean;
}

/** Variables that hooks add for a command; undefined removes one. */
export type AddedEnvironment = (command: {
  readonly outside: boolean;
  /** It runs without a question, because it only reads. */
  readonly unasked: boolean;
}) => Promise<Readonly<Record<string, string | undefined>>>;

export interface WrapOptions {
  readonly onTerminal: boolean;
  /** The user allowed this command to run outside. */
  readonly outside: boolean;
  /** Holds what the user allowed beyond the sandbox. */
  readonly openings?: readonly string[];
  /** A person typed it. */
  readonly byPerson?: boolean;
  /** The command as it was written. */
  readonly line?: string;
  /** It reads its standard input. */
  readonly hasInput?: true;
  /** `held`: what it writes may be held back until it ends. `nothing`: it only reads. `live`: it goes on running and sees later edits. */
  readonly writes?: "held" | "nothing" | "live";
  /** For `live`: folders that it wants to change, from the workspace. */
  readonly folders?: readonly string[];
  /** Asks the person about them, and about what concerns all commands. */
  readonly ask?: ToolContext["ask"];
}
