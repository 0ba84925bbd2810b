/** A line typed during a turn: goes to the model with its next results, unless it is a command. */

import { readTypedInput } from "../../base/typed-input.js";
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

export async function takeDuringTurn(typed: TypedLine, place: DuringTurn): Promise<void> {
  const { client, session, lines, clientAction, echo, complain } = place;
  const line = typed.text.trim();
  if (line === "") return;
  const input = readTypedInput(line);
  const isCommand = input.kind !== "prompt" && typed.isWords !== true;
  const { name = "", rest = "" } = isCommand && input.kind === "slash" ? input : {};
  const action = clientAction(name);
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
