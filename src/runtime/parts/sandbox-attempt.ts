/**
 * Starts a command in a sandbox. A sandbox may fail before its command begins: a file that it hides is deleted while it is made, or it is
 * killed when the command arrives. Then a second sandbox runs the command (start-mark.ts). No command runs twice.
 */
import type { Sandbox, SandboxedCommand } from "../../security/sandbox/sandbox.js";
import { type Launch, type Launched, type ProcessRequest, startOnPipes } from "../../system/process-launch.js";
import type { ShellCommand } from "../../tools/shell/wrapped-command.js";
import { newMark, StartMark } from "./start-mark.js";

/** A sandbox, and how to start its command. */
export interface MadeSandbox {
  readonly wrapped: SandboxedCommand;
  readonly launch: Launch;
}

/** A sandbox that runs one command. */
export interface Attempt {
  readonly wrapped: SandboxedCommand;
  launch(request: ProcessRequest): Promise<Started>;
}

export interface Started {
  readonly launched: Launched;
  /** Undefined if this sandbox prints none. */
  readonly mark: StartMark | undefined;
}

export async function newAttempt(sandbox: Sandbox, command: ShellCommand): Promise<Attempt> {
  const text = newMark();
  const wrapped = await sandbox.wrap({ ...plainCommand(command), mark: text });
  return {
    wrapped,
    launch: async (request) => {
      if (!wrapped.marks) return { launched: await startOnPipes(request), mark: undefined };
      const mark = new StartMark(text, request);
      return { launched: await startOnPipes(mark.around(request)), mark };
    },
  };
}

/** `again` makes the second sandbox, if the first one ends before the command begins. */
export function withSecondAttempt(first: Attempt, again: () => Promise<Attempt>): MadeSandbox {
  let second: Attempt | undefined;
  return {
    wrapped: {
      ...first.wrapped,
      ended: async () => {
        await first.wrapped.ended();
        await second?.wrapped.ended();
      },
    },
    launch: async (request) => {
      const started = await first.launch(request);
      if ((await started.mark?.begins(started.launched)) !== false) return started.launched;
      started.launched.close();
      second = await again();
      const { launched, mark } = await second.launch(withWrapped(request, second.wrapped));
      if ((await mark?.begins(launched)) === false) mark?.giveUp();
      return launched;
    },
  };
}

export function plainCommand({ argv: [program = "", ...args], cwd, env }: ShellCommand) {
  return { program, args, cwd, env };
}

/** The same request, in another sandbox. Its environment is the same, and has the mark by which its processes are found. */
function withWrapped(request: ProcessRequest, { program, args, cwd, descriptors, withheld }: SandboxedCommand) {
  return { ...request, argv: [program, ...args], cwd, descriptors, withheld };
}
