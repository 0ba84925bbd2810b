/** The loop of the conformance adapter. Requests may overlap; each is answered when it is done. */
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";

export type Operation = (request: JsonObject) => JsonObject | Promise<JsonObject>;

/** Loaded at the first request for each. */
const OPERATIONS: Readonly<Record<string, () => Promise<Operation>>> = {
  classify_ip: async () => (await import("./ssrf.js")).classifyIp,
  decide_url: async () => (await import("./ssrf.js")).decideUrl,
  decide_shell: async () => (await import("./bash.js")).handleDecideShell,
  edit: async () => (await import("./edit.js")).handleEdit,
  load_instructions: async () => (await import("./instructions.js")).loadInstructions,
  path_inside: async () => (await import("./containment.js")).pathInside,
  redact: async () => (await import("./redact.js")).handleRedact,
  sanitize_terminal: async () => (await import("./terminal.js")).handleSanitizeTerminal,
  sse: async () => (await import("./sse.js")).sse,
  stream: async () => (await import("./stream.js")).stream,
  validate_skill: async () => (await import("./skills.js")).validateSkill,
  wrap_untrusted: async () => (await import("./untrusted.js")).handleWrapUntrusted,
};

export async function serve(input: Readable, output: Writable): Promise<void> {
  const running = new Set<Promise<void>>();
  for await (const line of createInterface({ input })) {
    if (line.trim() === "") continue;
    const one = respond(line).then((answer) => {
      output.write(`${JSON.stringify(answer)}\n`);
      running.delete(one);
    });
    running.add(one);
  }
  await Promise.all(running);
}

async function respond(line: string): Promise<JsonObject> {
  let request: JsonObject = {};
  try {
    const value: unknown = JSON.parse(line);
    if (isJsonObject(value)) request = value;
    const name = String(request.op);
    const load = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
    if (load === undefined) return { n: request.n, unsupported: true };
    const operation = await load();
    return { n: request.n, ...(await operation(request)) };
  } catch (error) {
    return { n: request.n, status: "error", message: error instanceof Error ? error.message : String(error) };
  }
}
