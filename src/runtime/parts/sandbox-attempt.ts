/**
 * Starts a command in a sandbox. A sandbox may fail before its command begins: a file that it hides is deleted while it is made, or it is
 * killed when the command arrives. Then another sandbox runs the command (start-mark.ts). No command runs twice.
 */
import type { Writes } from "../../security/sandbox/policy.js";
import type { Sandbox, SandboxedCommand } from "../../security/sandbox/sandbox.js";
import { type Launch, type Launched, type ProcessRequest, startOnPipes } from "../../system/process-launch.js";
import type { ShellCommand } from "../../tools/shell/wrapped-command.js";
import { newMark, StartMark } from "./start-mark.js";

/** A sandbox, and how to start its command. */
export interface MadeSandbox {
  readonly wrapped: SandboxedCommand;
  /** Where what the command writes is held back; known for certain when it has ended. */
  view(): SandboxedCommand["view"];
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

export async function newAttempt(sandbox: Sandbox, command: ShellCommand, writes?: Writes): Promise<Attempt> {
  const text = newMark();
  const wrapped = await sandbox.wrap({ ...plainCommand(command), mark: text, ...(writes && { writes }) });
  return {
    wrapped,
    launch: async (request) => {
      if (!wrapped.marks) return { launched: await startOnPipes(request), mark: undefined };
      const mark = new StartMark(text, request);
      return { launched: await startOnPipes(mark.around(request)), mark };
    },
  };
}

/** A sandbox for this command. On a terminal there is one attempt: nothing shows there that a sandbox ended before its command began. */
export async function madeSandbox(
  sandbox: Sandbox,
  { command, onTerminal, writes }: { command: ShellCommand; onTerminal: boolean; writes: Writes | undefined },
): Promise<MadeSandbox> {
  if (onTerminal) {
    const wrapped = await sandbox.wrap({ ...plainCommand(command), ...(writes && { writes }) });
    return { wrapped, view: () => wrapped.view, launch: startOnPipes };
  }
  const attempt = () => newAttempt(sandbox, command, writes);
  return withMoreAttempts(await attempt(), attempt);
}

/** Other programs may delete one file after the other. */
const MOST_ATTEMPTS = 5;

/** `again` makes another sandbox, if one ends before its command begins. */
export function withMoreAttempts(first: Attempt, again: () => Promise<Attempt>): MadeSandbox {
  const made = [first];
  return {
    view: () => made.at(-1)?.wrapped.view,
    wrapped: {
      ...first.wrapped,
      ended: async () => {
        for (const { wrapped } of made) await wrapped.ended();
      },
    },
    launch: async (request) => {
      let { launched, mark } = await first.launch(request);
      while ((await mark?.begins(launched)) === false) {
        if (made.length === MOST_ATTEMPTS) {
          mark?.giveUp();
          break;
        }
        launched.close();
        const next = await again();
        made.push(next);
        ({ launched, mark } = await next.launch(withWrapped(request, next.wrapped)));
      }
      const last = mark;
      return last === undefined ? launched : { ...launched, leftovers: () => last.leftovers() };
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
