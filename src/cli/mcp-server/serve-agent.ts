/**
 * Serves an outer agent on standard input and output.
 *
 * With a token in OXBOW_TOKEN it drives the engine that runs in this home. Otherwise it opens an engine of its own, and listens on the
 * control socket if no other process does, so that the user can attach to the sessions.
 */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { VERSION } from "../../base/version.js";
import type { ParsedFlags } from "../../commands/flags.js";
import { confirmationChannels } from "../../control/auth/channels.js";
import { BANNER } from "../../control/transports/mcp-server/server.js";
import { serveMcpStdio } from "../../control/transports/mcp-server/stdio.js";
import type { EngineClient } from "../../protocol/client.js";
import type { SessionId } from "../../protocol/ids.js";
import { McpParents } from "../../security/trust/mcp-parents.js";
import { askOnControllingTerminal } from "../../system/controlling-terminal.js";
import { nodeClock } from "../../system/node-clock.js";
import { parentProgram } from "../../system/parent-process.js";
import { type Roots, roots } from "../../system/xdg-paths.js";
import { EXIT } from "../exit-codes.js";
import { takeProtocolStreams } from "../protocol-streams.js";
import { untilStopped } from "../until-stopped.js";
import { ParentGate } from "./parent-gate.js";

interface Driven {
  readonly client: EngineClient;
  /** Shows people a message; false if none saw it. */
  tell(message: string): void;
  close(): Promise<void>;
}

export async function serveAgent(flags: ParsedFlags, variables: Variables): Promise<number> {
  const streams = takeProtocolStreams("oxbow mcp-server", "another agent");
  const places = roots(variables);
  const driven = variables.OXBOW_TOKEN
    ? await runningEngine(variables, places)
    : await ownEngine(flags, variables, places);
  if ("exit" in driven) return driven.exit;
  const gate = new ParentGate({
    parents: new McpParents(places),
    parent: parentProgram(),
    clock: nodeClock,
    pid: process.pid,
    ask: askOnControllingTerminal,
    tell: (message) => driven.tell(message),
  });
  const log = (message: string) => void process.stderr.write(`oxbow: ${message}\n`);
  log(BANNER);
  const ended = serveMcpStdio({
    ...{ client: driven.client, clock: nodeClock, version: VERSION, log },
    ...streams,
    refusal: (patience) => gate.refusal(patience),
    onSession: (session, agent) => {
      if (gate.attach === "always") driven.tell(startedText(agent, session));
    },
  });
  await untilStopped(ended);
  await driven.close();
  return EXIT.answered;
}

function startedText(agent: string, session: SessionId): string {
  return `The agent ${agent.slice(0, 100)} started the session ${session}. 'oxbow resume ${session}' shows it.`;
}

async function runningEngine(variables: Variables, places: Roots): Promise<Driven> {
  const [{ HttpClient }, { socketExchange }, { controlPlace }] = await Promise.all([
    import("../../clients/sdk/http-client.js"),
    import("../../clients/sdk-node/socket-exchange.js"),
    import("../../runtime/control-place.js"),
  ]);
  const place = controlPlace(places);
  const exchange = socketExchange(place.address());
  const options = { name: "mcp-server", canAnswer: false, token: variables.OXBOW_TOKEN ?? "", place: place.socket };
  const client = await HttpClient.connect({ ...options, exchange });
  if (client.identity !== "agent") {
    client.close();
    throw new UsageError(
      "The token in OXBOW_TOKEN is a person's. Make one for an agent: oxbow token --session ID --identity agent",
    );
  }
  return { client, tell: () => {}, close: async () => client.close() };
}

async function ownEngine(
  flags: ParsedFlags,
  variables: Variables,
  places: Roots,
): Promise<Driven | { readonly exit: number }> {
  const [{ prepare }, { processTerminal }, { Listening }] = await Promise.all([
    import("../run/prepare.js"),
    import("../terminal-io.js"),
    import("../attach/listen.js"),
  ]);
  const terminal = processTerminal(variables);
  // The outer agent may have written this command line, so it can widen nothing: that is for the user's profile.
  const asAgent = { ...variables, OXBOW_AGENT: "1" };
  const prepared = await prepare(flags, { rawTrace: false, skipsUnapproved: true, variables: asAgent, terminal });
  if ("exit" in prepared) return prepared;
  const { engine } = prepared;
  for (const feature of ["mcpserver_stdio", "auto_attach_on_mcp"]) engine.host.addFeature(feature);
  // Always an agent's: no setting and no token makes this client answer a question.
  const identity = { identity: "agent", canAnswer: false, transport: "mcp" } as const;
  const client = engine.host.connect({ id: engine.newClientId(), ...identity, name: "mcp-server" });
  const channels = confirmationChannels("auto", {
    tellPeople: (message, except) => engine.host.tellPeople(message, except),
    variables,
  }).filter(({ name }) => name !== "tty");
  const log = (_level: string, _area: string, message: string) => void process.stderr.write(`oxbow: ${message}\n`);
  const listening = new Listening({ engine, client, roots: places, variables, log });
  listening.begin();
  return {
    client,
    tell: (message) => {
      for (const channel of channels) void Promise.resolve(channel.show(message, client.id)).catch(() => {});
    },
    close: async () => {
      await engine.close();
      await listening.close();
    },
  };
}
