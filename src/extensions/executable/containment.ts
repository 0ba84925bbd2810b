/** The sandbox of executable extensions; the runtime supplies it. */
import type { Clock } from "../../base/clock.js";
import type { ToolContext } from "../../engine/ports.js";
import type { ProcessEnd } from "../../system/process-group.js";
import type { Launch, ProcessRequest } from "../../system/process-launch.js";

export interface PlainCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ContainedCommand extends PlainCommand {
  readonly withheld?: ProcessRequest["withheld"];
  readonly isWrapper?: boolean | undefined;
  readonly endsWithAll?: boolean | undefined;
  readonly launch?: Launch;
  /** An explanation of a failure for the model, from the program's output. */
  explain?(output: string): string | undefined;
  started?(granted: readonly string[]): void;
  /** Applies what the program wrote, where that is held back. Called before `ended`. */
  settle?(
    end: Pick<ProcessEnd, "reason">,
    context: Pick<ToolContext, "call" | "granted" | "approved" | "ask">,
  ): Promise<{ readonly notes: readonly string[] }>;
  /** Called when the program has ended. */
  ended?(): Promise<void>;
  /** A note for the model about what the program left behind. */
  leftBehind?(): string | undefined;
}

export interface Containment {
  /** The folder that programs start in. */
  readonly root: string;
  /** The environment of every program: it contains no secrets. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** The program may change what the sandbox allows. `openings`: what the user allowed beyond that for this call. */
  acting(command: PlainCommand, openings: readonly string[]): Promise<ContainedCommand>;
  /** The program may change nothing, has no network, and can read little more than itself. */
  reading(command: PlainCommand): Promise<ContainedCommand>;
}
