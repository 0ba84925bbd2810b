/** One slash command and its answer, without a conversation: `oxbow "/cost"`. */
import type { Clock } from "../../base/clock.js";
import { safeText } from "../../base/terminal-text.js";
import type { EngineClient } from "../../protocol/client.js";
import type { Failure } from "../../protocol/errors.js";
import type { SessionId } from "../../protocol/ids.js";
import { isJsonObject } from "../../protocol/json.js";
import type { OutputFormat } from "./one-shot.js";
import { Spinner } from "./spinner.js";
import type { Terminal } from "./terminal.js";

export interface TypedCommand {
  readonly verb: string;
  readonly args: string;
}

export type CommandEnd = { readonly exitCode: number } | { readonly failure: Failure };

/** A slash and a name: `/help`, `/model NAME`, `/route:list`. A path such as `/etc/hosts` is none. */
export function readCommand(input: string): TypedCommand | undefined {
  const [, verb, args = ""] = /^\/([a-z][a-z-]*(?::[a-z][a-z-]*)*)(?:\s+(.*))?$/is.exec(input.trim()) ?? [];
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
): Promise<CommandEnd> {
  const { client, session, terminal, clock, format } = place;
  const spinner = new Spinner(terminal, clock);
  client.subscribe((event) => {
    if (format === "stream-json") terminal.out.write(`${JSON.stringify(event)}\n`);
    else if (event.kind === "Notice") spinner.start(safeText(event.payload.message));
  });
  spinner.begin(`/${verb}`);
  const payload = { namespace: "slash", verb, payload: { args } };
  const reply = await client.send("CustomCommand", payload, session).finally(() => spinner.stop());
  if (!reply.ok) {
    terminal.err.write(`oxbow: ${safeText(reply.failure.message)}\n`);
    return { failure: reply.failure };
  }
  const { text = "", value = null, exit_code: exitCode } = isJsonObject(reply.value) ? reply.value : {};
  if (format === "json") terminal.out.write(`${JSON.stringify({ command: `/${verb}`, text, value }, null, 2)}\n`);
  else if (format === "text" && text !== "") terminal.out.write(`${safeText(String(text))}\n`);
  return { exitCode: typeof exitCode === "number" ? exitCode : 0 };
}
