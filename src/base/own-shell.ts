/**
 * `!command`: a command of the person, in the process of their client, with their own environment and rights. The engine only says
 * whether safe mode allows it, and in which folder the session works.
 */
import type { EngineClient } from "../protocol/client.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { SessionId } from "../protocol/ids.js";
import { isJsonObject } from "../protocol/json.js";
import { readSlashAnswer, slashRequest } from "../protocol/slash-command.js";

export interface OwnCommand {
  readonly command: string;
  readonly folder: string;
  /** Ends the command and everything it started. */
  readonly signal: AbortSignal;
  /** Gets the output as it comes. */
  readonly onOutput: (text: string) => void;
}

export interface OwnCommandEnd {
  readonly isOk: boolean;
  /** The beginning and the end of the output. */
  readonly output: string;
  /** Tell how it ended, if not well. */
  readonly notes: readonly string[];
  readonly exitCode: number | undefined;
  /** The command and its output, delimited as what a program wrote. */
  readonly forModel: string;
}

/** Runs a command of the person; never throws. */
export type OwnShell = (command: OwnCommand) => Promise<OwnCommandEnd>;

const NO_SHELL =
  "This client cannot run your commands: it uses an engine by its address. Run the command in your shell.";

export async function runOwnCommand(
  shell: OwnShell | undefined,
  wanted: Omit<OwnCommand, "folder"> & { readonly client: EngineClient; readonly session: SessionId | undefined },
): Promise<{ readonly failure: Failure } | OwnCommandEnd> {
  const { client, session, ...rest } = wanted;
  if (shell === undefined) return { failure: failure("InvalidInput", { detail: NO_SHELL }) };
  const reply = await client.send("CustomCommand", slashRequest("shell", rest.command), session);
  if (!reply.ok) return { failure: reply.failure };
  const { value } = readSlashAnswer(reply.value);
  const folder = isJsonObject(value) && typeof value.folder === "string" ? value.folder : "";
  return shell({ ...rest, folder });
}
