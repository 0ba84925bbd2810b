/**
 * The engine of a home in a process of its own. The first client starts it; every terminal is its client.
 *
 * 1. It has no terminal, works in `/`, and its environment has no key. What opens the store comes through a pipe.
 * 2. Of two that start at once, one becomes the engine; the other ends.
 * 3. It ends when no client has followed a session and no turn has run for `engine_idle_timeout`, at a signal, and at once when its
 *    socket is gone. SIGUSR2 asks it to end as soon as it has nothing to do. The credential helper ends with it.
 */

import { lstatSync, watch } from "node:fs";
import type { Variables } from "../../base/variables.js";
import type { ServiceLog } from "../../control/auth/refused-tokens.js";
import { ControlOwner } from "../../control/control-owner.js";
import { controlPlace, ownersMark } from "../../control/control-place.js";
import type { Host } from "../../control/host.js";
import { parseFlags } from "../../feature/flags.js";
import { mcpMountOf } from "../../runtime/mcp-mount.js";
import { serveEngine } from "../../runtime/serve.js";
import { nodeClock } from "../../system/node-clock.js";
import { roots } from "../../system/xdg-paths.js";
import { RUN_FLAGS } from "../commands/run-flags.js";
import { EXIT } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { prepare } from "../run/prepare.js";
import { surviveStrayErrors } from "../serve/stray-errors.js";
import { processTerminal } from "../terminal-io.js";
import { webFolder } from "../web/web-folder.js";
import { RETIRES } from "./start-engine.js";

/** The flags of the engine itself. Its default place is never used for a session: each brings its own or gets one by the settings. */
const OWN_FLAGS = ["--cwd", "/", "--provider", "offline", "--skip-unapproved"];

export async function runEngine(given: Variables): Promise<number> {
  const variables = { ...given, ...(await secretsFromPipe()) };
  const owner = await ControlOwner.claim(controlPlace(roots(variables)), nodeClock);
  if (owner === undefined) return EXIT.answered;
  const restore = surviveStrayErrors(process, { clock: nodeClock, report: (line) => printMessage(line) });
  try {
    return await serveUntilIdle(variables, owner);
  } finally {
    owner.close();
    restore();
  }
}

async function serveUntilIdle(variables: Variables, owner: ControlOwner): Promise<number> {
  const flags = parseFlags(RUN_FLAGS, OWN_FLAGS, "engine");
  const terminal = processTerminal(variables, {});
  const prepared = await prepare(flags, { rawTrace: false, variables, terminal, isDetached: true });
  const { engine, loaded } = prepared;
  engine.host.addFeature(RETIRES);
  const log: ServiceLog = (component, message, fields) => prepared.log("info", component, message, fields);
  const mcp = mcpMountOf(engine, { variables, log });
  const served = await serveEngine(engine, {
    ...{ roots: loaded.roots, settings: loaded.settings, variables, owner, log, mounts: [mcp], authChannel: "client" },
    web: webFolder(),
  });
  served.tokens.onRevoke((jti) => mcp.drop(jti));
  const isWatched = () => nodeClock.now() - served.webAskedAt() < WEB_MS;
  const why = await ending(
    { isIdle: () => engine.host.isIdle() && !isWatched() },
    {
      idleMs: loaded.settings.engine_idle_timeout.value,
      place: controlPlace(loaded.roots),
    },
  );
  log("control", "the engine ends", { why });
  await engine.close();
  await served.close();
  const { runningHelper } = await import("../../security/credentials/helper/running-helper.js");
  await (await runningHelper(variables))?.leave();
  return EXIT.answered;
}

const LOOK_MS = 5000;
/** `oxbow web` asks more often. */
const WEB_MS = 30_000;

type Ending = "signal" | "idle" | "socket gone";

function ending(
  host: Pick<Host, "isIdle">,
  { idleMs, place }: { readonly idleMs: number | undefined; readonly place: ReturnType<typeof controlPlace> },
): Promise<Ending> {
  return new Promise((resolve) => {
    let since = nodeClock.now();
    let patience = idleMs ?? Number.POSITIVE_INFINITY;
    const mark = ownersMark(place);
    const look = () => {
      if (!isThere(place.socket) || ownersMark(place) !== mark) resolve("socket gone");
      if (!host.isIdle()) since = nodeClock.now();
      else if (nodeClock.now() - since >= patience) resolve("idle");
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(EXIT.cancelled));
        resolve("signal");
      });
    }
    process.on("SIGHUP", () => {});
    process.on("SIGUSR2", () => {
      patience = 0;
      look();
    });
    // A home that was deleted takes its folder along, so the watch ends with an event or an error.
    watch(place.folder, look).on("error", look).unref();
    const again = () => {
      look();
      nodeClock.after(Math.min(LOOK_MS, patience), again);
    };
    again();
  });
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

async function secretsFromPipe(): Promise<Variables> {
  let text = "";
  for await (const piece of process.stdin.setEncoding("utf8")) text += piece;
  return text === "" ? {} : (JSON.parse(text) as Variables);
}
