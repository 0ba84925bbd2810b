/** `oxbow auth set PROVIDER`: asks for a key without showing it and stores it; or signs in (sign-in.ts). */

import { nearest } from "../../../base/nearest.js";
import { UsageError } from "../../../base/usage-error.js";
import type { Variables } from "../../../base/variables.js";
import { loadWire, type NamedProvider } from "../../../providers/named.js";
import type { ProviderDirectory } from "../../../providers/selection/provider-directory.js";
import { openDirectory } from "../../../runtime/credentials/commands.js";
import { bindEndpoint, isOpenlySent } from "../../../security/credentials/bind-endpoint.js";
import { checkKey } from "../../../security/credentials/check-key.js";
import { namedEntry } from "../../../security/credentials/commands.js";
import { findOAuthProvider } from "../../../security/oauth/providers.js";
import { nodeClock } from "../../../system/node-clock.js";
import { SEARCH_ENGINES } from "../../../tools/web/search-engines.js";
import { EXIT } from "../../exit-codes.js";
import { printMessage } from "../../print-message.js";
import { personPresent, readInput } from "../../terminal-io.js";
import type { SecretContext } from "./open-commands.js";
import { openFileAtTerminal } from "./unlock.js";

export async function setKey(context: SecretContext): Promise<number> {
  const { args, variables } = context;
  const { provider: name, account } = namedEntry(args);
  const signsIn = findOAuthProvider(name);
  if (signsIn !== undefined) return (await import("./sign-in.js")).signInTo(signsIn, { ...context, account });
  const { keyName, ...bound } = searchEngine(name) ?? (await providerOf(name, variables));
  const endpoint = bindEndpoint({ ...bound, baseUrl: args.flag("base-url") ?? bound.baseUrl });
  const given = await readKey(context, endpoint.baseUrl);
  if (given === undefined) {
    printMessage("nothing was stored.");
    return EXIT.cancelled;
  }
  const checked = checkKey(given, name);
  if (!checked.ok) throw new UsageError(`${checked.problem} Nothing was stored.`);
  const warnings = [
    checked.warning,
    isOpenlySent(endpoint.baseUrl)
      ? `${endpoint.baseUrl} is not encrypted: others on the network can read the key.`
      : undefined,
    variables[keyName ?? ""] ? `${keyName} is set and overrides the stored key.` : undefined,
  ];
  const file = await openFileAtTerminal(variables);
  const { key } = checked;
  const done = await file.put({ kind: "api_key", provider: name, account, endpoint, addedAt: nodeClock.wall(), key });
  for (const warning of warnings) if (warning !== undefined) printMessage(warning);
  const which = account === "default" ? name : `${name} (${account})`;
  process.stdout.write(
    `${done === "added" ? "Stored" : "Replaced"} the key for ${which}, for ${endpoint.baseUrl} only.\n`,
  );
  return EXIT.answered;
}

function searchEngine(name: string) {
  if (!Object.hasOwn(SEARCH_ENGINES, name)) return undefined;
  const { baseUrl, key } = SEARCH_ENGINES[name as keyof typeof SEARCH_ENGINES];
  return { baseUrl, keyName: key.variable, authorize: key.headers };
}

async function providerOf(name: string, variables: Variables) {
  const directory = await openDirectory(variables);
  const provider = knownProvider(name, directory);
  const { authorize } = await loadWire(provider.wire);
  return { baseUrl: directory.endpoint(provider).baseUrl, keyName: provider.keyName, authorize };
}

function knownProvider(name: string, directory: ProviderDirectory): NamedProvider {
  const entry = directory.find(name);
  if (entry?.kind === "broken") throw new UsageError(entry.problem);
  if (entry?.kind === "executable")
    throw new UsageError(`${name} is a program (${entry.file}) that manages its own keys.`);
  if (entry?.provider.keyName !== undefined) return entry.provider;
  if (entry !== undefined) throw new UsageError(`${name} needs no key.`);
  const known = directory
    .reachable()
    .flatMap((provider) => (provider.keyName === undefined && !provider.signIn ? [] : [provider.name]));
  const near = nearest(name, known);
  const advice = near === undefined ? `There are ${known.join(", ")}.` : `Did you mean ${near}?`;
  throw new UsageError(`There is no provider '${name}'. ${advice}`);
}

async function readKey({ args }: SecretContext, baseUrl: string): Promise<string | undefined> {
  const given = args.flag("key");
  if (given !== undefined) {
    printMessage("other programs can see a key on the command line, and the shell keeps it in its history.");
    return given;
  }
  if (args.hasFlag("stdin")) return (await readInput({ patient: true })) ?? "";
  if (!personPresent()) throw new UsageError("There is no terminal to ask on: give the key with --stdin.");
  const { askSecret } = await import("../../secret-prompt.js");
  const question = `Key for ${args.text("PROVIDER")} (${baseUrl}), not shown, Esc cancels: `;
  return askSecret({ question, clock: nodeClock });
}
