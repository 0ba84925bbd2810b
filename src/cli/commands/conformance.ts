/** `oxbow conformance`: checks a server against the protocol. */
import { resolve } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { controlPlace, isOwnSocket, ownersToken } from "../../control/control-place.js";
import { asValue, COMMAND_EXIT, type Command, type CommandContext } from "../../feature/command.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { CONFORMANCE } from "../../runtime/commands/program.js";
import { readGivenFileSync } from "../../system/given-file.js";
import { isInsideEngine } from "../../system/model-ancestors.js";
import { nodeClock } from "../../system/node-clock.js";
import { roots } from "../../system/xdg-paths.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "conformance",
  specs: [CONFORMANCE],
  about: `Runs the scenarios of the protocol against a server and reports which rules it breaks.
The model behind the server must give the answers that the scenarios need. --serve-model runs such a model while the suite runs.
Start the server with it, and with permissions that ask:

  ANTHROPIC_BASE_URL=http://127.0.0.1:4100 ANTHROPIC_API_KEY=any oxbow serve --provider anthropic --permission-mode ask --listen 127.0.0.1:4096
  OXBOW_TOKEN=… oxbow conformance --against http://127.0.0.1:4096 --serve-model 4100

--model-script prints the answers, for a server with a model of its own. --list prints the scenarios.
OXBOW_TOKEN or --token-file gives the token of a person; the engine of this home needs neither (--against unix:PATH, as 'oxbow status' shows it). For a server that does not let a client call itself an agent, --agent-token-file gives one of an agent.`,
  more: "Exit codes: 0 every rule holds · 1 a rule is broken · 2 wrong usage. docs/protocol.md describes the protocol.",
  open: async (flags, variables) => ({ commands: [conformanceCommand(flags, variables)] }),
};

export const run = shellRunner(shell);

function conformanceCommand(flags: ParsedFlags, variables: Variables): Command {
  return {
    ...CONFORMANCE,
    run: async (_args, context) => {
      if (flags.has("list")) return listScenarios();
      if (flags.has("model-script")) {
        const { conformanceScript } = await import("../../testkit/conformance/protocol/model-script.js");
        const script = conformanceScript();
        return { text: script.trimEnd(), value: script };
      }
      return check(flags, variables, context);
    },
  };
}

async function listScenarios() {
  const { SCENARIOS } = await import("../../testkit/conformance/protocol/suite.js");
  const value = SCENARIOS.map(({ name, rule, since, feature, needs }) => ({
    ...{ name, rule, since },
    ...(feature !== undefined && { feature }),
    ...(needs !== undefined && { needs }),
  }));
  return { text: SCENARIOS.map(({ name, rule }) => `${name}: ${rule}`).join("\n"), value: asValue(value) };
}

async function check(flags: ParsedFlags, variables: Variables, context: CommandContext) {
  const against = flags.text("against");
  if (against === undefined) throw new UsageError("conformance needs --against ADDRESS.");
  const [{ openTransport, unixPath }, { runSuite }, { outcomeLines, summaryLine }] = await Promise.all([
    import("../../testkit/conformance/protocol/transports/open-transport.js"),
    import("../../testkit/conformance/protocol/suite.js"),
    import("../../testkit/conformance/protocol/report.js"),
  ]);
  const model = await serveModel(flags.text("serve-model"));
  const human =
    fileText(flags, "token-file") ?? variables.OXBOW_TOKEN ?? tokenOfOwnEngine(unixPath(against), variables);
  const agent = fileText(flags, "agent-token-file");
  const transport = await openTransport(against, {
    tokens: { ...(human && { human }), ...(agent && { agent }) },
    ca: fileText(flags, "ca"),
    environment: { ...variables, ...model?.variables },
  });
  try {
    const running = runSuite(transport, {
      clock: nodeClock,
      only: flags.text("only"),
      onResult: (outcome) => {
        if (outcome.result.state === "failed") for (const line of outcomeLines(outcome)) context.warn(line);
      },
    });
    const report = await Promise.race([running, aborted(context.signal)]);
    if (report === undefined) return { text: "", value: null };
    const text = [...report.scenarios.flatMap(outcomeLines), "", summaryLine(report)].join("\n");
    return { text, value: asValue(report), ...(report.failed > 0 && { exitCode: COMMAND_EXIT.failed }) };
  } finally {
    await Promise.race([transport.close(), aborted(context.signal)]);
    await model?.close();
  }
}

/** A server may never answer; the program ends after a signal, and with it what still runs. */
function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined));
  });
}

/** The owner's token, if this is the socket of the engine of this home. A command of a model does not get it. */
function tokenOfOwnEngine(path: string | undefined, variables: Variables): string | undefined {
  const place = controlPlace(roots(variables));
  if (path === undefined || resolve(path) !== place.socket || isInsideEngine(variables)) return undefined;
  return isOwnSocket(place) ? ownersToken(place) : undefined;
}

async function serveModel(port: string | undefined) {
  if (port === undefined) return undefined;
  if (!/^\d{1,5}$/.test(port)) throw new UsageError("--serve-model takes a port.");
  const [{ startMockModel, parseScript }, { conformanceScript }] = await Promise.all([
    import("../../testkit/index.js"),
    import("../../testkit/conformance/protocol/model-script.js"),
  ]);
  const model = await startMockModel({ script: parseScript(conformanceScript()), port: Number(port) });
  const { url } = model;
  const variables = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "any", OXBOW_PROVIDER: "anthropic" };
  return { variables, close: () => model.close() };
}

function fileText(flags: ParsedFlags, name: string): string | undefined {
  const path = flags.text(name);
  if (path === undefined) return undefined;
  try {
    return readGivenFileSync(path).toString("utf8").trim();
  } catch (error) {
    throw new UsageError(`--${name}: ${(error as Error).message}`);
  }
}
