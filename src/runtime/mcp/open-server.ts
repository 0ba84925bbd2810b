/** Describes what stands around a server: the sandbox, the environment, the network, the credentials and the files that are checked. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { Variables } from "../../base/variables.js";
import type { ContainedCommand } from "../../extensions/executable/containment.js";
import type { ChosenServer } from "../../extensions/mcp/choose-servers.js";
import type { ShellPort } from "../../extensions/mcp/commands.js";
import { connect } from "../../extensions/mcp/connection.js";
import type { SeenApproval, ServerHost, ServerOptions } from "../../extensions/mcp/context.js";
import { KnownTools } from "../../extensions/mcp/known-tools.js";
import { findCommand, pinProblem, startedFiles } from "../../extensions/mcp/program-pins.js";
import type { ConfigPlace } from "../../extensions/mcp/read-config.js";
import { openRemoteTransport } from "../../extensions/mcp/remote-transport.js";
import { isDecidedByFolder, startPlace } from "../../extensions/mcp/runners.js";
import { KNOWN_TOOLS_FILE, serverNameOf } from "../../extensions/mcp/search-definition.js";
import type { RemoteTransport, ServerConfig, StdioTransport } from "../../extensions/mcp/server-config.js";
import { Final } from "../../extensions/mcp/server-state.js";
import { ProcessTransport } from "../../extensions/mcp/stdio-transport.js";
import type { ShellPlace } from "../../feature/command.js";
import type { SessionId } from "../../protocol/ids.js";
import { serverCredential } from "../../security/oauth/server-tokens.js";
import type { ContentItem } from "../../security/trust/content.js";
import { discoverContent } from "../../security/trust/discover.js";
import { readItem } from "../../security/trust/read-trusted.js";
import { shown, shownText } from "../../security/trust/shown.js";
import { createHttpClient, type HttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { readRegularTextSync } from "../../system/regular-file.js";
import { trustedPath } from "../../system/trusted-path.js";
import { isWithin } from "../../system/within.js";
import { homeFolder } from "../../system/xdg-paths.js";
import { childEnvironment } from "../../tools/child-environment.js";
import { approver, openApprovals } from "../content/approvals.js";
import { discoverOptions } from "../content/content-options.js";
import { StoredCredentials } from "../credentials/stored-credentials.js";
import { networkOf } from "../network.js";
import { RunSandbox } from "../parts/sandbox.js";
import type { LoadedSettings } from "../settings/settings.js";
import { pinPlace } from "./server-pins.js";

export interface ServerPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
  readonly notify: (message: string) => void;
  readonly clock?: Clock;
}

/** Finds where the entries of a place get their variables from. */
export function configPlace({ root, variables }: Pick<ServerPlace, "root" | "variables">): ConfigPlace {
  const readFile = (path: string) => {
    try {
      return readRegularTextSync(path);
    } catch {
      return undefined;
    }
  };
  return { root, home: homeFolder(variables), variables, readFile };
}

export function serverHost(place: ServerPlace): ServerHost {
  const { root, loaded } = place;
  return {
    place: configPlace(place),
    keyOf: ({ config, version }) =>
      JSON.stringify([config, version, root, loaded.roots.config, loaded.settings.sandbox.value]),
    options: (chosen) => serverOptions(chosen, place),
    approve: (name, seen) => approveSeenServer(name, place, seen),
  };
}

/** Opens what `oxbow mcp` works on. */
export async function openShellServers(
  shell: Pick<ShellPlace, "flags" | "variables" | "notify" | "redact" | "root">,
): Promise<{ loaded: LoadedSettings; port: ShellPort }> {
  const { flags, variables, notify, redact } = shell;
  const [{ placeSettings }, root] = await Promise.all([import("../content/place-settings.js"), shell.root()]);
  const loaded = await placeSettings(flags, variables, { unapproved: "ignore" });
  const place = { loaded, variables, root, notify };
  const port: ShellPort = {
    ...serverHost(place),
    ...{ root, config: loaded.roots.config, redact },
    approved: async () => {
      const { findExtensions } = await import("../content/find-extensions.js");
      const look = { color: false, width: 80, skipUnapproved: true, allowProjectHooks: true, notify: () => {} };
      return (await findExtensions({ ...place, ...look, kinds: new Set(["mcp"]) })).files;
    },
    entries: async () => {
      const { listExtensions } = await import("../content/find-extensions.js");
      return (await listExtensions(place)).items.filter(({ kind }) => kind === "mcp");
    },
    approveWritten: async (name, file) => approveServer(name, place, { path: file }),
  };
  return { loaded, port };
}

function serverOptions(chosen: ChosenServer, given: ServerPlace): ServerOptions {
  const { config } = chosen;
  const place = config.scope === "project" ? given : withTrustedPath(given);
  const { transport } = config;
  const clock = place.clock ?? nodeClock;
  return {
    config,
    root: place.root,
    clock,
    known: KnownTools.of(join(place.loaded.roots.config, KNOWN_TOOLS_FILE)),
    connect: async (options) => {
      try {
        return await connect(options);
      } catch (error) {
        throw asksForSignIn(error) ? new Final(`it asks for a sign-in. Run: oxbow mcp auth ${config.name}`) : error;
      }
    },
    refusal: () => pinProblem(config, { ...pinPlace(place.root, place.variables), pins: chosen.pins() }),
    openProcess: async (onLog) => {
      if (transport.kind !== "stdio") throw new Error("The server has an address.");
      return new ProcessTransport({ command: await contain(config, transport, { ...place, onLog }), clock, onLog });
    },
    openRemote: async (kind, onLog) => {
      if (transport.kind === "stdio") throw new Error("The server is a program.");
      const { url, headers } = transport;
      return openRemoteTransport({ kind, url, headers, clock, onLog, http: await clientFor(config, transport, place) });
    },
  };
}

/** 401, or 403 for a token that may do too little. */
function asksForSignIn(error: unknown): boolean {
  const { name, status, data, cause } = error as Error & { status?: unknown; data?: { status?: unknown } };
  const code = status ?? data?.status;
  if (name === "UnauthorizedError" || name === "InsufficientScopeError" || code === 401) return true;
  return cause instanceof Error && asksForSignIn(cause);
}

/** With the stored sign-in, the helper adds the token; this process never has it. */
async function clientFor(
  { name }: ServerConfig,
  { url, headers }: RemoteTransport,
  { variables }: ServerPlace,
): Promise<HttpClient> {
  const hasOwn = Object.keys(headers).some((header) => header.toLowerCase() === "authorization");
  if (!hasOwn) {
    const stored = new StoredCredentials(variables);
    await stored.load();
    const provider = serverCredential(name);
    const entry = stored.entries.find((each) => each.provider === provider);
    const isForIt = entry !== undefined && new URL(entry.baseUrl).origin === new URL(url).origin;
    const signedIn = isForIt ? await stored.authorise([provider], url)?.() : undefined;
    if (signedIn !== undefined && "http" in signedIn && signedIn.http !== undefined) return signedIn.http;
  }
  return createHttpClient({ network: networkOf(variables) });
}

/** A project must not supply the programs of the user's own servers, which get the user's tokens. */
function withTrustedPath(place: ServerPlace): ServerPlace {
  const { PATH } = place.variables;
  if (PATH === undefined) return place;
  const trusted = trustedPath(PATH, { command: "", workspace: place.root });
  return { ...place, variables: { ...place.variables, PATH: trusted } };
}

const BASIC = /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_[A-Z]+|TMPDIR|TMP|TEMP|TZ|PWD|OXBOW_AGENT)$/;
const NETWORK = /^((HTTPS?|ALL|NO)_PROXY|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/i;

function basicVariables({ variables }: ServerPlace): Record<string, string> {
  const basic = Object.entries(childEnvironment(variables)).filter(([name]) => BASIC.test(name) || NETWORK.test(name));
  return Object.fromEntries(basic);
}

/** At the beginning of the server's log. */
const NO_NETWORK =
  "Oxbow: this server runs without network, because it runs code of the project, which can change after the approval. To give it the network, add it to your own configuration under another name: oxbow mcp add\n";

async function contain(
  config: ServerConfig,
  transport: StdioTransport,
  place: ServerPlace & { readonly onLog: (text: string) => void },
): Promise<ContainedCommand> {
  const { base, ...pinned } = pinPlace(place.root, place.variables);
  const program = findCommand(transport, { base, ...pinned });
  if (program === undefined) throw new Final(`the program ${transport.command} was not found`);
  // The name decides what some programs do (npx is a link to node's script), so a path is only made absolute.
  const command = transport.command.includes("/")
    ? join(transport.cwd ?? place.root, transport.command)
    : transport.command;
  const started = transport.command.startsWith("/") ? transport.command : command;
  const { cwd, args } = startPlace(transport, { scope: config.scope, root: place.root });
  const plain = { argv: [started, ...args], cwd, env: { ...basicVariables(place), PWD: cwd, ...transport.env } };
  if (config.sandbox === "off") return plain;
  const isOwnCode =
    config.scope === "project" && isDecidedByFolder(transport, { program, root: place.root, top: base });
  if (isOwnCode && config.network === "open") place.onLog(NO_NETWORK);
  const sandbox = openSandbox(config, place, await visiblePaths(config, transport, place));
  const wrapped = await sandbox.wrap(plain, {
    onTerminal: false,
    outside: false,
    hasInput: true,
    writes: "live",
    openings: config.network === "open" && !isOwnCode ? ["network"] : [],
  });
  return {
    ...wrapped,
    ended: async () => {
      await wrapped.ended?.();
      await sandbox.close();
    },
  };
}

/** The tight sandbox of mode `auto`, whatever the mode of a session: a server outlives the questions of one. */
function openSandbox({ writable, name }: ServerConfig, place: ServerPlace, visible: readonly string[]): RunSandbox {
  const { config, data, state } = place.loaded.roots;
  const { settings } = place.loaded;
  const more = { ...settings.sandbox_writable, value: [...settings.sandbox_writable.value, ...writable] };
  return new RunSandbox({
    ...place,
    loaded: { ...place.loaded, settings: { ...settings, sandbox_writable: more } },
    session: `sess_mcp_${name.replace(/[^A-Za-z0-9]/g, "_")}` as SessionId,
    outputDirectory: join(state, "output"),
    hidden: [config, data, state],
    mode: () => "auto",
    visible,
  });
}

/** Finds where the program lies, and what the user's own entry names: the home folder is hidden otherwise. Secrets stay hidden. */
async function visiblePaths(
  { scope }: ServerConfig,
  transport: StdioTransport,
  { root, variables, loaded }: ServerPlace,
): Promise<readonly string[]> {
  const { usualSecrets } = await import("../../security/command-home/usual-secrets.js");
  const home = realpathOrSelf(variables.HOME || homedir());
  const { config, data, state } = loaded.roots;
  const secrets = [...usualSecrets({ home }), config, data, state].map(realpathOrSelf);
  const isSecret = (path: string) => secrets.some((secret) => isWithin(path, secret) || isWithin(secret, path));
  const programs = startedFiles(transport, pinPlace(root, variables)).map(packageOf);
  const named = scope === "project" ? [] : transport.args.filter((each) => isAbsolute(each) && existsSync(each));
  return [...new Set([...programs, ...named.map(realpathOrSelf)])].filter((path) => {
    const isSystem = ["/usr", "/bin", "/lib", "/etc", "/opt", "/proc", "/dev", "/sys"].some((top) =>
      isWithin(path, top),
    );
    return !isSystem && !isWithin(home, path) && !isWithin(root, path) && !isWithin(path, root) && !isSecret(path);
  });
}

/** A program finds the modules beside it: the folder of its package, or the one that the package is installed in. */
function packageOf(file: string): string {
  const installed = file.indexOf("/node_modules/");
  if (installed > 0) return file.slice(0, installed + "/node_modules".length);
  let folder = dirname(file);
  for (let levels = 0; levels < 3 && folder !== dirname(folder); levels++, folder = dirname(folder))
    if (MARKERS.some((name) => existsSync(join(folder, name)))) return folder;
  return dirname(file);
}

const MARKERS = ["package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", "Gemfile", ".venv"];

export interface ApprovalPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
}

/** The person has just written it, in this file. The files of the entries that were approved. Throws for agents. */
export async function approveServer(
  name: string,
  place: ApprovalPlace,
  { path }: { readonly path?: string } = {},
): Promise<readonly string[]> {
  const found = await entriesOf(name, place);
  return record(
    found.filter((item) => path === undefined || join(item.root, item.path) === path),
    place,
  );
}

/**
 * An approval of what a person has seen: `version` is of that text. `more` is what the server itself has changed. Without the version of
 * now it approves nothing.
 */
async function approveSeenServer(
  name: string,
  place: ApprovalPlace,
  { version, more = "" }: { readonly version: string | undefined; readonly more?: string },
): Promise<SeenApproval> {
  const found = await entriesOf(name, place);
  const entries = await Promise.all(found.map(entryText));
  const text = [...entries, ...(more === "" ? [] : [more])].join("\n");
  const now = createHash("sha256").update(text).digest("hex").slice(0, VERSION_LENGTH);
  return text === "" || version === now ? { files: await record(found, place) } : { text, version: now };
}

/** Long enough that no program finds another text with the same one meanwhile. */
const VERSION_LENGTH = 16;

async function entryText(item: ContentItem): Promise<string> {
  const entry = JSON.parse(Buffer.from(await readItem(item)).toString("utf8"));
  return `${shown(join(item.root, item.path))}: ${shown(item.entry ?? "")}\n${shownText(JSON.stringify(entry, null, 2))}`;
}

async function entriesOf(name: string, { loaded, variables, root }: ApprovalPlace): Promise<readonly ContentItem[]> {
  const kinds = new Set(["mcp"] as const);
  const { items } = await discoverContent({ ...discoverOptions({ root, loaded, variables }), kinds });
  return items.filter((item) => serverNameOf(item.entry ?? "") === name);
}

async function record(
  found: readonly ContentItem[],
  { loaded, variables, root }: ApprovalPlace,
): Promise<readonly string[]> {
  const lock = openApprovals(root, { roots: loaded.roots, variables });
  for (const item of found) {
    const bytes = await readItem(item);
    const by = approver(variables);
    await lock.record({ decision: "approved", item, change: "executable", bytes, by, at: new Date() });
  }
  return found.map((item) => join(item.root, item.path));
}
