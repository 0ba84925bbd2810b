/** One slash command and its answer, without a conversation: `oxbow "/cost"`. */
import type { Clock } from "../../base/clock.js";
import { safeText } from "../../base/terminal-text.js";
import type { CommandReply, EngineClient } from "../../protocol/client.js";
import type { Failure } from "../../protocol/errors.js";
import { failure } from "../../protocol/errors.js";
import type { SessionId } from "../../protocol/ids.js";
import { isJsonObject } from "../../protocol/json.js";
import type { OutputFormat } from "./one-shot.js";
import { Spinner } from "./spinner.js";
import type { Terminal } from "./terminal.js";

export interface TypedCommand {
  readonly verb: string;
  readonly args: string;
}

/** Commands of the line client itself, which mean nothing where no conversation is open. */
const IN_CONVERSATION = ["clear", "queue", "cancel", "exit", "quit", "bye", "shell"];

/** A slash and a word: `/help`, `/model NAME`. A path such as `/etc/hosts` is none. */
export function readCommand(input: string): TypedCommand | undefined {
  const [, verb, args = ""] = /^\/([a-z][a-z-]*)(?:\s+(.*))?$/is.exec(input.trim()) ?? [];
  return verb === undefined ? undefined : { verb: verb.toLowerCase(), args };
}

export async function runOneCommand(
  { verb, args }: TypedCommand,
  place: {
    readonly client: EngineClient;
    readonly session: SessionId;
    readonly terminal: Terminal;
    readonly clock: Clock;
    readonly format: OutputFormat;
  },
): Promise<Failure | undefined> {
  const { client, session, terminal, clock, format } = place;
  const spinner = new Spinner(terminal, clock);
  client.subscribe((event) => {
    if (format === "stream-json") terminal.out.write(`${JSON.stringify(event)}\n`);
    else if (event.kind === "Notice") spinner.start(safeText(event.payload.message));
  });
  spinner.begin(`/${verb}`);
  const payload = { namespace: "slash", verb, payload: { args } };
  const reply: CommandReply = IN_CONVERSATION.includes(verb)
    ? { ok: false, failure: onlyInConversation(verb) }
    : await client.send("CustomCommand", payload, session).finally(() => spinner.stop());
  spinner.stop();
  if (!reply.ok) {
    terminal.err.write(`oxbow: ${safeText(reply.failure.message)}\n`);
    return reply.failure;
  }
  const said = isJsonObject(reply.value) && typeof reply.value.text === "string" ? reply.value.text : "";
  if (format === "json") terminal.out.write(`${JSON.stringify({ command: `/${verb}`, text: said }, null, 2)}\n`);
  else if (format === "text" && said !== "") terminal.out.write(`${safeText(said)}\n`);
  return undefined;
}

function onlyInConversation(verb: string): Failure {
  return failure("InvalidInput", { detail: `/${verb} works only in a conversation. 'oxbow' starts one.` });
}
