/** `wire/loops` of the suites: recorded tool loops of real services, driven by our loop, with the recorded results delimited. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Harness } from "../../src/library/index.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/json.js";
import { insideBlock } from "../support/inside-block.js";
import { sampleKey } from "../support/program.js";
import { SUITES, suiteCases } from "../support/suites.js";

interface Step {
  readonly url: string;
  readonly request: JsonValue;
  readonly content_type: string;
  readonly file: string;
}

const WIRES = [
  { ending: "/messages", provider: "anthropic", path: "" },
  { ending: "/chat/completions", provider: "openai", path: "/v1" },
  { ending: "/responses", provider: "openai-responses", path: "/v1" },
];

let close: (() => void) | undefined;
afterEach(() => close?.());

/** Answers each request with the next recording. */
async function replay(steps: readonly Step[]) {
  const bodies: JsonValue[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const step = steps[bodies.length];
    bodies.push(JSON.parse(Buffer.concat(pieces).toString()) as JsonValue);
    if (step === undefined) return response.writeHead(500).end();
    response.writeHead(200, { "content-type": step.content_type });
    response.end(readFileSync(join(SUITES, "wire", step.file)));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  close = () => server.close();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

/** Every result of a tool in a request, on whichever wire. */
function resultsIn(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(resultsIn);
  if (!isJsonObject(value)) return [];
  const said = value.type === "function_call_output" ? value.output : value.content;
  if (value.type === "tool_result" || value.role === "tool" || value.type === "function_call_output") {
    return [said].flat().map((part) => (isJsonObject(part) ? String(part.text) : String(part)));
  }
  return Object.values(value).flatMap(resultsIn);
}

function toolsOf({ tools = [] }: JsonObject): readonly string[] {
  return (tools as JsonObject[]).map(({ name, function: inner }) => String(name ?? (inner as JsonObject).name));
}

const loops = suiteCases("wire/loops.json").flatMap(({ name, steps }) => {
  const all = steps as unknown as readonly Step[];
  const wire = WIRES.find(({ ending }) => all[0]?.url.endsWith(ending));
  const last = all.at(-1)?.request;
  return wire === undefined || resultsIn(last).length === 0 ? [] : [[String(name), { wire, all }] as const];
});

describe("wire/loops", () => {
  it.each(loops)("%s", async (_name, { wire, all }) => {
    const { url, bodies } = await replay(all);
    const request = all.at(-1)?.request as JsonObject;
    const recorded = [...resultsIn(request)];
    const tools = toolsOf(request).map((name) => ({
      name,
      description: name,
      inputSchema: { type: "object" },
      execute: () => recorded[0] ?? "",
    }));
    const config = { provider: wire.provider, model: String(request.model), baseUrl: `${url}${wire.path}` };
    const result = await new Harness({ apiKey: sampleKey(), ...config }, tools).prompt("Go.");
    expect([result.outcome, bodies.length]).toEqual(["answered", all.length]);
    expect(resultsIn(bodies.at(-1)).map(insideBlock)).toEqual(recorded);
  });
});
