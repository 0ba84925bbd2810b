/** The sandbox of a provider that belongs to a project; the runtime supplies it. */
import type { Launch, ProcessRequest } from "../../system/process-launch.js";

export interface ProviderCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ContainedProvider
  extends ProviderCommand,
    Pick<ProcessRequest, "withheld" | "isWrapper" | "endsWithAll"> {
  /** Starts the program. If the sandbox ends before the program begins, a second sandbox runs it. */
  readonly launch?: Launch;
  /** An explanation of a failure, from the program's stderr: hosts that were refused. */
  explain?(errors: string): string | undefined;
  /** Called when the program has ended. */
  ended?(): Promise<void>;
}

/** Wraps the program so that it can change nothing, sees neither the project nor the home folder, and reaches only `hosts`. */
export type ContainProvider = (command: ProviderCommand, hosts: readonly string[]) => Promise<ContainedProvider>;

/** The fields of a process request. */
export function processOf({ argv, cwd, env, withheld, isWrapper, endsWithAll }: ContainedProvider) {
  return {
    ...{ argv, cwd, env, withheld, isWrapper, endsWithAll },
  };
}
