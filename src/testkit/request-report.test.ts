import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import type { JsonObject } from "../protocol/json.js";
import { readRequests, reportRequests } from "./request-report.js";

const LINE = "one line that is long enough to be worth a count";
const SCHEMA = { type: "object", properties: { path: { type: "string" } } };

/** The same turn in each protocol: a prompt, a tool, an input, a call and its result. */
const BODIES: Readonly<Record<string, JsonObject>> = {
  anthropic: {
    system: [{ type: "text", text: "Be brief." }],
    tools: [{ name: "read", description: "Reads.", input_schema: SCHEMA }],
    messages: [
      { role: "user", content: [{ type: "text", text: "Look." }] },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "read", input: { path: "a" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: LINE }] }] },
    ],
  },
  "openai chat": {
    tools: [{ type: "function", function: { name: "read", description: "Reads.", parameters: SCHEMA } }],
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Look." },
      {
        role: "assistant",
        tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: LINE },
    ],
  },
  "openai responses": {
    instructions: "Be brief.",
    tools: [{ type: "function", name: "read", description: "Reads.", parameters: SCHEMA }],
    input: [
      { role: "user", content: [{ type: "input_text", text: "Look." }] },
      { type: "function_call", call_id: "c1", name: "read", arguments: '{"path":"a"}' },
      { type: "function_call_output", call_id: "c1", output: LINE },
    ],
  },
  gemini: {
    systemInstruction: { parts: [{ text: "Be brief." }] },
    tools: [{ functionDeclarations: [{ name: "read", description: "Reads.", parameters: SCHEMA }] }],
    contents: [
      { role: "user", parts: [{ text: "Look." }] },
      { role: "model", parts: [{ functionCall: { name: "read", args: { path: "a" } } }] },
      { role: "user", parts: [{ functionResponse: { name: "read", response: { output: LINE } } }] },
    ],
  },
  ollama: {
    tools: [{ type: "function", function: { name: "read", description: "Reads.", parameters: SCHEMA } }],
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Look." },
      { role: "assistant", content: "", tool_calls: [{ function: { name: "read", arguments: { path: "a" } } }] },
      { role: "tool", tool_name: "read", content: LINE },
    ],
  },
};

describe("the report of a run", () => {
  verifies(["L21"], "measures the same turn alike in every protocol", () => {
    const [first] = Object.values(BODIES).map((body) => reportRequests([body]));
    for (const [wire, body] of Object.entries(BODIES)) {
      const { parts, tools, results } = reportRequests([body]);
      expect([wire, Object.values(parts).map((tokens) => tokens > 0)]).toEqual([
        wire,
        [true, true, true, false, true, true],
      ]);
      expect([wire, parts.prompt, parts.inputs, parts.calls, results]).toEqual([
        wire,
        first?.parts.prompt,
        first?.parts.inputs,
        first?.parts.calls,
        first?.results,
      ]);
      expect([wire, tools.map(({ name }) => name)]).toEqual([wire, ["read"]]);
    }
  });

  verifies(["L21"], "adds up the requests of a run, and finds what a cache can serve and what is sent twice", () => {
    const body = BODIES.anthropic as JsonObject & { readonly messages: readonly JsonObject[] };
    const turns = [1, 3].map((count) => ({ ...body, messages: body.messages.slice(0, count) }));
    const again = { ...body, messages: [...body.messages, { role: "user", content: LINE }] };
    const { requests, firstTokens, tokens, repeatedPrefix, repeated } = reportRequests([...turns, again]);
    const [one, two, three] = [...turns, again].map((each) => reportRequests([each]).tokens) as [
      number,
      number,
      number,
    ];
    expect([requests, firstTokens, tokens]).toEqual([3, one, one + two + three]);
    expect(repeatedPrefix).toBe(one + two);
    expect(repeated).toEqual([{ name: LINE, tokens: expect.any(Number) }]);
  });

  verifies(["L21"], "reads records of the mock model, lines and lists of bodies, and one body", () => {
    const body = BODIES.gemini as JsonObject;
    const record = JSON.stringify({ number: 1, wire: "gemini", body });
    const lookup = JSON.stringify({ number: 1, path: "/v1/models", body: "" });
    for (const text of [
      `${lookup}\n${record}\n`,
      `${JSON.stringify(body)}\n`,
      JSON.stringify([body]),
      JSON.stringify(body, null, 2),
    ])
      expect(readRequests(text)).toEqual([body]);
    expect(readRequests("no json\n{}")).toEqual([]);
  });
});
