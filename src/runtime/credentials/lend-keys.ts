/**
 * Keys in the environment of a client, for a session in an engine that runs elsewhere: the client gives them to the credential helper, and
 * the engine learns only their names.
 */
import { createHash } from "node:crypto";
import type { Variables } from "../../base/variables.js";
import type { SessionKey } from "../../protocol/commands.js";
import { loadWire } from "../../providers/named.js";
import { ProviderDirectory } from "../../providers/selection/provider-directory.js";
import { type BindOptions, bindEndpoint } from "../../security/credentials/bind-endpoint.js";
import { CredentialError } from "../../security/credentials/credential-error.js";
import { type ApiKeyEntry, lentAccount } from "../../security/credentials/entry.js";
import { nodeClock } from "../../system/node-clock.js";
import type { LoadedSettings } from "../settings/settings.js";
import { openHelperLink, StoredCredentials } from "./stored-credentials.js";

/** Throws a CredentialError if no helper takes them. */
export async function lendKeys({ settings, roots, profilePath }: LoadedSettings, variables: Variables) {
  const entries = await environmentKeys({ settings, roots, profilePath }, variables);
  if (entries.length > 0) await give(entries, variables);
  return entries.map(
    ({ provider, account, endpoint }): SessionKey => ({ provider, account, base_url: endpoint.baseUrl }),
  );
}

async function environmentKeys(
  { settings, roots, profilePath }: Pick<LoadedSettings, "settings" | "roots" | "profilePath">,
  variables: Variables,
): Promise<readonly ApiKeyEntry[]> {
  const directory = await ProviderDirectory.open({
    variables,
    roots,
    tables: { value: settings.providers.value, file: profilePath },
    stored: new StoredCredentials(variables),
  });
  const entries: ApiKeyEntry[] = [];
  for (const provider of directory.reachable()) {
    const { key, baseUrl } = directory.endpoint(provider);
    if (key === undefined || !URL.canParse(baseUrl)) continue;
    const { authorize } = await loadWire(provider.wire);
    entries.push(lentEntry(provider.name, key, { baseUrl, authorize }));
  }
  const { value: search } = settings.web_search;
  if (search === "brave" || search === "tavily") {
    const { SEARCH_ENGINES } = await import("../../tools/web/search-engines.js");
    const { baseUrl, key } = SEARCH_ENGINES[search];
    const given = variables[key.variable];
    if (given) entries.push(lentEntry(search, given, { baseUrl, authorize: key.headers }));
  }
  return entries;
}

function lentEntry(provider: string, key: string, bound: BindOptions): ApiKeyEntry {
  const mark = createHash("sha256").update([provider, bound.baseUrl, key].join("\n")).digest("hex").slice(0, 16);
  return { kind: "api_key", provider, account: lentAccount(mark), endpoint: bindEndpoint(bound), addedAt: 0, key };
}

async function give(entries: readonly ApiKeyEntry[], variables: Variables): Promise<void> {
  const link = await openHelperLink(variables);
  const { askHelper } = await import("../../security/credentials/helper/helper-client.js");
  const until = nodeClock.now() + PATIENCE_MS;
  while (nodeClock.now() < until) {
    const { endpoint, socketPath } = await link.reach();
    const body = JSON.stringify(entries);
    const answer = await askHelper({ socketPath, endpoint, method: "POST", path: "/keys", body });
    if (answer?.taken === true) return;
    link.lost(endpoint, "absent");
  }
  throw new CredentialError("unavailable", "The credential helper does not take the keys of this environment.");
}

const PATIENCE_MS = 5000;
