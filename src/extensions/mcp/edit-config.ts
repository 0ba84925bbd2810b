/** Adds servers to the user's settings and to `.mcp.json`, and removes them. What else is in the files stays as it is. */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { UsageError } from "../../base/usage-error.js";
import type { McpServerEntry } from "../../protocol/commands.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { readRegularTextSync } from "../../system/regular-file.js";

/** As files have it. */
export type WrittenServer = Omit<McpServerEntry, "name">;

export async function addToSettings(file: string, name: string, server: WrittenServer): Promise<void> {
  const before = textOf(file);
  const { parse } = await import("smol-toml");
  const known = (before.trim() === "" ? {} : parse(before)) as JsonObject;
  const servers = known.mcp_servers;
  if (Array.isArray(servers))
    throw new UsageError(`${file} lists mcp_servers as an array. Add the server there by hand.`);
  if (isJsonObject(servers) && servers[name] !== undefined) throw taken(name, file);
  const text = `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${before === "" ? "" : "\n"}${toml(name, server)}`;
  // What was written must be what is read.
  parse(text);
  await write(file, text, 0o600);
}

/** False if there is none of this name. */
export async function removeFromSettings(file: string, name: string): Promise<boolean> {
  const before = textOf(file);
  const { parse } = await import("smol-toml");
  const servers = (before.trim() === "" ? {} : (parse(before) as JsonObject)).mcp_servers;
  if (!isJsonObject(servers) || servers[name] === undefined) return false;
  const text = withoutTable(before, name);
  const { [name]: _removed, ...others } = servers;
  // The lines were found without a parser, so what is left must be exactly the rest.
  const wanted = { ...(parse(before) as JsonObject), mcp_servers: others };
  if (!isSame(parsed(text, parse), wanted))
    throw new UsageError(`'${name}' in ${file} is not a table of its own. Remove it by hand.`);
  await write(file, text, 0o600);
  return true;
}

function parsed(text: string, parse: (text: string) => object): object | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function isSame(one: object | undefined, other: JsonObject): boolean {
  return one !== undefined && isDeepStrictEqual({ mcp_servers: {}, ...plain(one) }, plain(other));
}

/** The parser makes objects without a prototype, and dates. */
function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

export async function addToProject(file: string, name: string, server: WrittenServer): Promise<void> {
  const document = documentOf(file);
  const servers = isJsonObject(document.mcpServers) ? document.mcpServers : {};
  if (servers[name] !== undefined) throw taken(name, file);
  const next = { ...document, mcpServers: { ...servers, [name]: server as unknown as JsonValue } };
  await write(file, `${JSON.stringify(next, null, 2)}\n`, 0o644);
}

export async function removeFromProject(file: string, name: string): Promise<boolean> {
  const document = documentOf(file);
  if (!isJsonObject(document.mcpServers) || document.mcpServers[name] === undefined) return false;
  const { [name]: _, ...rest } = document.mcpServers;
  await write(file, `${JSON.stringify({ ...document, mcpServers: rest }, null, 2)}\n`, 0o644);
  return true;
}

function taken(name: string, file: string): UsageError {
  return new UsageError(`${file} has a server '${name}' already. Remove it first: oxbow mcp remove ${name}`);
}

function toml(name: string, { command, args, env, type, url, headers }: WrittenServer): string {
  const key = tomlKey(name);
  const lines = [
    `[mcp_servers.${key}]`,
    ...(command === undefined ? [] : [`command = ${JSON.stringify(command)}`]),
    ...(args === undefined || args.length === 0
      ? []
      : [`args = [${args.map((each) => JSON.stringify(each)).join(", ")}]`]),
    ...(type === undefined ? [] : [`type = ${JSON.stringify(type)}`]),
    ...(url === undefined ? [] : [`url = ${JSON.stringify(url)}`]),
    ...table("env", env),
    ...table("headers", headers),
  ];
  return `${lines.join("\n")}\n`;
}

function table(name: string, values: Readonly<Record<string, string>> | undefined): readonly string[] {
  const entries = Object.entries(values ?? {});
  if (entries.length === 0) return [];
  return [`${name} = { ${entries.map(([key, value]) => `${tomlKey(key)} = ${JSON.stringify(value)}`).join(", ")} }`];
}

function tomlKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
}

/** Without `[mcp_servers.NAME]` and the tables below it. */
function withoutTable(text: string, name: string): string {
  const keys = [name, JSON.stringify(name), `'${name}'`].map((key) => `mcp_servers.${key}`);
  let isInside = false;
  const kept: string[] = [];
  for (const line of text.split("\n")) {
    const [, header] = /^\s*\[+\s*([^\]]+?)\s*\]+\s*(?:#.*)?$/.exec(line) ?? [];
    if (header !== undefined) isInside = keys.some((key) => header === key || header.startsWith(`${key}.`));
    // The blank lines before a table go with it.
    if (isInside && header !== undefined) while (kept.at(-1)?.trim() === "") kept.pop();
    else if (!isInside && header !== undefined && kept.length > 0 && kept.at(-1)?.trim() !== "") kept.push("", line);
    else if (!isInside) kept.push(line);
  }
  return `${kept.join("\n").trimEnd()}\n`;
}

function documentOf(file: string): JsonObject {
  const text = textOf(file);
  if (text.trim() === "") return {};
  let value: JsonValue;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, "")) as JsonValue;
  } catch (error) {
    throw new UsageError(`${file} is not valid JSON: ${(error as Error).message}`);
  }
  if (!isJsonObject(value)) throw new UsageError(`${file} is not a JSON object.`);
  return value;
}

function textOf(file: string): string {
  try {
    return readRegularTextSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw new UsageError(`Oxbow cannot read ${file}: ${(error as Error).message}`);
  }
}

async function write(file: string, text: string, mode: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFileAtomic(file, text, { mode });
}
