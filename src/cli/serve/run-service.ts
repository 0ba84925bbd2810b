/** Starts the service, prints where it listens, and ends it in good order on a signal. */

import { jsonText } from "../../base/json-text.js";
import { safeText } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { AUTH_CHANNELS, type AuthChannel } from "../../control/auth/channels.js";
import type { ServiceLog } from "../../control/auth/refused-tokens.js";
import type { AnsweredRequest } from "../../control/transports/http/server.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { ONCE } from "../../runtime/commands/engine.js";
import { mcpMountOf } from "../../runtime/mcp-mount.js";
import { type ServedEngine, serveEngine } from "../../runtime/serve.js";
import { endProgram } from "../../system/end-program.js";
import { isInsideEngine } from "../../system/model-ancestors.js";
import { nodeClock } from "../../system/node-clock.js";
import { roots } from "../../system/xdg-paths.js";
import { EXIT } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { type Prepared, prepare } from "../run/prepare.js";
import { processTerminal } from "../terminal-io.js";
import { webFolder } from "../web/web-folder.js";
import { surviveStrayErrors } from "./stray-errors.js";

const INSIDE = "'oxbow serve' is for people and does not run inside another Oxbow. Run it in a separate terminal.";

export async function runService(flags: ParsedFlags, variables: Variables): Promise<number> {
  // The engine would write a person's token.
  if (isInsideEngine(variables)) throw new UsageError(INSIDE);
  const report = (line: string) => printMessage(line);
  const restore = surviveStrayErrors(process, { clock: nodeClock, report });
  try {
    return await serveUntilStopped(flags, variables);
  } finally {
    restore();
  }
}

async function serveUntilStopped(flags: ParsedFlags, variables: Variables): Promise<number> {
  const terminal = processTerminal(variables, { verbose: flags.has("verbose") });
  const prepared = await prepare(flags, { rawTrace: false, variables, terminal });
  const { engine } = prepared;
  const stopped = stopSignal();
  let served: ServedEngine | undefined;
  let simple: { close(): Promise<void> } | undefined;
  try {
    const isStdio = flags.has("stdio");
    const say = (line: string) => void (isStdio ? process.stderr : process.stdout).write(`${line}\n`);
    served = await listen(prepared, { flags, variables });
    for (const address of served?.addresses ?? []) say(`listening on ${address}`);
    if (flags.has("web")) {
      if (served === undefined) throw new UsageError("--web and --stdio contradict each other.");
      say(`web client at ${(await served.openWeb({})).url}`);
      printMessage(`${ONCE} 'oxbow web' prints another one.`);
    }
    simple = await simpleSurface(prepared, { flags, variables, say });
    if (isStdio) {
      const { serveStdio } = await import("./stdio.js");
      await Promise.race([serveStdio(engine, { variables, tokens: served?.tokens }), stopped]);
    } else {
      if (served === undefined && simple === undefined) {
        throw new UsageError("There is nothing to listen on: add --listen HOST:PORT, --simple HOST:PORT or --stdio.");
      }
      await stopped;
      printMessage("ending …");
    }
    return EXIT.answered;
  } finally {
    await simple?.close();
    // Readers get the ends of their sessions before their connections end.
    await engine.close();
    await served?.close();
  }
}

/** Undefined if the flags leave nothing to listen on. */
async function listen(
  prepared: Prepared,
  { flags, variables }: { readonly flags: ParsedFlags; readonly variables: Variables },
): Promise<ServedEngine | undefined> {
  const { engine } = prepared;
  const addresses = flags.list("listen");
  const socket = !flags.has("no-socket") && !flags.has("stdio");
  if (!socket && addresses.length === 0 && (!flags.has("web") || flags.has("stdio"))) return undefined;
  const log = serviceLog(prepared);
  const mcp = mcpMountOf(engine, { variables, log });
  const served = await serveEngine(engine, {
    ...{ roots: roots(variables), settings: prepared.loaded.settings },
    ...{ log, mounts: [mcp] },
    web: webFolder(),
    ...{ variables, socket, listen: addresses, origins: flags.list("origin"), authChannel: channelOf(flags) },
    tlsCert: flags.text("tls-cert"),
    tlsKey: flags.text("tls-key"),
    authTokenFile: flags.text("auth-token-file"),
    ...(flags.has("verbose") && { onRequest: logRequest }),
  });
  served.tokens.onRevoke((jti) => mcp.drop(jti));
  return served;
}

/** Faults and refused tokens go to the person who watches the service, and to Oxbow's log. */
function serviceLog({ log }: Prepared): ServiceLog {
  return (component, message, fields = {}) => {
    printMessage(`${message} ${jsonText(fields)}`);
    log("warn", component, message, fields);
  };
}

function logRequest({ method, path, status, ms }: AnsweredRequest): void {
  printMessage(`${method} ${safeText(path)} ${status} ${ms} ms`);
}

function channelOf(flags: ParsedFlags): AuthChannel {
  const given = flags.text("auth-channel") ?? "auto";
  const channel = AUTH_CHANNELS.find((name) => name === given);
  if (channel === undefined) throw new UsageError(`--auth-channel takes ${AUTH_CHANNELS.join(", ")}, not "${given}".`);
  return channel;
}

async function simpleSurface(
  prepared: Prepared,
  { flags, variables, say }: { flags: ParsedFlags; variables: Variables; say: (line: string) => void },
): Promise<{ close(): Promise<void> } | undefined> {
  const place = flags.text("simple");
  if (place === undefined) return undefined;
  const { serveSimple } = await import("./simple.js");
  const { state } = roots(variables);
  const log = serviceLog(prepared);
  const server = await serveSimple(prepared, {
    place,
    origins: flags.list("origin"),
    state,
    log: (...refused) => log("auth", ...refused),
  });
  say(`listening on ${server.url} (simple; its token is in ${server.tokenFile})`);
  return server;
}

/** Resolves with the first signal. The second one ends the program at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (asked) endProgram(EXIT.cancelled);
        asked = true;
        resolve();
      });
    }
  });
}
