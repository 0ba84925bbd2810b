/**
 * Oxbow's MCP client under the official conformance runner: connects to the address in its last argument and uses everything that
 * the server offers. The person who signs in is replaced by following the redirects.
 */

import { systemClock } from "../../src/base/clock.js";
import { formFields, formValues } from "../../src/base/form.js";
import { fetchWith } from "../../src/extensions/mcp/fetch.js";
import { FloodGuard } from "../../src/extensions/mcp/flood-guard.js";
import { OAuthClient } from "../../src/extensions/mcp/oauth-client.js";
import { offeredTools } from "../../src/extensions/mcp/offered-tools.js";
import { checkerOf } from "../../src/extensions/mcp/schemas.js";
import type { ServerConfig } from "../../src/extensions/mcp/server-config.js";
import { ServerRequests, type ServerUser } from "../../src/extensions/mcp/server-requests.js";
import { connectSigningIn } from "../../src/extensions/mcp/sign-in.js";
import type { JsonObject } from "../../src/protocol/json.js";
import { createHttpClient } from "../../src/system/http-client.js";

const url = process.argv.at(-1) ?? "";
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as {
  client_id?: string;
  client_secret?: string;
  toolCalls?: readonly { name: string; arguments: JsonObject }[];
};
const http = createHttpClient();
const fetch = fetchWith(http, new FloodGuard({ clock: systemClock, onFlood: () => {} }));
const { signal } = new AbortController();

const config: ServerConfig & { transport: { kind: "http" } } = {
  name: "conformance",
  scope: "user",
  path: "",
  transport: { kind: "http", url, headers: {} },
  eagerTools: 20,
  disabledTools: [],
  startTimeoutMs: 200_000,
  callTimeoutMs: 200_000,
  trustsHints: false,
  network: "open",
  sandbox: "on",
  writable: [],
  sampling: "ask",
  unset: [],
};

const person: ServerUser = {
  elicit: async (params) => {
    const fields = params.mode === "url" ? [] : formFields(params.requestedSchema);
    return { action: "accept", content: formValues(fields) as Record<string, string> };
  },
  sample: async () => ({ role: "assistant", model: "m", content: { type: "text", text: "An answer." } }),
};

/** Does what the browser of a person would do. */
async function follow(address: URL) {
  const response = await fetch(address);
  const back = new URL(response.headers.get("location") ?? "", address);
  const issuer = back.searchParams.get("iss");
  return { code: back.searchParams.get("code") ?? "", ...(issuer !== null && { issuer }) };
}

/** Arguments that fit a schema. */
function argumentsFor(name: string, schema: JsonObject): JsonObject {
  const given = context.toolCalls?.find((call) => call.name === name)?.arguments;
  if (given !== undefined) return given;
  // The server compares the schema with what it sent.
  if (name === "json_schema_echo") return { schema: tools.find((tool) => tool.name !== name)?.inputSchema ?? {} };
  const properties = (schema.properties ?? {}) as Record<string, { type?: string; default?: string; enum?: string[] }>;
  const required = (schema.required ?? Object.keys(properties)) as string[];
  const values = required.map((field) => {
    const { type, default: usual, enum: choices } = properties[field] ?? {};
    if (usual !== undefined) return [field, usual];
    if (choices?.[0] !== undefined) return [field, choices[0]];
    if (type === "number" || type === "integer") return [field, 2];
    if (type === "boolean") return [field, true];
    return [field, type === "object" ? {} : type === "array" ? [] : "text"];
  });
  return Object.fromEntries(values) as JsonObject;
}

const requests = new ServerRequests("conformance", process.cwd());
requests.begin(person);
const oauth = new OAuthClient({
  redirectUrl: "http://localhost:3000/callback",
  newState: () => Math.random().toString(36).slice(2),
  authorize: follow,
  // Only this scenario expects a client that is described at an address.
  clientMetadataUrl: scenario === "auth/basic-cimd" ? "https://conformance-test.local/client-metadata.json" : undefined,
  client: context.client_id === undefined ? undefined : { id: context.client_id, secret: context.client_secret },
});
const onLog = (line: string) => process.stderr.write(`${line}\n`);
const { connection, again } = await connectSigningIn({ config, oauth, fetch, signal, requests, onLog });
process.stderr.write(`protocol ${connection.protocolVersion}\n`);

const { tools, problems } = offeredTools(await again(() => connection.tools(signal)), config);
for (const problem of problems) onLog(problem);
const options = { signal, timeoutMs: 200_000, needsTask: false, onProgress: () => {} };
const wanted = context.toolCalls?.map(({ name }) => name);
for (const { name, inputSchema } of tools) {
  if (wanted !== undefined && !wanted.includes(name)) continue;
  const args = argumentsFor(name, inputSchema);
  for (const problem of (await checkerOf(inputSchema))(args)) onLog(`${name}: ${problem}`);
  await again(() => connection.call(name, args, options)).catch((error: Error) => onLog(`${name}: ${error.message}`));
}
for (const { uri } of await connection.resources(signal).catch(() => []))
  await again(() => connection.readResource(uri, signal)).catch((error: Error) => onLog(`${uri}: ${error.message}`));
for (const { name, arguments: fields = [] } of await connection.prompts(signal).catch(() => [])) {
  const args = Object.fromEntries(fields.map((field) => [field.name, "text"]));
  await again(() => connection.prompt(name, args, signal)).catch((error: Error) => onLog(`${name}: ${error.message}`));
}
await connection.close();
http.close();
