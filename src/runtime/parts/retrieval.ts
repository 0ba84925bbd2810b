/**
 * Passages of the user's own documents. A session whose user has no stores pays for one look at the disk; nothing loads before a store is on
 * or a command is used.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CreateBuiltIn } from "./built-in.js";
import type { LiveRetrieval } from "./live-retrieval.js";

export const retrieval: CreateBuiltIn = async (opening) => {
  const { roots, settings } = opening.engine.loaded;
  let live: Promise<LiveRetrieval> | undefined;
  let current: LiveRetrieval | undefined;
  const open = () => {
    live ??= import("./live-retrieval.js").then(({ LiveRetrieval }) => LiveRetrieval.open(opening));
    return live;
  };
  const hasStores = existsSync(join(roots.data, "retrieval", "stores.json")) || settings.rag.value !== undefined;
  if (hasStores) current = await open();
  return {
    name: "retrieval",
    hooks: { start: [{ name: "12-retrieval", run: async (turn) => current?.augment(turn) }] },
    tools: () => current?.tools ?? [],
    subscribers: [{ name: "45-retrieval", run: (event) => current?.see(event) }],
    commands: async () => {
      const { retrievalCommands } = await import("../commands/retrieval.js");
      return retrievalCommands(async () => {
        current = await open();
        return current.port;
      });
    },
    statusRows: async () => [["store", (await current?.storeName()) ?? "none (/rag)"]],
    close: async () => (await live?.catch(() => undefined))?.close(),
  };
};
