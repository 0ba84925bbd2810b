/** The transports of plugins: they start with the first session of the process and stop with the engine. */
import type { PluginTransport } from "./api.js";
import type { LoadedPlugin } from "./plugins.js";

export interface StartedTransports {
  close(): Promise<void>;
}

/** A transport that does not start switches its plugin off. */
export async function startTransports(
  plugins: readonly LoadedPlugin[],
  connect: Parameters<PluginTransport["start"]>[0]["connect"],
): Promise<StartedTransports> {
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
