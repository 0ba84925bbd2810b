/** All providers, including the user's own. */
import type { Variables } from "../../../base/variables.js";
import { parseFlags } from "../../../commands/flags.js";
import { ProviderDirectory } from "../../../providers/selection/provider-directory.js";
import { StoredCredentials } from "../../credentials/stored-credentials.js";
import { loadSettings } from "../../settings/settings.js";

export async function openDirectory(variables: Variables): Promise<ProviderDirectory> {
  const { settings, roots, profilePath } = await loadSettings(parseFlags([], [], ""), variables);
  return ProviderDirectory.open({
    variables,
    roots,
    stored: new StoredCredentials(variables),
    tables: { value: settings.providers.value, file: profilePath },
  });
}
