/** The transports of plugins: they start with the first session of the process and stop with the engine. */
import type { Host } from "../../control/host.js";
import { connectInProcess } from "../../control/transports/inproc.js";
import type { LoadedPlugin } from "../../extensions/plugins/plugins.js";
import type { ClientId } from "../../protocol/ids.js";

export interface StartedTransports {
  close(): Promise<void>;
}

/** A transport that does not start switches its plugin off. */
export async function startTransports(
  plugins: readonly LoadedPlugin[],
  { host, newClientId }: { readonly host: Host; readonly newClientId: () => ClientId },
): Promise<StartedTransports> {
  const connect: Parameters<LoadedPlugin["registrations"]["transports"][number]["start"]>[0]["connect"] = ({
    identity = "agent",
    canAnswer = false,
  } = {}) => connectInProcess(host, { id: newClientId(), identity, canAnswer, passesOn: true });
  const started: (() => Promise<unknown>)[] = [];
  for (const { registrations, guard } of plugins) {
    for (const transport of registrations.transports) {
      const where = `the transport ${transport.name}`;
      const running = await guard.wait(where, () => transport.start({ connect }));
      if (running !== undefined) started.push(() => guard.wait(where, () => running.close()));
    }
  }
  return {
    close: async () => {
      for (const stop of started.reverse()) await stop();
    },
  };
}
