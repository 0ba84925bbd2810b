/** `oxbow acp`: Oxbow in an editor. */

import type { Variables } from "../../base/variables.js";
import { VERSION } from "../../base/version.js";
import { connectInProcess } from "../../control/transports/inproc.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { ACP } from "../../runtime/commands/program.js";
import { EXIT } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { SERVED_RUN_FLAGS } from "./run-flags.js";

export const shell: ShellCommand = {
  name: "acp",
  specs: [{ ...ACP, shellFlags: SERVED_RUN_FLAGS }],
  about: `Runs Oxbow as an agent in an editor that speaks the Agent Client Protocol, such as Zed, JetBrains IDEs and Neovim.
The editor starts this command; the flags apply to all its sessions. docs/editors.md shows how to set editors up.`,
  printsItself: true,
  open: async (flags, variables) => ({
    commands: [],
    terminalCommands: [{ ...ACP, take: () => serve(flags, variables) }],
  }),
};

/** A long answer of the offline model can be read along and cancelled, like that of any other model. */
const LINE_MS = 40;

/** Images of a prompt are in the message. */
const MOST_MESSAGE_BYTES = 64 * 1024 * 1024;

export const run = shellRunner(shell);

async function serve(flags: ParsedFlags, variables: Variables): Promise<number> {
  const { takeProtocolStreams, webStreams } = await import("../protocol-streams.js");
  const streams = takeProtocolStreams({
    ...{ command: "oxbow acp", starter: "an editor" },
    mostMessageBytes: MOST_MESSAGE_BYTES,
  });
  const [{ prepare }, { processTerminal }, { serveAcp }, untrusted, { randomBytes }, { isInsideEngine }] =
    await Promise.all([
      import("../run/prepare.js"),
      import("../terminal-io.js"),
      import("../../control/transports/acp/agent.js"),
      import("../../security/untrusted/untrusted.js"),
      import("node:crypto"),
      import("../../system/model-ancestors.js"),
    ]);
  const terminal = processTerminal(variables);
  const conversation = { rawTrace: false, isConversation: true, skipsUnapproved: true, offlineLineMs: LINE_MS };
  const prepared = await prepare(flags, { ...conversation, variables, terminal });
  const { engine } = prepared;
  // If a model starts this command, the answers do not come from a person.
  const answers = !isInsideEngine(variables);
  const client = connectInProcess(engine.host, {
    id: engine.newClientId(),
    identity: answers ? "human" : "agent",
    canAnswer: answers,
  });
  const mark = untrusted.createMark(randomBytes);
  const ended = serveAcp({
    ...webStreams(streams),
    client,
    version: VERSION,
    delimit: (outside) => untrusted.wrapUntrusted({ ...outside, kind: "editor-context" }, mark),
    log: (message) => printMessage(message),
  });
  const [{ untilStopped }, { Listening }, { roots }] = await Promise.all([
    import("../until-stopped.js"),
    import("../attach/listen.js"),
    import("../../system/xdg-paths.js"),
  ]);
  const log = (_level: string, _area: string, message: string) => printMessage(message);
  const listening = new Listening({ engine, client, roots: roots(variables), variables, log });
  // The engine would write a person's token.
  if (answers) listening.begin();
  await untilStopped(ended);
  await engine.close();
  await listening.close();
  return EXIT.answered;
}
