/**
 * One slash command and its answer, without a conversation: `oxbow "/cost"`. Some commands are prompts: then the answer is that of the
 * turn.
 */

import { jsonText } from "../../base/json-text.js";
import { safeText } from "../../base/terminal-text.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { EventPayloads } from "../../protocol/events.js";
import { readSlashAnswer, type SlashLine, slashRequest } from "../../protocol/slash-command.js";
import { isWarning, type TurnWatchOptions, watchTurn } from "./one-shot.js";

export type CommandEnd =
  | { readonly exitCode: number }
  | { readonly failure: Failure }
  | { readonly ended: EventPayloads["TurnEnded"] };

export async function runOneCommand({ name, rest }: SlashLine, place: TurnWatchOptions): Promise<CommandEnd> {
  const { client, session, terminal, format } = place;
  const { spinner, end } = watchTurn(place);
  client.subscribe((event) => {
    if (event.kind === "Notice" && !isWarning(event) && format !== "stream-json")
      spinner.start(safeText(event.payload.message));
    if (event.kind === "TurnStarted") spinner.begin("thinking", place.estimateMs);
  });
  spinner.begin(`/${name}`);
  const reply = await client.send("CustomCommand", slashRequest(name, rest), session);
  if (!reply.ok) {
    spinner.stop();
    return { failure: reply.failure };
  }
  const { text, value, exitCode, isTurn, follow } = readSlashAnswer(reply.value);
  if (isTurn) return end();
  spinner.stop();
  if (follow !== undefined) {
    const detail = `/${name} works only in a conversation. Start one with 'oxbow'.`;
    return { failure: failure("InvalidInput", { detail }) };
  }
  if (format === "json") terminal.out.write(`${jsonText({ command: `/${name}`, text, value }, 2)}\n`);
  else if (format === "text" && text !== "") terminal.out.write(`${safeText(text)}\n`);
  return { exitCode };
}
