/**
 * Passages of the user's own documents. A session whose user has no stores pays for one look at the disk; nothing loads before a store is on
 * or a command is used.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SessionPart } from "../../feature/part.js";
import type { RetrievalContext, SessionRetrieval } from "./session-retrieval.js";

export async function retrieval(context: RetrievalContext): Promise<SessionPart> {
  const { roots, settings } = context;
  let live: Promise<SessionRetrieval> | undefined;
  let current: SessionRetrieval | undefined;
  const open = () => {
    live ??= import("./session-retrieval.js").then(({ SessionRetrieval }) => SessionRetrieval.open(context));
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
      const { retrievalCommands } = await import("./commands.js");
      return retrievalCommands(async () => {
        current = await open();
        return current.port();
      });
    },
    statusRows: async () => [["store", (await current?.storeName()) ?? "none (/rag)"]],
    close: async () => (await live?.catch(() => undefined))?.close(),
  };
}
