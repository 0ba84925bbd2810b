/**
 * Reads one entry of a file that lists MCP servers: of Oxbow, Claude Code, Cursor, VS Code or Codex.
 *
 * 1. The entry is the canonical JSON that a person approved. No file is parsed here.
 * 2. Unknown keys are ignored. An entry that cannot be used is reported and does not disturb the others.
 * 3. Keys that widen what a server may do (`sandbox`, `writable`, `trust_read_only_hints`) count in the user's own files alone.
 */
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";
import { type Dialect, type Expansion, expander } from "./expand-variables.js";
import { serverNameOf } from "./search-definition.js";
import {
  CALL_TIMEOUT_MS,
  EAGER_TOOLS,
  type McpScope,
  type RemoteTransport,
  type ServerConfig,
  START_TIMEOUT_MS,
  type StdioTransport,
} from "./server-config.js";

export interface ConfigPlace {
  readonly root: string;
  readonly home: string | undefined;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The text of a file that an entry names, such as `envFile`; undefined if it cannot be read. */
  readonly readFile?: (path: string) => string | undefined;
}

export interface ConfigEntry {
  /** The file, absolute. */
  readonly path: string;
  /** `mcp_servers.NAME`, or `projects.FOLDER.mcp_servers.NAME`. */
  readonly entry: string;
  readonly owner: "user" | "project";
  /** Canonical JSON. */
  readonly text: string;
  /** The plugin that the file belongs to. */
  readonly plugin?: { readonly name: string; readonly root: string } | undefined;
}

export type ReadConfig =
  | { readonly config: ServerConfig }
  | { readonly name: string; readonly off: true }
  | { readonly name: string; readonly problem: string };

function dialectOf(path: string): Dialect {
  const slashes = path.replaceAll("\\", "/");
  if (/\/\.mcp\.json$|\/\.claude\.json$/.test(slashes)) return "claude";
  if (/\/\.cursor\/mcp\.json$/.test(slashes)) return "cursor";
  if (/\/mcp\.json$/.test(slashes)) return "vscode";
  return /\/\.codex\/config\.toml$/.test(slashes) ? "codex" : "oxbow";
}

const MOST_NAME = 100;

export function readConfig(entry: ConfigEntry, around: ConfigPlace): ReadConfig {
  const { plugin } = entry;
  const own = serverNameOf(entry.entry);
  // Hooks and permission rules for Claude Code know the tools of plugins by this name.
  const name = plugin === undefined || own === "" ? own : `plugin_${plugin.name}_${own}`;
  const place =
    plugin === undefined ? around : { ...around, variables: { ...around.variables, CLAUDE_PLUGIN_ROOT: plugin.root } };
  try {
    const value = JSON.parse(entry.text) as JsonValue;
    if (!isJsonObject(value)) throw new Error("it is not a table, or its name is used twice");
    if (name === "" || name.length > MOST_NAME) throw new Error(`its name must have 1 to ${MOST_NAME} characters`);
    if (value.enabled === false || value.disabled === true) return { name, off: true };
    return { config: configOf(name, value, { entry, place }) };
  } catch (error) {
    return { name, problem: (error as Error).message };
  }
}

interface Reading {
  readonly entry: ConfigEntry;
  readonly place: ConfigPlace;
}

function configOf(name: string, value: JsonObject, { entry, place }: Reading): ServerConfig {
  const dialect = entry.plugin === undefined ? dialectOf(entry.path) : "claude";
  const expansion = expander({ dialect, ...place });
  const scope: McpScope = entry.entry.startsWith("projects.") ? "local" : entry.owner;
  const transport = transportOf(value, { dialect, expansion, place, entry });
  const isUsers = entry.owner === "user";
  const sha256 = textOf(value, "sha256")?.toLowerCase();
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/.test(sha256))
    throw new Error('"sha256" must have 64 hexadecimal digits');
  const enabled = listOf(value, "enabled_tools");
  return {
    name,
    scope,
    path: entry.path,
    transport,
    ...(sha256 !== undefined && { sha256 }),
    eagerTools: eagerToolsOf(value),
    ...(enabled !== undefined && { enabledTools: enabled }),
    disabledTools: listOf(value, "disabled_tools") ?? [],
    startTimeoutMs: secondsOf(value, "startup_timeout_sec") ?? START_TIMEOUT_MS,
    callTimeoutMs: secondsOf(value, "tool_timeout_sec") ?? CALL_TIMEOUT_MS,
    trustsHints: isUsers && value.trust_read_only_hints === true,
    network: value.network === false || value.network === "off" ? "off" : "open",
    sandbox: isUsers && (value.sandbox === false || value.sandbox === "off") ? "off" : "on",
    writable: isUsers ? (listOf(value, "writable") ?? []).map((path) => absolute(path, place)) : [],
    sampling: value.sampling === false || value.sampling === "off" ? "off" : "ask",
    unset: expansion.unset,
  };
}

interface TransportPlace extends Reading {
  readonly dialect: Dialect;
  readonly expansion: Expansion;
}

function transportOf(value: JsonObject, reading: TransportPlace): StdioTransport | RemoteTransport {
  const type = textOf(value, "type") ?? textOf(value, "transport");
  const url = textOf(value, "url");
  if (value.headersHelper !== undefined) throw new Error('"headersHelper" is not supported; write the headers');
  if (type === "ws") throw new Error("WebSocket servers are not supported");
  if (url !== undefined && type !== "stdio") {
    // Claude Code skips a server with an address and no type.
    if (type === undefined && reading.dialect === "claude") throw new Error('it has a "url" and no "type"');
    return remoteOf(url, type, { value, ...reading });
  }
  return stdioOf(value, reading);
}

function remoteOf(
  written: string,
  type: string | undefined,
  { value, expansion, place }: TransportPlace & { readonly value: JsonObject },
): RemoteTransport {
  const url = expansion.expand(written);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw new Error('"url" is not an http address');
  const headers: Record<string, string> = {};
  const given = value.headers ?? value.http_headers;
  for (const [name, text] of Object.entries(textsOf(given, "headers"))) headers[name] = expansion.expand(text);
  for (const [name, variable] of Object.entries(textsOf(value.env_http_headers, "env_http_headers"))) {
    const set = place.variables[variable];
    if (set) headers[name] = set;
  }
  const bearer = textOf(value, "bearer_token_env_var");
  const token = bearer === undefined ? undefined : place.variables[bearer];
  if (token) headers.Authorization = `Bearer ${token}`;
  return { kind: type === "sse" ? "sse" : "http", url, headers };
}

function stdioOf(value: JsonObject, { expansion, place, dialect, entry }: TransportPlace): StdioTransport {
  const command = textOf(value, "command") ?? textOf(value, "cmd");
  if (command === undefined || command === "") throw new Error('it has neither a "command" nor a "url"');
  const envFile = envFileOf(value, { expansion, place, entry });
  const env: Record<string, string> = envFile === undefined ? {} : fileVariables(envFile, place);
  for (const name of listOf(value, "env_vars") ?? []) {
    const set = place.variables[name];
    if (set !== undefined) env[name] = set;
  }
  for (const [name, text] of Object.entries(textsOf(value.env, "env"))) env[name] = expansion.expand(text);
  const cwd = textOf(value, "cwd");
  const expanded = expansion.expand(command);
  return {
    kind: "stdio",
    command: expanded.startsWith("~/") && place.home !== undefined ? join(place.home, expanded.slice(2)) : expanded,
    args: (listOf(value, "args") ?? []).map((each) => (dialect === "codex" ? each : expansion.expand(each))),
    env,
    ...(envFile !== undefined && { envFile }),
    ...(cwd !== undefined && { cwd: absolute(expansion.expand(cwd), place) }),
  };
}

/** A project cannot hand a file from elsewhere to its server, such as the user's keys. */
function envFileOf(
  value: JsonObject,
  { expansion, place, entry }: Pick<TransportPlace, "expansion" | "place" | "entry">,
): string | undefined {
  const named = textOf(value, "envFile");
  if (named === undefined) return undefined;
  const file = realpathOrSelf(absolute(expansion.expand(named), place));
  const folder = dirname(entry.path);
  const project = basename(folder).startsWith(".") ? dirname(folder) : folder;
  const isInside = [place.root, project].some((top) => isWithin(file, realpathOrSelf(top)));
  if (entry.owner === "project" && !isInside) throw new Error(`its "envFile" ${named} lies outside the project`);
  return file;
}

/** Lines of NAME=VALUE. */
function fileVariables(file: string, place: ConfigPlace): Record<string, string> {
  const text = place.readFile?.(file);
  if (text === undefined) throw new Error(`its "envFile" ${file} cannot be read`);
  const found: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name, raw = ""] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) found[name] = raw.replace(/^(["'])(.*)\1$/, "$2");
  }
  return found;
}

function absolute(path: string, { root, home }: ConfigPlace): string {
  if (path.startsWith("~/") && home !== undefined) return join(home, path.slice(2));
  return isAbsolute(path) ? path : resolve(root, path);
}

function eagerToolsOf(value: JsonObject): number {
  const { discovery, eager_tools: most } = value;
  if (discovery === "eager") return Number.POSITIVE_INFINITY;
  if (discovery === "lazy") return 0;
  if (most === undefined) return EAGER_TOOLS;
  if (typeof most !== "number" || !Number.isInteger(most) || most < 0)
    throw new Error('"eager_tools" must be a number');
  return most;
}

function textOf(value: JsonObject, key: string): string | undefined {
  const found = value[key];
  if (found === undefined) return undefined;
  if (typeof found !== "string") throw new Error(`"${key}" must be text`);
  return found;
}

function listOf(value: JsonObject, key: string): readonly string[] | undefined {
  const found = value[key];
  if (found === undefined) return undefined;
  if (!Array.isArray(found) || !found.every((each) => typeof each === "string"))
    throw new Error(`"${key}" must be a list of texts`);
  return found as readonly string[];
}

function textsOf(found: JsonValue | undefined, key: string): Readonly<Record<string, string>> {
  if (found === undefined || found === null) return {};
  if (!isJsonObject(found)) throw new Error(`"${key}" must be a table`);
  return Object.fromEntries(
    Object.entries(found).map(([name, text]) => {
      if (typeof text === "string") return [name, text];
      if (typeof text === "number" || typeof text === "boolean") return [name, String(text)];
      throw new Error(`"${key}.${name}" must be text`);
    }),
  );
}

const MOST_SECONDS = 24 * 3600;

function secondsOf(value: JsonObject, key: string): number | undefined {
  const found = value[key];
  if (found === undefined) return undefined;
  if (typeof found !== "number" || !(found > 0) || found > MOST_SECONDS)
    throw new Error(`"${key}" must be a number of seconds`);
  return found * 1000;
}
