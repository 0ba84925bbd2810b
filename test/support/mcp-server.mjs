/**
 * A small MCP server for tests, without a library: what it does is in the JSON of its first argument, or of the file that
 * `plan` names, so that a test can change it while it runs.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , first = "{}"] = process.argv;
const read = () => ({
  name: "fixture",
  tools: {},
  ...JSON.parse(existsSync(first) ? readFileSync(first, "utf8") : first),
});
const plan = read();
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const note = (line) => plan.record && appendFileSync(plan.record, `${line}\n`);
note(`start ${process.pid} ${JSON.stringify(Object.keys(process.env).sort())}`);
if (plan.stderr) process.stderr.write(plan.stderr);
if (plan.exitAtStart) process.exit(plan.exitAtStart);
if (plan.floodAtStart)
  for (let i = 0; i < 30_000; i++) send({ method: "notifications/message", params: { level: "info", data: `${i}` } });

const waiting = new Map();
let next = 1000;
/** Asks the client. */
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = next++;
    waiting.set(id, resolve);
    send({ id, method, params });
  });

const SCHEMA = { type: "object", properties: { text: { type: "string" } } };
const toolsOf = ({ tools }) =>
  Object.entries(tools).map(([name, tool]) => ({
    name,
    description: tool.description ?? `Does ${name}.`,
    inputSchema: tool.schema ?? SCHEMA,
    ...(tool.annotations && { annotations: tool.annotations }),
    ...(tool.more ?? {}),
  }));

async function call({ name, arguments: args = {}, _meta }) {
  const now = read();
  const tool = now.tools[name];
  note(`call ${name} ${JSON.stringify(args)}`);
  if (tool === undefined) throw { code: -32602, message: `no tool ${name}` };
  if (tool.exit !== undefined) {
    // Only as often as the plan says.
    const count = existsSync(`${first}.exits`) ? Number(readFileSync(`${first}.exits`, "utf8")) : 0;
    writeFileSync(`${first}.exits`, String(count + 1));
    if (count < tool.exit) process.exit(7);
  }
  if (tool.hang) await new Promise(() => setInterval(() => {}, 1000));
  if (tool.progress) {
    for (const [index, message] of tool.progress.entries())
      send({
        method: "notifications/progress",
        params: { progressToken: _meta?.progressToken, progress: index + 1, total: tool.progress.length, message },
      });
  }
  if (tool.add) {
    writeFileSync(first, JSON.stringify({ ...now, tools: { ...now.tools, ...tool.add } }));
    send({ method: "notifications/tools/list_changed" });
  }
  if (tool.ask) {
    const answer = await ask(tool.ask.method, tool.ask.params);
    return { content: [{ type: "text", text: JSON.stringify(answer) }] };
  }
  if (tool.result) return tool.result;
  return { content: [{ type: "text", text: `${name} got ${JSON.stringify(args)}` }] };
}

const handlers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: plan.version ?? protocolVersion,
    capabilities: { tools: { listChanged: true }, resources: {}, prompts: {}, logging: {} },
    serverInfo: { name: plan.name, version: "1" },
    ...(plan.instructions && { instructions: plan.instructions }),
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: toolsOf(read()) }),
  "tools/call": call,
  "resources/list": () => ({ resources: Object.keys(plan.resources ?? {}).map((uri) => ({ uri, name: uri })) }),
  "resources/read": ({ uri }) => {
    note(`resource ${uri}`);
    const text = plan.resources?.[uri];
    if (text === undefined) throw { code: -32002, message: `no resource ${uri}` };
    return { contents: [{ uri, mimeType: "text/plain", text }] };
  },
  "prompts/list": () => ({
    prompts: Object.entries(plan.prompts ?? {}).map(([name, prompt]) => ({
      name,
      description: `Prompt ${name}`,
      arguments: prompt.arguments ?? [],
    })),
  }),
  "prompts/get": ({ name, arguments: args = {} }) => ({
    messages: [{ role: "user", content: { type: "text", text: `${plan.prompts[name].text} ${JSON.stringify(args)}` } }],
  }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {}, result, error } = JSON.parse(line);
  if (method === undefined) {
    waiting.get(id)?.(result ?? { error });
    continue;
  }
  note(method);
  if (id === undefined) continue;
  if (plan.exitOnUnknown && !handlers[method]) process.exit(3);
  if (plan.silent?.includes(method)) continue;
  const answer = async () =>
    handlers[method]?.(params) ?? Promise.reject({ code: -32601, message: "Method not found" });
  void answer().then(
    (value) => send({ id, result: value }),
    (problem) => send({ id, error: { code: problem.code ?? -32603, message: problem.message ?? String(problem) } }),
  );
}
