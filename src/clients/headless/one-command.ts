/**
 * One slash command and its answer, without a conversation: `oxbow "/cost"`. Some commands are prompts: then the answer is that of the
 * turn.
 */

import { jsonText } from "../../base/json-text.js";
import { safeText } from "../../base/terminal-text.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { EventPayloads } from "../../protocol/events.js";
import { isJsonObject } from "../../protocol/json.js";
import { type TurnWatchOptions, watchTurn } from "./one-shot.js";

export interface TypedCommand {
  readonly verb: string;
  readonly args: string;
}

export type CommandEnd =
  | { readonly exitCode: number }
  | { readonly failure: Failure }
  | { readonly ended: EventPayloads["TurnEnded"] };

/** A slash and a name: `/help`, `/ help`, `/model NAME`, `/skills:pdf-2`. A path such as `/etc/hosts` is not a command. */
export function readCommand(input: string): TypedCommand | undefined {
  const [, verb, args = ""] =
    /^\/\s*(\p{L}[\p{L}\p{N}_.-]*(?::[\p{L}\p{N}_.-]+)*|$)(?:\s+(.*))?$/su.exec(input.trim()) ?? [];
  return verb === undefined ? undefined : { verb, args };
}

export async function runOneCommand({ verb, args }: TypedCommand, place: TurnWatchOptions): Promise<CommandEnd> {
  const { client, session, terminal, format } = place;
  const { spinner, end } = watchTurn(place);
  client.subscribe((event) => {
    if (event.kind === "Notice" && format !== "stream-json") spinner.start(safeText(event.payload.message));
    if (event.kind === "TurnStarted") spinner.begin("thinking", place.estimateMs);
  });
  spinner.begin(`/${verb}`);
  const payload = { namespace: "slash", verb, payload: { args } };
  const reply = await client.send("CustomCommand", payload, session);
  if (!reply.ok) {
    spinner.stop();
    terminal.err.write(`oxbow: ${safeText(reply.failure.message)}\n`);
    return { failure: reply.failure };
  }
  const answer = isJsonObject(reply.value) ? reply.value : {};
  const { text = "", value = null, exit_code: exitCode, state, follow } = answer;
  if (state === "started") return end();
  spinner.stop();
  if (follow !== undefined) {
    const detail = `/${verb} works only in a conversation. Start one with 'oxbow'.`;
    terminal.err.write(`oxbow: ${safeText(detail)}\n`);
    return { failure: failure("InvalidInput", { detail }) };
  }
  if (format === "json") terminal.out.write(`${jsonText({ command: `/${verb}`, text, value }, 2)}\n`);
  else if (format === "text" && text !== "") terminal.out.write(`${safeText(String(text))}\n`);
  return { exitCode: typeof exitCode === "number" ? exitCode : 0 };
}
