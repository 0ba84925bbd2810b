/**
 * `!command`: a command of the person, in the process of their client, with their own environment and rights. The engine only says
 * whether safe mode allows it, and in which folder the session works.
 */
import type { EngineClient } from "../protocol/client.js";
import type { InputContent } from "../protocol/content.js";
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

const SHARED = /^<untrusted-\w+ kind="shell-output" source="(![^\n]*)">\n/;

/** The text that a person typed, without the output of their commands that goes along with it. */
export function typedText(input: readonly InputContent[]): string {
  return input.flatMap((block) => (block.type === "text" && !SHARED.test(block.text) ? [block.text] : [])).join("");
}

/** The same, and the commands whose output goes along, for a reader. */
export function shownInput(input: readonly InputContent[]): string {
  const sources = input.flatMap((block) => (block.type === "text" ? (SHARED.exec(block.text)?.[1] ?? []) : []));
  const commands = sources.map((source) =>
    source.replace(/&(quot|lt|gt|amp);/g, (_, name: string) => ENTITIES[name] ?? ""),
  );
  const text = typedText(input);
  return commands.length === 0 ? text : `${text}\n(with the output of ${commands.join(", ")})`;
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', lt: "<", gt: ">", amp: "&" };

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
