/** The variables that Oxbow reads, for `oxbow help environment`. Those of settings and providers are declared there. */
import type { DeclaredSettings } from "../feature/setting.js";
import type { NamedProvider } from "../providers/named.js";
import { NAMED_PROVIDERS } from "../providers/named-rows.js";
import { SETTINGS } from "../runtime/settings/settings.js";

export interface KnownVariable {
  readonly name: string;
  readonly meaning: string;
  /**
   * Says what it holds for, if several terminals share an engine: the session of the terminal (default), this terminal, or the engine. A terminal
   * whose variable of the engine differs from the running engine's hosts its conversation itself. A secret is not compared.
   */
  readonly holds?: "client" | "engine" | "engine, secret";
}

const OWN: readonly KnownVariable[] = [
  {
    name: "OXBOW_HOME",
    holds: "client",
    meaning: "one folder for configuration, data and state (default: the XDG folders)",
  },
  {
    name: "OXBOW_STREAM",
    holds: "client",
    meaning: "1: write the answer to a pipe as it arrives, and progress to stderr; 0: neither",
  },
  {
    name: "OXBOW_SESSIONS",
    holds: "engine",
    meaning: "folder for sessions and their key (default: Oxbow's data folder)",
  },
  {
    name: "OXBOW_MACHINE_KEY",
    holds: "engine, secret",
    meaning: "key of the session database and the stored keys: 32 bytes as hex, base64 or raw",
  },
  {
    name: "OXBOW_PASSPHRASE",
    holds: "engine, secret",
    meaning: "passphrase for the session database and the stored keys",
  },
  { name: "OXBOW_APPROVED_LOCK", meaning: "a lock file of approved content from another machine, for CI" },
  {
    name: "OXBOW_TOKEN",
    holds: "client",
    meaning:
      "a token for 'oxbow serve --stdio', for 'oxbow conformance', and for 'oxbow mcp-server' if it drives a running engine",
  },
  { name: "OXBOW_AGENT", meaning: "1 in commands that a model started: this Oxbow approves nothing" },
  {
    name: "OXBOW_TEST_SIGN_IN",
    holds: "client",
    meaning: "for tests: an address of this machine that sign-ins go to instead",
  },
  {
    name: "CLAUDE_CONFIG_DIR",
    holds: "client",
    meaning: "where Claude Code keeps its transcripts, for 'session import --list'",
  },
  { name: "CODEX_HOME", holds: "client", meaning: "where Codex keeps its transcripts, for 'session import --list'" },
  { name: "BROWSER", holds: "client", meaning: "program that opens the pages of sign-ins" },
  { name: "HTTPS_PROXY", meaning: "proxy for https addresses, as http://USER:PASSWORD@HOST:PORT" },
  { name: "HTTP_PROXY", meaning: "proxy for http addresses" },
  { name: "ALL_PROXY", meaning: "proxy for both, if the specific variable is not set" },
  { name: "NO_PROXY", meaning: "hosts, networks and name endings to reach without the proxy" },
  { name: "SSL_CERT_FILE", meaning: "file of additional certificate authorities" },
  { name: "NODE_EXTRA_CA_CERTS", holds: "engine", meaning: "the same; Node itself reads it" },
  { name: "NO_COLOR", holds: "client", meaning: "no colours" },
];

/** Shown by `oxbow help environment` and checked by the tests against what the code reads. */
export const KNOWN_VARIABLES: readonly KnownVariable[] = [
  ...Object.values(SETTINGS as DeclaredSettings).flatMap(({ variable, holds }) =>
    variable === undefined ? [] : [holds === undefined ? variable : { ...variable, holds }],
  ),
  ...OWN,
  ...NAMED_PROVIDERS.flatMap(providerVariables),
];

/** Variants of one service share a key. */
function providerVariables(
  provider: NamedProvider,
  at: number,
  all: readonly NamedProvider[],
): readonly KnownVariable[] {
  const { name, keyName, keyOptional, baseUrlName, baseUrlAbout, baseUrl, local } = provider;
  const isFirst = all.findIndex((each) => each.keyName === keyName) === at;
  const key = local || keyOptional ? `key of ${name}, if it needs one` : `key for the ${name} provider`;
  const address = local
    ? `address of ${name} (default ${baseUrl})`
    : (baseUrlAbout ?? `another address for the ${name} provider`);
  return [
    ...(keyName !== undefined && isFirst ? [{ name: keyName, meaning: key }] : []),
    ...(baseUrlName === undefined ? [] : [{ name: baseUrlName, meaning: address }]),
  ];
}

/** Set for programs that Oxbow starts, for docs/reference.md. */
export const GIVEN_VARIABLES: readonly KnownVariable[] = [
  { name: "OXBOW_AGENT", meaning: "1 in every command that a model started" },
  { name: "OXBOW_CALL", meaning: "the call that a command belongs to; its processes end with it" },
  {
    name: "OXBOW_WORKSPACE",
    meaning: "the folder of the session, for executable tools, commands, hooks and providers",
  },
  { name: "OXBOW_SESSION", meaning: "the session, for the same programs" },
  { name: "OXBOW_SOURCE", meaning: "the folder in which the program was found" },
  { name: "OXBOW_TOOL", meaning: "the name of an executable tool" },
  { name: "OXBOW_COMMAND", meaning: "the name of an executable command" },
  { name: "OXBOW_STAGE", meaning: "the stage of an executable hook" },
  { name: "OXBOW_HOOK", meaning: "the name of an executable hook" },
  {
    name: "OXBOW_PROVIDER_NAME",
    meaning: "the provider of a .conf file, for the program that it names as its protocol",
  },
  { name: "OXBOW_PROVIDER_URL", meaning: "the address in that file" },
  { name: "OXBOW_PROVIDER_KEY", meaning: "the value of the variable that its auth_env names" },
  { name: "OXBOW_HOOK_EVENT", meaning: "the event of an event hook" },
  { name: "OXBOW_PROJECT_DIR", meaning: "the folder of the session, for event hooks" },
  { name: "OXBOW_SESSION_ID", meaning: "the session, for event hooks and slash commands" },
];
