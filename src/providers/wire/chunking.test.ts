/** However the network cuts a stream, its events are the same. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import type { JsonObject } from "../../protocol/json.js";
import { anthropic } from "./anthropic.js";
import { replay } from "./framing.js";
import { gemini } from "./gemini.js";
import { ollama } from "./ollama.js";
import { openaiChat } from "./openai-chat.js";
import { openaiResponses } from "./openai-responses.js";
import type { Wire } from "./wire.js";

const TOOLS = [{ name: "read", description: "", inputSchema: {} }];
const CONTEXT = { provider: "p", family: "f", model: "m", url: "http://host/", tools: TOOLS };

const words = fc.string({ unit: "grapheme", maxLength: 12 });
const args = fc.dictionary(fc.string({ maxLength: 5 }), fc.oneof(words, fc.integer(), fc.boolean()), { maxKeys: 3 });
/** Makes what a model could say: pieces of text, of thinking, and calls. */
const saying = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("text" as const), pieces: fc.array(words, { maxLength: 5 }) }),
    fc.record({ kind: fc.constant("thinking" as const), pieces: fc.array(words, { maxLength: 5 }) }),
    fc.record({ kind: fc.constant("call" as const), args, cut: fc.nat(20) }),
  ),
  { maxLength: 5 },
);
type Saying = typeof saying extends fc.Arbitrary<infer T> ? T : never;
type Write = (parts: Saying, lineEnd: string) => string;

const anthropicStream: Write = (parts, end) => {
  const out: JsonObject[] = [{ type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } }];
  for (const [index, part] of parts.entries()) {
    const add = (delta: JsonObject) => out.push({ type: "content_block_delta", index, delta });
    const start = (block: JsonObject) => out.push({ type: "content_block_start", index, content_block: block });
    if (part.kind === "call") {
      const json = JSON.stringify(part.args);
      start({ type: "tool_use", id: `t${index}`, name: "read", input: {} });
      for (const piece of [json.slice(0, part.cut), json.slice(part.cut)])
        add({ type: "input_json_delta", partial_json: piece });
    } else {
      start({ type: part.kind, [part.kind]: "" });
      for (const piece of part.pieces) add({ type: `${part.kind}_delta`, [part.kind]: piece });
      if (part.kind === "thinking") add({ type: "signature_delta", signature: "sig" });
    }
    out.push({ type: "content_block_stop", index });
  }
  out.push(
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  );
  return out.map((data) => `event: ${data.type}${end}data: ${JSON.stringify(data)}${end}${end}`).join("");
};

const chatStream: Write = (parts, end) => {
  const deltas: JsonObject[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.kind === "call") {
      const json = JSON.stringify(part.args);
      const call = (more: JsonObject) => deltas.push({ tool_calls: [{ index, ...more }] });
      call({ id: `c${index}`, function: { name: "read", arguments: json.slice(0, part.cut) } });
      call({ function: { arguments: json.slice(part.cut) } });
    } else {
      const field = part.kind === "text" ? "content" : "reasoning_content";
      for (const piece of part.pieces) deltas.push({ [field]: piece });
    }
  }
  const chunks = deltas.map((delta) => JSON.stringify({ choices: [{ index: 0, delta }] }));
  const last = JSON.stringify({
    choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  });
  return [...chunks, last, "[DONE]"].map((data) => `: ping${end}${end}data: ${data}${end}${end}`).join("");
};

const responsesStream: Write = (parts, end) => {
  const out: JsonObject[] = [{ type: "response.created", response: {} }];
  for (const [index, part] of parts.entries()) {
    const add = (type: string, more: JsonObject) =>
      out.push({ type: `response.${type}`, output_index: index, ...more });
    if (part.kind === "call") {
      const written = JSON.stringify(part.args);
      const item = { type: "function_call", call_id: `c${index}`, name: "read", arguments: "" };
      add("output_item.added", { item });
      for (const delta of [written.slice(0, part.cut), written.slice(part.cut)])
        add("function_call_arguments.delta", { delta });
      add("output_item.done", { item: { ...item, arguments: written } });
    } else if (part.kind === "text") {
      add("output_item.added", { item: { type: "message", content: [] } });
      for (const delta of part.pieces) add("output_text.delta", { delta });
      add("output_item.done", {
        item: { type: "message", content: [{ type: "output_text", text: part.pieces.join("") }] },
      });
    } else {
      const summary = [{ type: "summary_text", text: part.pieces.join("") }];
      add("output_item.added", { item: { type: "reasoning", id: `r${index}`, summary: [] } });
      for (const delta of part.pieces) add("reasoning_summary_text.delta", { delta });
      add("output_item.done", { item: { type: "reasoning", id: `r${index}`, summary, encrypted_content: "e" } });
    }
  }
  out.push({
    type: "response.completed",
    response: { status: "completed", usage: { input_tokens: 1, output_tokens: 2 } },
  });
  return out.map((data) => `event: ${data.type}${end}data: ${JSON.stringify(data)}${end}${end}`).join("");
};

const geminiStream: Write = (parts, end) => {
  const out: JsonObject[] = [];
  for (const part of parts) {
    if (part.kind === "call") {
      out.push({ functionCall: { name: "read", args: part.args }, ...(part.cut > 5 && { thoughtSignature: "s" }) });
    } else
      for (const piece of part.pieces) out.push({ text: piece, ...(part.kind === "thinking" && { thought: true }) });
  }
  const chunks = out.map((part) => ({ candidates: [{ content: { role: "model", parts: [part] } }] }));
  const last = {
    candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
  };
  return [...chunks, last].map((data) => `data: ${JSON.stringify(data)}${end}${end}`).join("");
};

const ollamaStream: Write = (parts) => {
  const messages: JsonObject[] = [];
  for (const part of parts) {
    if (part.kind === "call")
      messages.push({ content: "", tool_calls: [{ function: { name: "read", arguments: part.args } }] });
    else
      for (const piece of part.pieces)
        messages.push(part.kind === "text" ? { content: piece } : { content: "", thinking: piece });
  }
  return [
    ...messages.map((message) => ({ message, done: false })),
    { message: { content: "" }, done: true, eval_count: 3 },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
};

const WIRES: readonly [string, Wire<unknown>, Write][] = [
  ["anthropic", anthropic, anthropicStream],
  ["openai-chat", openaiChat, chatStream],
  ["openai-responses", openaiResponses, responsesStream],
  ["gemini", gemini, geminiStream],
  ["ollama", ollama, ollamaStream],
];

describe.each(WIRES)("%s", (_, wire, write) => {
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 12 });
  const lineEnd = fc.constantFrom("\n", "\r\n", "\r");

  it("gives the same events for any cut of the bytes", () => {
    fc.assert(
      fc.property(saying, lineEnd, sizes, (parts, end, cuts) => {
        const bytes = Buffer.from(write(parts, end));
        const whole = replay(wire, CONTEXT, [bytes]);
        expect(replay(wire, CONTEXT, cut(bytes, cuts))).toEqual(whole);
        expect(whole.at(-1)).toMatchObject({ type: "stop" });
      }),
      { numRuns: times(60, 200) },
    );
  });

  it("repeats the text of the deltas in its blocks, and ends exactly once", () => {
    fc.assert(
      fc.property(saying, fc.nat(3000), (parts, length) => {
        const bytes = Buffer.from(write(parts, "\n")).subarray(0, length);
        const events = replay(wire, CONTEXT, [bytes]);
        const ends = events.filter((event) => event.type === "stop" || event.type === "failure");
        expect(ends).toEqual([events.at(-1)]);
        if (events.at(-1)?.type === "failure") return;
        for (const kind of ["text", "thinking"] as const) {
          const shown = events.map((event) => (event.type === kind ? event.text : "")).join("");
          const kept = events.map((event) =>
            event.type === "block" && event.block.type === kind ? event.block.text : "",
          );
          expect(kept.join("")).toBe(shown);
        }
      }),
      { numRuns: times(60, 200) },
    );
  });
});

function cut(bytes: Uint8Array, sizes: readonly number[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
