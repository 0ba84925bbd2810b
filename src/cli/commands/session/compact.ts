import { jsonText } from "../../../base/json-text.js";
import { safeText } from "../../../base/terminal-text.js";
import { Spinner } from "../../../clients/headless/spinner.js";
import type { ParsedFlags } from "../../../feature/flags.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { SessionId } from "../../../protocol/ids.js";
import { readSlashAnswer, slashRequest } from "../../../protocol/slash-command.js";
import { nodeClock } from "../../../system/node-clock.js";
import { EXIT, exitCodeOfFailure } from "../../exit-codes.js";
import type { OpenSessions } from "./open-sessions.js";
import { resuming } from "./resume.js";

/** `/compact` and `/summarize --show` for a session that is not open. */
export async function compact(
  id: SessionId,
  options: { readonly flags: ParsedFlags; readonly words: string; readonly sessions: OpenSessions },
): Promise<number> {
  const { flags, words, sessions } = options;
  // The run opens the store itself.
  await sessions.close();
  const { inSession } = await import("../run.js");
  return inSession(resuming(flags, id, []), sessions.variables, async ({ client, session, terminal }) => {
    let shortened: EventPayloads["CompactionTriggered"] | undefined;
    const spinner = new Spinner(terminal, nodeClock);
    client.subscribe((event) => {
      if (event.kind === "CompactionTriggered") shortened = event.payload;
      if (event.kind !== "Notice") return;
      const { level, message } = event.payload;
      if (level === "progress") spinner.start(message);
      else terminal.err.write(`oxbow: ${safeText(message)}\n`);
    });
    const verb = flags.has("dry-run") ? "summarize" : "compact";
    const args = verb === "summarize" ? `--show -- ${words}` : words;
    const reply = await client.send("CustomCommand", slashRequest(verb, args), session).finally(() => spinner.stop());
    if (!reply.ok) {
      terminal.err.write(`oxbow: ${safeText(reply.failure.message)}\n`);
      return exitCodeOfFailure(reply.failure);
    }
    const { text } = readSlashAnswer(reply.value);
    const result =
      verb === "summarize" ? { summary: text } : { shortened: shortened !== undefined, ...outcome(shortened) };
    terminal.out.write(flags.has("json") ? `${jsonText({ session, ...result }, 2)}\n` : `${safeText(text)}\n`);
    return EXIT.answered;
  });
}

function outcome(event: EventPayloads["CompactionTriggered"] | undefined) {
  const { tokens, summary } = event ?? {};
  return { ...(tokens && { tokens }), ...(summary !== undefined && { summary }) };
}
