/** What stands around an executable extension: the runtime supplies it. */
import type { Clock } from "../../base/clock.js";
import type { Launch, ProcessRequest } from "../../system/process-group.js";

export interface PlainCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ContainedCommand extends PlainCommand {
  readonly descriptors?: readonly number[];
  readonly withheld?: ProcessRequest["withheld"];
  readonly isWrapper?: boolean;
  readonly endsWithAll?: boolean;
  readonly launch?: Launch;
  /** What the model should know about a failure, from what the program printed. */
  explain?(output: string): string | undefined;
  started?(granted: readonly string[]): void;
  /** The program is dead. */
  ended?(): Promise<void>;
  /** What the model should know of what the program left behind. */
  leftBehind?(): string | undefined;
}

export interface Containment {
  /** The folder that programs start in. */
  readonly root: string;
  /** The environment of every program: nothing secret is in it. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Changes what the sandbox lets it change. `openings`: what the user allowed this call beyond that. */
  acting(command: PlainCommand, openings: readonly string[]): Promise<ContainedCommand>;
  /** Changes nothing, reaches no other machine, and reads little more than itself. */
  reading(command: PlainCommand): Promise<ContainedCommand>;
}
