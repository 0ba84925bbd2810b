/** Reaches the engine of this home, and starts one as a process of its own if none runs. */
import { spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import { nodeClock } from "../../system/node-clock.js";
import { roots } from "../../system/xdg-paths.js";
import { type Reached, type ReachOptions, reachEngine } from "../attach/reach.js";

/** Lists what an engine needs of the environment of the client that starts it. No key, and nothing that a session could want otherwise. */
const KEPT = [
  ..."PATH HOME USER LOGNAME LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME".split(
    " ",
  ),
  ..."XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY NODE_EXTRA_CA_CERTS SSL_CERT_FILE".split(" "),
  ..."OXBOW_HOME OXBOW_STORE OXBOW_SESSIONS OXBOW_LOG".split(" "),
  ..."NO_PROXY no_proxy".split(" "),
];
/** They go through a pipe: the environment of a process can be read by others of the same user. The address of a proxy may have a password. */
const SECRET = [
  ..."OXBOW_MACHINE_KEY OXBOW_PASSPHRASE OXBOW_CATALOGUE_URL".split(" "),
  ..."HTTPS_PROXY HTTP_PROXY ALL_PROXY https_proxy http_proxy all_proxy".split(" "),
];

/** The feature of an engine that ends at SIGUSR2 as soon as it has nothing to do. */
export const RETIRES = "retires";

const PATIENCE_MS = 20_000;
const PAUSE_MS = 20;

export type Started = Extract<Reached, { readonly kind: "connected" }> | { readonly failed: string };

export async function startEngine(variables: Variables, options: ReachOptions): Promise<Started> {
  const found = await reachEngine(variables, options);
  if (found.kind === "connected") return found;
  if (found.kind === "unreachable" && !found.isStarting) return { failed: `process ${found.pid}: ${found.reason}.` };
  const folder = join(roots(variables).state, "log");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "engine.log");
  const log = openSync(path, "a", 0o600);
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", "engine"], {
    cwd: "/",
    env: only(variables, KEPT),
    detached: true,
    stdio: ["pipe", log, log],
  });
  let ended = false;
  child.on("error", () => {
    ended = true;
  });
  child.on("exit", (code) => {
    ended = code !== 0;
  });
  child.stdin?.on("error", () => {});
  child.stdin?.end(JSON.stringify(only(variables, SECRET)));
  child.unref();
  for (const until = nodeClock.now() + PATIENCE_MS; nodeClock.now() < until && !ended; ) {
    const reached = await reachEngine(variables, options);
    if (reached.kind === "connected") return reached;
    if (reached.kind === "unreachable" && !reached.isStarting)
      return { failed: `process ${reached.pid}: ${reached.reason}.` };
    await new Promise<void>((resolve) => nodeClock.after(PAUSE_MS, resolve));
  }
  return { failed: `the engine did not start (${path}): ${lastLine(path)}` };
}

function only(variables: Variables, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (variables[name] === undefined ? [] : [[name, variables[name]] as const])),
  ) as Record<string, string>;
}

function lastLine(path: string): string {
  return readFileSync(path, "utf8").trim().split("\n").at(-1) ?? "";
}
