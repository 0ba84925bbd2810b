import { Client, InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { keepSoundEntries, type Revision } from "./sound-lists.js";

const LEGACY: Revision = { era: "legacy", hasHeaders: false };

/** Tells what the library makes of the lists of a server. */
async function listed(lists: Readonly<Record<string, readonly unknown[]>>, revision = LEGACY) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  theirs.onmessage = (message) => {
    const { id, method } = message as { id?: number; method: string };
    const result =
      method === "initialize"
        ? {
            protocolVersion: "2025-11-25",
            capabilities: { tools: {}, prompts: {}, resources: {} },
            serverInfo: { name: "s", version: "1" },
          }
        : { [method.split("/")[0] ?? ""]: lists[method] };
    if (id !== undefined) void theirs.send({ jsonrpc: "2.0", id, result } as JSONRPCMessage);
  };
  await theirs.start();
  const problems: string[] = [];
  keepSoundEntries(ours, { onProblem: (problem) => void problems.push(problem), revision: () => revision });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(ours);
  const { tools } = await client.listTools();
  const { prompts } = await client.listPrompts();
  const { resources } = await client.listResources();
  await client.close();
  const namesOf = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name);
  return { tools, names: [tools, prompts, resources].map(namesOf), problems };
}

const none = { "tools/list": [], "prompts/list": [], "resources/list": [] };
const FINE = { name: "fine", inputSchema: { type: "object", properties: { a: { type: "string" } } } };

verifies(["E6"], "one malformed entry of a list costs only that entry, and is named", async () => {
  const wrong = ["nope", null, 7, [], { type: "string" }, { type: "object", properties: [] }];
  const schemas = [...wrong, { required: "a" }, { required: [1] }, { $schema: 1 }];
  const tools = [
    ...[null, "tool", {}, { name: 5 }, { name: "" }],
    FINE,
    ...schemas.map((inputSchema, at) => ({ name: `wrong${at}`, inputSchema })),
    { name: "output", inputSchema: { type: "object" }, outputSchema: "text" },
  ];
  for (const tool of tools) {
    const { names, problems } = await listed({ ...none, "tools/list": [tool, { ...FINE, name: "last" }] });
    expect(names[0], JSON.stringify(tool)).toEqual(tool === FINE ? ["fine", "last"] : ["last"]);
    const name = (tool as { name?: unknown } | null)?.name;
    if (tool === FINE) expect(problems).toEqual([]);
    else if (typeof name === "string" && name !== "")
      expect(problems.join()).toContain(`lists the tool '${name}', which`);
    else expect(problems).toEqual(["lists a tool without a usable name"]);
  }
  const prompts = [{ name: "ask", arguments: "x" }, { name: "fine", arguments: [{ name: "a" }] }, { arguments: [] }];
  const resources = [{ uri: 5, name: "five" }, { uri: "a://b" }, { name: "lost" }];
  const others = await listed({ ...none, "prompts/list": prompts, "resources/list": resources });
  expect(others.names).toEqual([[], ["fine"], ["a://b"]]);
  expect(others.problems).toContain("lists the prompt 'ask', which is left out: its arguments are not a list");
  expect(others.problems).toContain("lists the resource 'five', which is left out: its address is not text");
});

verifies(["E6"], "wrong decorations of a tool cost nothing, and a missing type is the one of an object", async () => {
  const odd = { title: null, description: null, annotations: { readOnlyHint: "yes", title: 5 }, icons: 7, _meta: null };
  const more = { ...odd, execution: { taskSupport: "maybe" }, outputSchema: null, inputSchema: { properties: {} } };
  const { tools, problems } = await listed({ ...none, "tools/list": [{ name: "odd", ...more }, { name: "bare" }] });
  expect(problems).toEqual([]);
  expect(tools).toEqual([
    { name: "odd", inputSchema: { type: "object", properties: {} }, annotations: {} },
    { name: "bare", inputSchema: { type: "object" } },
  ]);
});

verifies(["E6"], "a list of broken tools is reported in a few lines", async () => {
  const many = Array.from({ length: 900 }, (_, at) => ({ name: `\u001b[2Jt${at}`, inputSchema: 1 }));
  const { problems } = await listed({ ...none, "tools/list": many });
  expect(problems).toHaveLength(6);
  expect(problems.at(-1)).toBe("has 895 more problems like these");
  expect(problems.join()).not.toContain("\u001b");
});

verifies(["E6"], "a tool that declares headers in a wrong way is left out without a word of the library", async () => {
  const revision: Revision = { era: "modern", hasHeaders: true };
  const text = { type: "string" };
  const wrong = [
    { "x-mcp-header": "A" },
    { properties: { a: { ...text, "x-mcp-header": "\u001b[2J" } } },
    { properties: { a: { type: "number", "x-mcp-header": "A" } } },
    { properties: { a: { items: { ...text, "x-mcp-header": "A" } } } },
    { properties: { a: { ...text, "x-mcp-header": "A" }, b: { ...text, "x-mcp-header": "a" } } },
  ];
  const right = { properties: { a: { properties: { b: { ...text, "x-mcp-header": "A" } } }, "x-mcp-header": text } };
  for (const inputSchema of [...wrong, right]) {
    const { names, problems } = await listed({ ...none, "tools/list": [{ name: "t", inputSchema }] }, revision);
    expect(names[0], JSON.stringify(inputSchema)).toEqual(inputSchema === right ? ["t"] : []);
    if (inputSchema !== right) expect(problems.join()).toMatch(/^lists the tool 't', which is left out: its schema /);
  }
});
