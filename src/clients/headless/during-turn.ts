/** A line typed during a turn: goes to the model with its next results, unless it is a command. */
import type { ClientAction } from "../../base/client-action.js";
import type { CommandReply, EngineClient } from "../../protocol/client.js";
import { text } from "../../protocol/content.js";
import type { SessionId } from "../../protocol/ids.js";
import type { LineSource, ReplOptions, TypedLine } from "./repl-options.js";

export interface DuringTurn extends Pick<ReplOptions, "clientAction"> {
  readonly client: EngineClient;
  readonly session: SessionId | undefined;
  readonly lines: LineSource;
  /** Shows the line, and when it will be sent. */
  readonly echo: (line: string, what: string) => void;
  readonly complain: (reply: CommandReply) => void;
}

interface SlashLine {
  readonly name: string;
  readonly rest: string;
  readonly action: ClientAction | undefined;
}

/** Whether a line is a command: a first word with another slash is a path, and a path is text. */
export function isSlashLine(line: string): boolean {
  return /^\/[^\s/]*(?:\s|$)/.test(line);
}

/** A line that begins with a slash. */
export function readSlash(input: string, clientAction: ReplOptions["clientAction"]): SlashLine {
  const [, name = "", rest = ""] = /^\/\s*(\S*)\s*(.*)$/s.exec(input) ?? [];
  return { name, rest, action: clientAction(name) };
}

export async function takeDuringTurn(typed: TypedLine, place: DuringTurn): Promise<void> {
  const { client, session, lines, clientAction, echo, complain } = place;
  const line = typed.text.trim();
  if (line === "") return;
  const isCommand = (line.startsWith("!") || isSlashLine(line)) && typed.isWords !== true;
  const { action, rest } = isCommand ? readSlash(line, clientAction) : { action: undefined, rest: "" };
  const queued = action === "queue" && rest !== "" ? rest : undefined;
  if (action === "cancel") return void client.send("CancelTurn", {}, session);
  if (queued === undefined && isCommand) {
    lines.keep(typed);
    return echo(line, "(after this turn)");
  }
  const delivery = queued === undefined ? { steer: true } : { queue: true };
  const reply = await client.send("SendInput", { content: [text(queued ?? line)], ...delivery }, session);
  if (reply.ok) echo(line, queued === undefined ? "(the model gets it after its current calls)" : "(after this turn)");
  complain(reply);
}
