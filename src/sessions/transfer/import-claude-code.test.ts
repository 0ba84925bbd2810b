import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { plainText, text as textBlock } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import { failure } from "../../protocol/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import { turnsOf } from "../branch.js";
import { rebuildConversation } from "../conversation.js";
import { ForeignTurns } from "./foreign-session.js";
import { importTranscript } from "./import.js";
import { ClaudeLines, collect, OPTIONS, OTHER_SESSION, orderProblems, stream, toolUse } from "./test-support/sample.js";

async function read(transcript: ClaudeLines) {
  const result = await importTranscript(stream(transcript.text()), OPTIONS);
  expect(result.kind).toBe("claude-code");
  const events = await collect(result.events);
  expect(orderProblems(events, OTHER_SESSION)).toEqual([]);
  return { ...result, events, turns: await collect(turnsOf(stream(events))), messages: await conversation(events) };
}

async function conversation(events: readonly Envelope[]) {
  return (await rebuildConversation(stream(events))).messages;
}

const said = (text: string): JsonObject => ({ type: "text", text });

/** One question, two calls side by side, an answer. */
function sideBySide(): ClaudeLines {
  const lines = new ClaudeLines();
  lines.other({ type: "file-history-snapshot", messageId: "x", snapshot: {} });
  lines.user("what is in the files?");
  lines.assistant("m1", { type: "thinking", thinking: "Two reads.", signature: "c2ln" });
  lines.assistant("m1", said("I will look."));
  const first = lines.assistant("m1", toolUse("toolu_1", "Bash", { command: "cat a" }));
  lines.assistant("m1", toolUse("toolu_2", "Read", { file_path: "/b" }));
  lines.result("toolu_2", "no such file", { is_error: true, toolUseResult: "Error: no such file" });
  // It hangs on its own call: the other call and its result are beside the path from here to the root.
  lines.result("toolu_1", [said("A")], { parentUuid: first, toolUseResult: { stdout: "A", interrupted: false } });
  lines.assistant("m2", said("a is A, b is missing."), { stop_reason: "end_turn" });
  return lines;
}

describe("import of a Claude Code transcript", () => {
  verifies(["S6"], "keeps calls with their results, thinking, model, usage and times", async () => {
    const { record, events, messages, turns, notes } = await read(sideBySide());
    expect(notes).toEqual([]);
    expect(record).toMatchObject({
      cwd: "/home/ann/project",
      provider: "anthropic",
      model: "claude-some",
      title: "what is in the files?",
      created_at: "2026-02-01T12:00:01.000Z",
    });
    expect(messages).toMatchObject([
      { role: "user", content: [said("what is in the files?")] },
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "Two reads.", provider: "anthropic", opaque: { signature: "c2ln" } },
          said("I will look."),
          { type: "tool_use", tool: "Bash", args: { command: "cat a" } },
          { type: "tool_use", tool: "Read", args: { file_path: "/b" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool: "Bash", content: [said("A")], is_error: false },
          { type: "tool_result", tool: "Read", content: [said("no such file")], is_error: true },
        ],
      },
      { role: "assistant", content: [said("a is A, b is missing.")] },
    ]);
    const tokens = { input: 3, output: 6, cache_read: 5, cache_write: 4, reasoning: 0 };
    expect(events.filter(({ kind }) => kind === "CostIncremented").map(({ payload }) => payload)).toMatchObject([
      { provider: "anthropic", model: "claude-some", usage: tokens, elapsed_ms: 4000 },
      { usage: tokens, elapsed_ms: 1000 },
    ]);
    expect(turns).toMatchObject([{ outcome: "answered", toolCalls: 2, text: "a is A, b is missing." }]);
    expect(events.at(-1)?.ts).toBe("2026-02-01T12:00:08.000Z");
  });

  verifies(["S6"], "follows the branch that was continued", async () => {
    const lines = new ClaudeLines();
    const root = lines.user("count to three");
    lines.assistant("m1", said("1 2 3"));
    lines.user("in words");
    lines.assistant("m2", said("one two three"));
    // Back to after the first answer.
    lines.user("in Latin", { parentUuid: "uuid-2" });
    lines.assistant("m3", said("unus duo tres"));
    expect(root).toBe("uuid-1");
    const { turns, notes } = await read(lines);
    expect(turns.map(({ input, text }) => [input, text])).toEqual([
      ["count to three", "1 2 3"],
      ["in Latin", "unus duo tres"],
    ]);
    expect(notes).toEqual(["Lines of abandoned branches left out: 2."]);
  });

  it("starts again where the first input was changed", async () => {
    const lines = new ClaudeLines();
    lines.user("a typo");
    lines.assistant("m1", said("?"));
    lines.user("the right question", { parentUuid: null });
    lines.assistant("m2", said("!"));
    expect((await read(lines)).turns.map(({ input }) => input)).toEqual(["the right question"]);
  });

  it("loses only a damaged line, not what hangs on it", async () => {
    const lines = sideBySide();
    const text = lines.text();
    text[3] = "{damaged";
    const result = await importTranscript(stream(text), OPTIONS);
    const events = await collect(result.events);
    expect(orderProblems(events, OTHER_SESSION)).toEqual([]);
    expect(result.notes).toEqual(["Line 4 was left out: it is not JSON."]);
    expect((await conversation(events)).map(({ content }) => content.map(({ type }) => type))).toEqual([
      ["text"],
      ["thinking", "tool_use", "tool_use"],
      ["tool_result", "tool_result"],
      ["text"],
    ]);
  });

  verifies(["S6"], "continues from a summary, and keeps everything before it", async () => {
    const lines = new ClaudeLines();
    lines.user("long talk");
    lines.assistant("m1", said("yes"));
    lines.system("compact_boundary", {
      parentUuid: null,
      logicalParentUuid: "uuid-2",
      compactMetadata: { trigger: "auto", preTokens: 9 },
    });
    lines.user("Summary: a long talk.", { isCompactSummary: true, isVisibleInTranscriptOnly: true });
    lines.user("<local-command-caveat>Caveat: …</local-command-caveat>", { isMeta: true });
    lines.user("<command-name>/compact</command-name>\n<command-args></command-args>");
    lines.user("<local-command-stdout>Compacted</local-command-stdout>");
    lines.user("go on");
    lines.assistant("m2", said("gladly"));
    const { events, messages, turns } = await read(lines);
    expect(turns.map(({ input }) => input)).toEqual(["long talk", "go on"]);
    expect(events.find(({ kind }) => kind === "CompactionTriggered")?.payload).toMatchObject({
      reason: "auto",
      summary: "Summary: a long talk.",
    });
    expect(messages.map(({ content }) => content)).toEqual([
      [said("Summary: a long talk.")],
      [said("go on")],
      [said("gladly")],
    ]);
  });

  it("puts a summary of another file in front of the first input", async () => {
    const lines = new ClaudeLines();
    lines.user("Summary of before.", { isCompactSummary: true });
    lines.user("go on");
    lines.assistant("m1", said("gladly"));
    expect((await read(lines)).messages[0]?.content).toEqual([said("Summary of before."), said("go on")]);
  });

  verifies(["S6"], "knows interrupted, rejected and failed turns", async () => {
    const lines = new ClaudeLines();
    lines.user("delete it");
    lines.assistant("m1", toolUse("toolu_1", "Bash", { command: "rm x" }));
    lines.result("toolu_1", "The user doesn't want to proceed with this tool use.", {
      is_error: true,
      toolUseResult: "User rejected tool use",
    });
    lines.user([said("[Request interrupted by user for tool use]")]);
    lines.user("explain");
    lines.assistant("m2", said("Half of an ans"));
    lines.user([said("[Request interrupted by user]")]);
    lines.user("run it");
    lines.assistant("m3", toolUse("toolu_2", "Bash", { command: "sleep 9" }));
    lines.result("toolu_2", "", { toolUseResult: { stdout: "", interrupted: true } });
    lines.assistant("synthetic", said("You've hit your limit"), { isApiErrorMessage: true, error: "rate_limit" });
    lines.user("and now?");
    lines.assistant("m4", toolUse("toolu_3", "Bash", { command: "true" }));
    const { turns, events, messages } = await read(lines);
    expect(turns.map(({ outcome }) => outcome)).toEqual(["cancelled", "cancelled", "failed", "cancelled"]);
    const results = events.filter(({ kind }) => kind === "ToolResult").map(({ payload }) => payload);
    expect(results).toMatchObject([{ status: "denied" }, { status: "cancelled" }, { status: "cancelled" }]);
    expect(results[2]).toMatchObject({ content: [said("The transcript holds no result of this call.")] });
    expect(events.filter(({ kind }) => kind === "Error").map(({ payload }) => payload)).toMatchObject([
      { reason: "RateLimited", message: "You've hit your limit" },
    ]);
    expect(messages.find(({ content }) => JSON.stringify(content).includes("Half of"))).toMatchObject({
      interrupted: true,
    });
  });

  it("keeps the program's messages to the model in their place", async () => {
    const lines = new ClaudeLines();
    lines.user("<bash-input>git status</bash-input>");
    lines.user("<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>");
    lines.user(
      "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>now</command-args>",
    );
    lines.user([said("Review the code as follows …")], { isMeta: true });
    lines.assistant("m1", toolUse("toolu_1", "Skill", { skill: "x" }));
    lines.result("toolu_1", "loaded");
    lines.user([said("Base directory for this skill: /x")], { isMeta: true });
    lines.assistant("m2", said("fine"));
    lines.user("Stop hook feedback: run the tests", { isMeta: true });
    lines.assistant("m3", said("they pass"));
    lines.user("<command-name>/exit</command-name>");
    lines.user("<local-command-stdout>Bye!</local-command-stdout>");
    const { turns, messages } = await read(lines);
    expect(turns.map(({ text }) => text)).toEqual(["fine", "they pass"]);
    expect(messages[0]?.content).toEqual([
      said("<bash-input>git status</bash-input>"),
      said("<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>"),
      said("/review now"),
      said("Review the code as follows …"),
    ]);
    expect(messages[2]?.content).toMatchObject([
      { content: [said("loaded"), said("Base directory for this skill: /x")] },
    ]);
    expect(turns[1]?.input).toBe("Stop hook feedback: run the tests");
  });

  verifies(["S6"], "leaves sub-agents out, but reads a sub-agent's own file", async () => {
    const lines = new ClaudeLines();
    lines.user("find it");
    lines.assistant("m1", toolUse("toolu_1", "Task", { prompt: "find" }));
    lines.user("find", { isSidechain: true, parentUuid: null });
    lines.assistant("s1", said("found in the side room"), { isSidechain: true });
    lines.result("toolu_1", "found", { parentUuid: "uuid-2" });
    lines.assistant("m2", said("It is found."));
    const main = await read(lines);
    expect(main.turns).toMatchObject([{ input: "find it", text: "It is found.", toolCalls: 1 }]);
    expect(main.notes).toEqual(["Lines of sub-agents left out (their results are kept): 2."]);
    const own = new ClaudeLines();
    own.user("find", { isSidechain: true, agentId: "a1" });
    own.assistant("s1", said("found"), { isSidechain: true, agentId: "a1" });
    expect((await read(own)).turns).toMatchObject([{ input: "find", text: "found" }]);
  });

  it("treats text that was typed during a turn as an input", async () => {
    const lines = new ClaudeLines();
    lines.user("start");
    lines.assistant("m1", toolUse("toolu_1", "Bash", { command: "make" }));
    lines.result("toolu_1", "ok");
    lines.other({
      type: "attachment",
      uuid: "queued",
      parentUuid: "uuid-3",
      attachment: { type: "queued_command", commandMode: "prompt", prompt: "and the tests" },
    });
    lines.assistant("m2", said("both done"), { parentUuid: "queued" });
    const { turns } = await read(lines);
    expect(turns.map(({ input, outcome }) => [input, outcome])).toEqual([
      ["start", "cancelled"],
      ["and the tests", "answered"],
    ]);
  });

  it("keeps the order of blocks, images and what only the provider understands", async () => {
    const lines = new ClaudeLines();
    const image = { type: "base64", media_type: "image/png", data: "AAAA" };
    lines.user([{ type: "image", source: image }, said("what is it?"), { type: "document", source: {} }]);
    lines.assistant("m1", said("First."));
    lines.assistant("m1", { type: "redacted_thinking", data: "b64" });
    lines.assistant("m1", { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } });
    lines.assistant("m1", said("Then."), { stop_reason: "max_tokens" });
    const { messages, events } = await read(lines);
    expect(messages[0]?.content).toEqual([
      { type: "image", media_type: "image/png", data: "AAAA" },
      said("what is it?"),
      said("[A document is not in this copy.]"),
    ]);
    expect(messages[1]?.content).toEqual([
      said("First."),
      { type: "thinking", text: "", provider: "anthropic", opaque: { redacted: "b64" } },
      {
        type: "opaque",
        provider: "anthropic",
        data: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
      },
      said("Then."),
    ]);
    expect(events.at(-1)?.payload).toMatchObject({ truncated: true, text: "First.Then." });
  });

  it("has a title from the user, the program or its own summary, in this order", async () => {
    const lines = new ClaudeLines();
    lines.other({ type: "summary", summary: "Of another session", leafUuid: "elsewhere" });
    lines.user("hello\nthere");
    lines.assistant("m1", said("hi"));
    expect((await read(lines)).record.title).toBe("hello");
    lines.other({ type: "summary", summary: "A greeting", leafUuid: "uuid-2" });
    expect((await read(lines)).record.title).toBe("A greeting");
    lines.other({ type: "ai-title", aiTitle: "Greeting", sessionId: "s-1" });
    expect((await read(lines)).record.title).toBe("Greeting");
    lines.other({ type: "custom-title", customTitle: "Mine", sessionId: "s-1" });
    expect((await read(lines)).record.title).toBe("Mine");
  });

  it("names the kinds of lines it does not know", async () => {
    const lines = sideBySide();
    lines.other({ type: "hologram", sessionId: "s-1" });
    lines.other({ type: "hologram", sessionId: "s-1" });
    lines.other({ type: "user", uuid: "empty" });
    const { notes } = await read(lines);
    expect(notes).toEqual([
      "Line 12 was left out: its message is missing.",
      "Lines of unknown kinds were left out: hologram (2).",
    ]);
  });

  it("is refused if it has no messages", async () => {
    const lines = [
      { type: "summary", summary: "x", leafUuid: "y" },
      { type: "mode", sessionId: "s", mode: "default" },
    ];
    const text = lines.map((line) => JSON.stringify(line));
    await expect(importTranscript(stream(text), OPTIONS)).rejects.toThrow("holds no conversation");
  });
});

it.each([
  ["stays a turn if it failed", true, ["/review", "next"]],
  ["is dropped if nothing followed it", false, ["next"]],
])("a command %s", (_, failed, expected) => {
  const turns = new ForeignTurns();
  turns.tentativeInput([textBlock("/review")], undefined);
  if (failed) turns.failure(failure("Internal", { detail: "no answer" }), undefined);
  turns.input([textBlock("next")], undefined);
  expect(turns.turns.map(({ input }) => plainText(input))).toEqual(expected);
});
