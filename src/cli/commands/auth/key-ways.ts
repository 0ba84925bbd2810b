/** The source of each provider's key, for `oxbow doctor`: the environment, the helper, or none. */

import type { Variables } from "../../../base/variables.js";
import { openDirectory } from "../../../runtime/credentials/commands.js";
import { readCatalogue } from "../../../security/credentials/catalogue.js";
import { runningHelper } from "../../../security/credentials/helper/running-helper.js";
import { credentialFile } from "../../../security/credentials/places.js";
import type { Finding } from "../doctor/finding.js";

export async function keyWays(variables: Variables): Promise<readonly Finding[]> {
  const directory = await openDirectory(variables);
  const inEnvironment = directory.reachable().flatMap(({ name, keyName }): Finding[] => {
    if (keyName === undefined || !variables[keyName]?.trim()) return [];
    const text = `${name}: ${keyName}, sent by Oxbow itself; commands do not get it`;
    return [{ subject: "key", verdict: "ok", text }];
  });
  let stored: readonly Finding[];
  try {
    stored = await storedWays(variables);
  } catch (error) {
    stored = [{ subject: "stored keys", verdict: "fail", text: (error as Error).message }];
  }
  if (inEnvironment.length + stored.length > 0) return [...inEnvironment, ...stored];
  return [{ subject: "keys", verdict: "warn", text: "none", fix: "'oxbow auth set PROVIDER' stores one" }];
}

async function storedWays(variables: Variables): Promise<readonly Finding[]> {
  const catalogue = readCatalogue(credentialFile(variables));
  if (catalogue === undefined || catalogue.entries.length === 0) return [];
  const helper = await runningHelper(variables);
  const state = helper === undefined ? "starts when it is needed" : `process ${helper.pid}, version ${helper.version}`;
  const opened = {
    "machine-key": "OXBOW_MACHINE_KEY",
    passphrase: "a passphrase",
    keychain: "the keychain",
    "key-file": "a key file",
  };
  return [
    ...catalogue.entries.map(({ provider, account, baseUrl }): Finding => {
      const which = account === "default" ? provider : `${provider} (${account})`;
      return { subject: "key", verdict: "ok", text: `${which}: stored, sent by the helper process to ${baseUrl} only` };
    }),
    {
      subject: "key helper",
      verdict: "ok",
      text: `${state}; the stored keys are opened with ${opened[catalogue.key.from]}`,
    },
  ];
}
