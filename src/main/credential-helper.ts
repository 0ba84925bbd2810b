/**
 * The entry point of the credential helper, a separate process that holds the keys. Its bundle is small on purpose; what
 * it rarely needs is loaded late.
 */

import type { Clock } from "../base/clock.js";
import { once } from "../base/once.js";
import { runHelper } from "../security/credentials/helper/run-helper.js";
import type { HelperOrders } from "../security/credentials/helper/start-helper.js";

process.title = "oxbow-credential-helper";
process.umask(0o077);
// Node would open its debugger on this signal, which shows all memory to any client.
process.on("SIGUSR1", () => {});
// A closed terminal does not end it; a signal to end does.
process.on("SIGHUP", () => {});

// Not the shared one: importing it would load most of the engine.
const clock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

void start();

async function start(): Promise<void> {
  let text = "";
  for await (const piece of process.stdin.setEncoding("utf8")) text += piece;
  const orders = JSON.parse(text) as HelperOrders;
  text = "";
  const plan = orders.network;
  const network = plan && once(async () => (await import("../system/network/network.js")).openNetwork(plan));
  const server = await runHelper({
    orders,
    clock,
    startTime: await ownStartTime(),
    sourceOf: async (provider) => (await import("../security/oauth/token-sources.js")).tokenSource(provider),
    http: async () => (await import("../system/http-client.js")).createHttpClient({ network }),
    network,
    report: (report) => process.stdout.write(`${JSON.stringify(report)}\n`),
    onEnd: () => setImmediate(() => process.exit()),
  });
  process.on("SIGTERM", () => server?.end());
  process.on("SIGINT", () => server?.end());
  process.stdout.on("error", () => {});
}

async function ownStartTime(): Promise<number> {
  const { startTimeOf } = await import("../system/process-table.js");
  return startTimeOf(process.pid);
}
