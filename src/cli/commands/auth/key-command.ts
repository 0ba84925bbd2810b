/** A command of several actions about stored keys. */

import { UsageError } from "../../../base/usage-error.js";
import type { Variables } from "../../../base/variables.js";
import { type Flag, helpLines, type ParsedFlags, parseFlags, unknownAction } from "../../../commands/flags.js";
import { refuseAgents } from "../../../runtime/agent-limits.js";
import { makeHome } from "../../../runtime/settings/home-folder.js";
import { CredentialError } from "../../../security/credentials/credential-error.js";
import { EXIT } from "../../exit-codes.js";

export interface KeyActionContext {
  readonly flags: ParsedFlags;
  /** What stands after the action's name. */
  readonly words: readonly string[];
  readonly variables: Variables;
}

export interface KeyAction {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  readonly load: () => Promise<{ run(context: KeyActionContext): Promise<number> }>;
}

export interface KeyCommand {
  readonly variables: Variables;
  readonly name: string;
  readonly args: readonly string[];
  readonly actions: readonly KeyAction[];
  readonly epilogue: string;
}

const HELP: Flag = { name: "help", short: "h", help: "show this help" };

export async function runKeyCommand(command: KeyCommand): Promise<number> {
  const { name, actions, variables } = command;
  const [first = "", ...rest] = command.args;
  const action = actions.find((candidate) => candidate.name === first);
  if (action === undefined) {
    if (first === "" || first === "--help" || first === "-h") {
      process.stdout.write(help(command));
      return first === "" ? EXIT.usage : EXIT.answered;
    }
    throw unknownAction(
      name,
      first,
      actions.map((candidate) => candidate.name),
    );
  }
  const table = [...action.flags, HELP];
  const flags = parseFlags(table, rest, `${name} ${action.name}`);
  if (flags.has("help")) {
    process.stdout.write(`Usage: oxbow ${name} ${action.usage} [flags]\n\n${action.summary}\n\n${helpLines(table)}\n`);
    return EXIT.answered;
  }
  if (action.name !== "list") refuseAgents(variables, `'oxbow ${name} ${action.name}'`);
  makeHome(variables);
  try {
    return await (await action.load()).run({ flags, words: flags.words, variables });
  } catch (error) {
    if (error instanceof CredentialError) throw new UsageError(error.message);
    throw error;
  }
}

function help({ name, actions, epilogue }: KeyCommand): string {
  const width = Math.max(...actions.map(({ usage }) => usage.length));
  const lines = actions.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`);
  return `Usage: oxbow ${name} ACTION [flags]\n\n${lines.join("\n")}\n\n${epilogue}\n'oxbow ${name} ACTION --help' shows an action's flags.\n`;
}
