/** Slash commands: the line that a person types, the request that runs it, and its answer. */
import type { CommandPayloads } from "./commands.js";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";

export interface SlashLine {
  readonly name: string;
  /** The text behind the name. */
  readonly rest: string;
}

/**
 * `/help`, `/ help`, `/model NAME`, `/skills:pdf`; undefined for text. A first word with another slash is a path, and a path is
 * text. So is a comment of code (`/*`).
 */
export function readSlashLine(line: string): SlashLine | undefined {
  const [, name, rest = ""] = /^\/\s*([^\s/*]*)(?:\s+(.*))?$/s.exec(line) ?? [];
  return name === undefined ? undefined : { name, rest };
}

/** `columns`: the width of the screen, for tables. */
export function slashRequest(
  name: string,
  args: string,
  screen: { readonly columns?: number } = {},
): CommandPayloads["CustomCommand"] {
  return { namespace: "slash", verb: name, payload: { args, ...screen } };
}

export interface SlashAnswer {
  readonly text: string;
  /** The same as data. */
  readonly value: JsonValue;
  readonly exitCode: number;
  /** The command stands for a prompt: a turn has begun. */
  readonly isTurn: boolean;
  /** The client continues with this session. */
  readonly follow?: CommandPayloads["CreateSession"];
}

/** The value of the reply to a slash command. */
export function readSlashAnswer(reply: JsonValue | undefined): SlashAnswer {
  const answer: JsonObject = isJsonObject(reply) ? reply : {};
  const { text, value = null, exit_code: exitCode, state, follow } = answer;
  return {
    text: typeof text === "string" ? text : "",
    value,
    exitCode: typeof exitCode === "number" ? exitCode : 0,
    isTurn: state === "started",
    ...(isJsonObject(follow) && { follow }),
  };
}
