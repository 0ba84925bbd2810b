/** The stores for `oxbow rag`, without a session. */
import type { Clock } from "../../base/clock.js";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../commands/flags.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import type { RetrievalPort } from "../commands/retrieval.js";
import { createModelRegistry } from "../models/model-registry.js";
import { SessionStores } from "../sessions/session-stores.js";
import { loadSettings } from "../settings/settings.js";
import { Retrieval } from "./retrieval.js";

export interface OpenRetrievalOptions {
  readonly flags: ParsedFlags;
  readonly variables: Variables;
  readonly folder: string;
  readonly notify: (message: string) => void;
  readonly clock: Clock;
}

export async function openRetrieval(
  options: OpenRetrievalOptions,
): Promise<{ readonly port: RetrievalPort; close(): Promise<void> }> {
  const { flags, variables, folder, notify, clock } = options;
  const loaded = await loadSettings(flags, variables);
  for (const warning of loaded.warnings) notify(warning);
  const { settings, roots } = loaded;
  const root = await openRoot(folder);
  const keys = new SessionStores({ settings, roots, variables, root, notify, hint: notify });
  const tables = { value: settings.providers.value, file: loaded.profilePath };
  const models = createModelRegistry({ variables, roots, tables });
  const retrieval = new Retrieval({ loaded, keys, models, clock, root, warn: notify, isForReading: true });
  const web = { variables, webHosts: settings.web_hosts.value, webNames: settings.web_names.value };
  return {
    port: { retrieval, sources: { ...web, clock, hidden: keys.ownFolders } },
    close: () => retrieval.close(),
  };
}
