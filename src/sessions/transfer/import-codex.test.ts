import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { JsonObject } from "../../protocol/json.js";
import { turnsOf } from "../branch.js";
import { rebuildConversation } from "../conversation.js";
import { importTranscript } from "./import.js";
import { CodexLines, collect, OPTIONS, OTHER_SESSION, orderProblems, stream } from "./test-support/sample.js";

async function read(text: readonly string[]) {
  const result = await importTranscript(stream(text), OPTIONS);
  expect(result.kind).toBe("codex");
  const events = await collect(result.events);
  expect(orderProblems(events, OTHER_SESSION)).toEqual([]);
  const { messages } = await rebuildConversation(stream(events));
  return { ...result, events, messages, turns: await collect(turnsOf(stream(events))) };
}

const said = (text: string): JsonObject => ({ type: "text", text });
const functionCall = (call_id: string, name: string, args: JsonObject): JsonObject => ({
  type: "function_call",
  call_id,
  name,
  arguments: JSON.stringify(args),
});
const output = (call_id: string, words: JsonObject[string]): JsonObject => ({
  type: "function_call_output",
  call_id,
  output: words,
});

function rollout(): CodexLines {
  const lines = new CodexLines();
  lines.add("event_msg", { type: "task_started", turn_id: "t1" });
  lines.item({ type: "message", role: "developer", content: [{ type: "input_text", text: "<permissions>" }] });
  lines.user(
    "# AGENTS.md instructions for /home/ann/project\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
    "<environment_context>\n  <cwd>/home/ann/project</cwd>\n</environment_context>",
  );
  lines.user("what is in a?");
  lines.add("event_msg", { type: "user_message", message: "what is in a?" });
  lines.item({
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "**Looking**" }],
    content: null,
    encrypted_content: "ZW5j",
  });
  lines.add("event_msg", { type: "agent_reasoning", text: "**Looking**" });
  lines.assistant("I will look.");
  lines.item(functionCall("call_a", "shell", { command: ["cat", "a"] }));
  lines.item({ type: "custom_tool_call", call_id: "call_b", name: "apply_patch", input: "*** Begin Patch" });
  lines.item(output("call_a", "Exit code: 0\nWall time: 0 seconds\nOutput:\nA"));
  lines.item({ type: "custom_tool_call_output", call_id: "call_b", output: "Exit code: 1\nOutput:\nno" });
  lines.tokens(121, { input_tokens: 101, cached_input_tokens: 40, output_tokens: 20, reasoning_output_tokens: 5 });
  lines.assistant("It is A.");
  // The count of the answer before, told again.
  lines.tokens(121, { input_tokens: 101, cached_input_tokens: 40, output_tokens: 20, reasoning_output_tokens: 5 });
  lines.tokens(243, { input_tokens: 102, cached_input_tokens: 40, output_tokens: 20, reasoning_output_tokens: 0 });
  lines.add("event_msg", { type: "task_complete", turn_id: "t1", last_agent_message: "It is A." });
  return lines;
}

describe("import of a Codex rollout", () => {
  verifies(["S6"], "keeps calls with their results, thinking, model, usage and times", async () => {
    const { record, messages, events, turns, notes } = await read(rollout().text());
    expect(notes).toEqual([]);
    expect(record).toMatchObject({
      cwd: "/home/ann/project",
      provider: "openai",
      model: "gpt-some",
      title: "what is in a?",
      created_at: "2026-05-01T09:00:00.000Z",
    });
    expect(messages).toMatchObject([
      { role: "user", content: [said("what is in a?")] },
      {
        role: "assistant",
        content: [
          {
            type: "thinking",
            text: "**Looking**",
            provider: "openai",
            opaque: { id: "rs_1", encrypted_content: "ZW5j" },
          },
          said("I will look."),
          { type: "tool_use", tool: "shell", args: { command: ["cat", "a"] } },
          { type: "tool_use", tool: "apply_patch", args: { input: "*** Begin Patch" } },
        ],
      },
      {
        role: "user",
        content: [
          { tool: "shell", is_error: false, content: [said("Exit code: 0\nWall time: 0 seconds\nOutput:\nA")] },
          { tool: "apply_patch", is_error: true },
        ],
      },
      { role: "assistant", content: [said("It is A.")] },
    ]);
    const costs = events.filter(({ kind }) => kind === "CostIncremented").map(({ payload }) => payload);
    expect(costs).toMatchObject([
      { provider: "openai", usage: { input: 61, cache_read: 40, cache_write: 0, output: 20, reasoning: 5 } },
      { usage: { input: 62, cache_read: 40, output: 20, reasoning: 0 } },
    ]);
    expect(turns).toMatchObject([{ outcome: "answered", text: "It is A.", toolCalls: 2 }]);
  });

  verifies(["S6"], "reads the older form, in which lines are bare items", async () => {
    const lines = [
      { id: "0198", timestamp: "2025-07-01T08:00:00.123Z", instructions: null, git: {} },
      { record_type: "state" },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "<environment_context>\n<cwd>/old/place</cwd>\n</environment_context>" }],
      },
      { type: "message", id: null, role: "user", content: [{ type: "input_text", text: "list" }] },
      { type: "local_shell_call", call_id: "c1", status: "completed", action: { type: "exec", command: ["ls"] } },
      output("c1", JSON.stringify({ output: "a b", metadata: { exit_code: 2, duration_seconds: 0.1 } })),
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "a and b" }] },
    ];
    const { record, messages, turns } = await read(lines.map((line) => JSON.stringify(line)));
    expect(record).toMatchObject({ cwd: "/old/place", created_at: "2025-07-01T08:00:00.123Z" });
    expect(messages[1]?.content).toMatchObject([{ type: "tool_use", tool: "local_shell", args: { command: ["ls"] } }]);
    expect(messages[2]?.content).toMatchObject([{ is_error: true }]);
    expect(turns).toMatchObject([{ input: "list", text: "a and b", startedAt: "2025-07-01T08:00:00.123Z" }]);
  });

  verifies(["S6"], "knows cancelled, failed and taken back turns", async () => {
    const lines = rollout();
    lines.user("a mistake");
    lines.assistant("done wrong");
    lines.add("event_msg", { type: "thread_rolled_back", num_turns: 1 });
    lines.user("sleep");
    lines.item(functionCall("call_c", "shell", { command: ["sleep", "9"] }));
    lines.item(output("call_c", "aborted by user after 1.0s"));
    lines.user("<turn_aborted>\nThe user interrupted.\n</turn_aborted>");
    lines.add("event_msg", { type: "turn_aborted", reason: "interrupted" });
    lines.user("try");
    lines.item(functionCall("call_d", "shell", {}));
    lines.item(output("call_d", "exec command rejected by user"));
    lines.add("event_msg", { type: "task_complete", error: { message: "usage limit reached" } });
    const { turns, events } = await read(lines.text());
    expect(turns.map(({ input, outcome }) => [input, outcome])).toEqual([
      ["what is in a?", "answered"],
      ["sleep", "cancelled"],
      ["try", "failed"],
    ]);
    const results = events.flatMap((event) => (event.kind === "ToolResult" ? [event.payload.status] : []));
    expect(results).toEqual(["ok", "error", "cancelled", "denied"]);
    expect(events.at(-1)?.payload).toMatchObject({ failure: { message: "usage limit reached" } });
  });

  it("continues from a readable summary, and keeps everything otherwise", async () => {
    const readable = rollout();
    readable.add("compacted", { message: "Summary: a is A." });
    readable.user("go on");
    readable.assistant("gladly");
    expect((await read(readable.text())).messages.map(({ content }) => content)).toEqual([
      [said("Summary: a is A.")],
      [said("go on")],
      [said("gladly")],
    ]);
    const message = (role: string, text: string) => ({
      type: "message",
      role,
      content: [{ type: "input_text", text }],
    });
    const history = rollout();
    history.add("compacted", {
      message: "",
      replacement_history: [message("user", "what is in a?"), message("user", "A")],
    });
    expect((await read(history.text())).messages.at(-1)?.content).toEqual([said("what is in a?\n\nA")]);
    const encrypted = rollout();
    const hidden = { type: "compaction", encrypted_content: "ZW5j" };
    encrypted.add("compacted", { message: "", replacement_history: [message("user", "what is in a?"), hidden] });
    const { messages, notes } = await read(encrypted.text());
    expect(messages).toHaveLength(4);
    expect(notes).toEqual([expect.stringContaining("An encrypted summary")]);
  });

  it("keeps arguments that are no JSON object, images, and searches of the provider", async () => {
    const lines = new CodexLines();
    lines.item({
      type: "message",
      role: "user",
      content: [
        { type: "input_image", image_url: "data:image/png;base64,AAAA" },
        { type: "input_text", text: "see" },
      ],
    });
    lines.item({ type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } });
    lines.item({ type: "function_call", call_id: "c1", name: "shell", arguments: '{"command": [' });
    lines.item(
      output("c1", [
        { type: "input_text", text: "bad" },
        { type: "input_image", image_url: "https://x/y.png" },
      ]),
    );
    const { messages, turns } = await read(lines.text());
    expect(messages[0]?.content).toEqual([{ type: "image", media_type: "image/png", data: "AAAA" }, said("see")]);
    expect(messages[1]?.content).toMatchObject([
      { type: "opaque", provider: "openai", data: { type: "web_search_call", id: "ws_1" } },
      { type: "tool_use", tool: "shell", args: {}, malformed: '{"command": [' },
    ]);
    expect(messages[2]?.content).toMatchObject([{ content: [said("bad"), said("[An image is not in this copy.]")] }]);
    // The file ends before the model answered.
    expect(turns).toMatchObject([{ outcome: "cancelled" }]);
  });

  it("prefers the newer records of usage and puts each with its answer", async () => {
    const lines = new CodexLines();
    lines.user("go");
    lines.item(functionCall("c1", "shell", {}));
    lines.add("token_usage_record", { usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 2 } });
    lines.item(output("c1", "ok"));
    lines.tokens(12, { input_tokens: 10, cached_input_tokens: 4, output_tokens: 2 });
    lines.assistant("done");
    lines.add("token_usage_record", { usage: { input_tokens: 20, cached_input_tokens: 5, output_tokens: 3 } });
    lines.tokens(35, { input_tokens: 20, cached_input_tokens: 5, output_tokens: 3 });
    const { events, turns } = await read(lines.text());
    const costs = events.flatMap((event) => (event.kind === "CostIncremented" ? [event.payload.usage.input] : []));
    expect(costs).toEqual([6, 15]);
    expect(turns[0]?.usage).toMatchObject({ input: 21, cache_read: 9, output: 5 });
  });

  it("reports unknown entries", async () => {
    const lines = rollout();
    lines.item({ type: "telepathy_call" });
    lines.add("omen", {});
    lines.item(output("nobody", "x"));
    const text = lines.text();
    text.push('{"type":"response_item"}');
    expect((await read(text)).notes).toEqual([
      `Line ${text.length} was left out: its payload is missing.`,
      "Lines of unknown kinds were left out: telepathy_call (1), omen (1).",
      "Results without a call left out: 1.",
    ]);
  });
});
