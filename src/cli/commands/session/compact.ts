import { Spinner } from "../../../clients/headless/spinner.js";
import type { ParsedFlags } from "../../../commands/flags.js";
import type { EventPayloads } from "../../../protocol/events.js";
import { isJsonObject } from "../../../protocol/json.js";
import { nodeClock } from "../../../system/node-clock.js";
import { EXIT, exitCodeOfFailure } from "../../exit-codes.js";
import { RUN_FLAGS } from "../run-flags.js";
import type { SessionAction } from "./session-action.js";

const MODEL_FLAGS: readonly string[] = [
  "model",
  "provider",
  "wait",
  "orphan",
  "orphan-note",
  "budget",
  "retry-wait",
  "timeout",
];

/** `/compact` and `/summarize` for a session that nobody has open (feature X7). */
export const action: SessionAction = {
  flags: [
    { name: "dry-run", help: "show a summary of it; the session stays as it is" },
    ...RUN_FLAGS.filter(({ name }) => MODEL_FLAGS.includes(name)),
  ],
  async run(flags, sessions) {
    const { id } = await sessions.named(flags);
    // The run opens the store itself.
    await sessions.close();
    const { inSession } = await import("../run.js");
    return inSession(resuming(flags, id), sessions.variables, async ({ client, session, terminal }) => {
      let shortened: EventPayloads["CompactionTriggered"] | undefined;
      const spinner = new Spinner(terminal, nodeClock);
      client.subscribe((event) => {
        if (event.kind === "CompactionTriggered") shortened = event.payload;
        if (event.kind === "Notice") spinner.start(event.payload.message);
      });
      const verb = flags.has("dry-run") ? "summarize" : "compact";
      const payload = { namespace: "slash", verb, payload: { args: flags.words.slice(1).join(" ") } };
      const reply = await client.send("CustomCommand", payload, session).finally(() => spinner.stop());
      if (!reply.ok) {
        terminal.err.write(`oxbow: ${reply.failure.message}\n`);
        return exitCodeOfFailure(reply.failure);
      }
      const said = isJsonObject(reply.value) && typeof reply.value.text === "string" ? reply.value.text : "";
      const told =
        verb === "summarize" ? { summary: said } : { shortened: shortened !== undefined, ...outcome(shortened) };
      terminal.out.write(flags.has("json") ? `${JSON.stringify({ session, ...told }, null, 2)}\n` : `${said}\n`);
      return EXIT.answered;
    });
  },
};

function outcome(event: EventPayloads["CompactionTriggered"] | undefined) {
  const { tokens, summary } = event ?? {};
  return { ...(tokens && { tokens }), ...(summary !== undefined && { summary }) };
}

function resuming(flags: ParsedFlags, id: string): ParsedFlags {
  return {
    ...flags,
    has: (name) => name === "resume" || flags.has(name),
    text: (name) => (name === "resume" ? id : flags.text(name)),
  };
}
