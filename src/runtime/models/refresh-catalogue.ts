/** `oxbow models --refresh`: fetches the newest limits and prices and prints the result. */

import { rm } from "node:fs/promises";
import type { Variables } from "../../base/variables.js";
import { fetchedCatalogue } from "../../providers/catalogue/newest.js";
import { CATALOGUE_URL, refreshCatalogue } from "../../providers/catalogue/refresh.js";
import { keptLists } from "../../providers/kept-list.js";
import { createHttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { networkOf } from "../network.js";
import type { LoadedSettings } from "../settings/settings.js";

/** Throws if it could not be fetched; the old catalogue stays. */
export async function refresh(
  { settings, roots }: Pick<LoadedSettings, "settings" | "roots">,
  variables: Variables,
): Promise<void> {
  const url = settings.catalogue_url.value ?? CATALOGUE_URL;
  const today = new Date(nodeClock.wall()).toISOString().slice(0, 10);
  const file = fetchedCatalogue(roots.cache);
  if (process.stderr.isTTY) process.stderr.write(`oxbow: fetching ${url} …\n`);
  const http = createHttpClient({ clock: nodeClock, network: networkOf(variables) });
  await rm(keptLists(roots.state), { recursive: true, force: true });
  const table = await refreshCatalogue({ url, file, http, today });
  const models = [...table.providers.values()].reduce((sum, each) => sum + each.size, 0);
  process.stderr.write(`oxbow: ${models} models of ${table.providers.size} providers are known now, as of ${today}.\n`);
}
