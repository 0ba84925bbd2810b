import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { type AssistantBlock, type ImageBlock, ownText, type TextBlock } from "../../protocol/content.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { StoreError } from "../store.js";
import { type MessageEntry, messageFileName, parseMessage, renderMessage } from "./message-file.js";

const TICKS = "`".repeat(3);

/** Texts made of what could be mistaken for the format itself. */
const piece = fc.constantFrom(
  "\n",
  "\n\n",
  "\r\n",
  "\r",
  " ",
  "---\n",
  "---",
  "role: assistant\n",
  "a",
  "\ufeff",
  "\0",
  "\ud800",
  "é𝄞\u2028",
  TICKS,
  `${TICKS}\n`,
  `${TICKS}\`\n`,
  `${TICKS}tool_call id=call_1 name=bash\n{}\n${TICKS}`,
  `\n${TICKS}tool_call name=bash\n`,
  `\n${TICKS}\`verbatim\n`,
  `${TICKS}verbatim encoding=json\n`,
  `${TICKS}thinking provider=x opaque={"a":1}\n`,
  `${TICKS}thinking opaque=\n`,
  `${TICKS}image type=image/png\n`,
  `${TICKS}opaque provider=p\n`,
  `${TICKS}yield\n`,
  `${TICKS}js\ncode\n${TICKS}\n`,
);
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc
    .array(fc.oneof({ weight: 4, arbitrary: piece }, fc.string({ maxLength: 5 })), { maxLength: 8 })
    .map((all) => all.join("")),
);
const word = fc.oneof(fc.constantFrom("bash", "anthropic", "true", "12", "a:b", "a: b", "- x", "~", ""), anyText);
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
const object = fc
  .dictionary(fc.oneof(fc.constantFrom("__proto__", "1", "command"), anyText), json, { maxKeys: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
const textBlock: fc.Arbitrary<TextBlock> = anyText.map((text) => ({ type: "text", text }));
const imageBlock: fc.Arbitrary<ImageBlock> = fc.record({
  type: fc.constant("image" as const),
  media_type: word,
  data: anyText,
});
const option = <T>(arbitrary: fc.Arbitrary<T>, name: string) =>
  fc.option(arbitrary, { nil: undefined }).map((value) => (value === undefined ? {} : { [name]: value }));
const merged = <T>(...parts: readonly fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as T);

const assistantBlock: fc.Arbitrary<AssistantBlock> = fc.oneof(
  textBlock,
  merged<AssistantBlock>(
    fc.record({ type: fc.constant("thinking"), text: anyText, provider: word }),
    option(json, "opaque"),
  ),
  merged<AssistantBlock>(
    fc.record({ type: fc.constant("tool_use"), call: word, tool: word, args: object }),
    option(anyText, "malformed"),
  ),
  fc.record({ type: fc.constant("opaque" as const), provider: word, data: json }),
  fc.constant({ type: "yield" as const }),
);
const plainBlocks = fc.array(fc.oneof(textBlock, imageBlock), { maxLength: 4 });
const ownBlock = anyText.map(ownText);
const resultBlocks = fc.array(fc.oneof(textBlock, ownBlock, imageBlock), { maxLength: 4 });
const base = merged<object>(
  fc.record({ seq: fc.integer({ min: 1, max: 99_999 }) }),
  option(fc.constant("2026-01-31T12:00:00.000Z"), "timestamp"),
);
const count = fc.nat(1_000_000);
const usage = fc.record({ input: count, output: count, cache_read: count, cache_write: count, reasoning: count });
const entry: fc.Arbitrary<MessageEntry> = fc.oneof(
  merged<MessageEntry>(
    base,
    fc.record({ role: fc.constant("user"), content: plainBlocks }),
    option(fc.constant(true), "compaction"),
  ),
  merged<MessageEntry>(
    base,
    fc.record({ role: fc.constant("assistant"), content: fc.array(assistantBlock, { maxLength: 5 }) }),
    option(word, "model"),
    option(word, "provider"),
    option(fc.constantFrom("end", "tool_calls", "length", "error"), "stop"),
    option(usage, "usage"),
  ),
  merged<MessageEntry>(
    base,
    fc.record({
      role: fc.constant("tool_result"),
      content: resultBlocks,
      status: fc.constantFrom("ok", "denied", "timeout"),
    }),
    option(word, "call"),
    option(word, "tool"),
  ),
);

const call = "call_01J0000000000000000000000A" as CallId;
const read = (text: string, name = "0001-user.md") => parseMessage(text, name);

describe("a message file", () => {
  verifies(["S7"], "gives back any message as it was", () => {
    fc.assert(
      fc.property(entry, (message) => {
        const file = Buffer.from(renderMessage(message)).toString("utf8");
        expect(read(file, messageFileName(message))).toEqual(message);
      }),
      { numRuns: times(400, 2000) },
    );
  });

  verifies(["S7"], "has front matter, and calls in canonical fences", () => {
    const usage = { input: 10, output: 5, cache_read: 3, cache_write: 0, reasoning: 1 };
    const message: MessageEntry = {
      role: "assistant",
      seq: 2,
      timestamp: "2026-01-31T12:00:00.000Z",
      model: "echo-1",
      provider: "offline",
      stop: "tool_calls",
      usage,
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", call, tool: "bash", args: { command: "ls -la" } },
      ],
    };
    expect(messageFileName(message)).toBe("0002-assistant.md");
    expect(renderMessage(message)).toBe(`---
role: assistant
seq: 2
timestamp: 2026-01-31T12:00:00.000Z
model: echo-1
provider: offline
stop: tool_calls
input_tokens: 10
output_tokens: 5
cache_read_tokens: 3
cache_write_tokens: 0
reasoning_tokens: 1
---

I look.

${TICKS}tool_call id=${call} name=bash
{"command":"ls -la"}
${TICKS}
`);
  });

  it("uses a longer fence for what holds one, and leaves ordinary code blocks alone", () => {
    const code = `Try:\n\n${TICKS}sh\nls\n${TICKS}\n\nor not.`;
    const sample = `${TICKS}tool_call name=bash\n{}\n${TICKS}`;
    const render = (text: string) => renderMessage({ role: "assistant", seq: 1, content: [{ type: "text", text }] });
    expect(render(code)).toContain(`---\n\n${code}\n`);
    expect(render(sample)).toContain(`\n${TICKS}\`verbatim\n${sample}\n${TICKS}\`\n`);
  });

  verifies(["S7"], "reads what people write by hand", () => {
    const hello = { role: "user", seq: 1, content: [{ type: "text", text: "hello" }] };
    expect(read("hello")).toEqual(hello);
    expect(read("hello\n", "1-user.md")).toEqual(hello);
    expect(read("\ufeffhello\r\n", "1-USER.md")).toEqual(hello);
    expect(read("---\r\nrole: user\r\n---\r\n\r\na\r\nb\r\n")).toMatchObject({ content: [{ text: "a\nb" }] });
    expect(read("---\nrole: 'user' # me\nmine: [1]\n\n---\nhello\n", "1.md")).toEqual(hello);
    expect(read("---\n# a heading between two rules\nnot a field\n---\n")).toMatchObject({
      content: [{ text: "---\n# a heading between two rules\nnot a field\n---" }],
    });
    const spaced = `\n\n${TICKS}tool_call name=read   id="x y"  \n\n{"path":\n "a"}\n${TICKS}  \n\n\n${TICKS}tool_call name=b\n${TICKS}\nend`;
    expect(read(spaced, "7-assistant.md").content).toEqual([
      { type: "tool_use", call: "x y", tool: "read", args: { path: "a" } },
      { type: "tool_use", call: "call_7_1", tool: "b", args: {} },
      { type: "text", text: "end" },
    ]);
    expect(read("it worked", "3-tool-result.md")).toMatchObject({ role: "tool_result", status: "ok" });
  });

  it("drops a provider's seal on a thought that was changed", () => {
    const thought = {
      type: "thinking",
      text: "two and two is four",
      provider: "p",
      opaque: { signature: "s" },
    } as const;
    const file = renderMessage({ role: "assistant", seq: 1, content: [thought] });
    expect(read(file, "1-assistant.md").content).toEqual([thought]);
    const { opaque: _, ...unsealed } = { ...thought, text: "two and two is five" };
    expect(read(file.replace("four", "five"), "1-assistant.md").content).toEqual([unsealed]);
  });

  it("says which file and line it does not understand", () => {
    const cases: readonly (readonly [name: string, text: string, message: RegExp])[] = [
      ["0003-system.md", "x", /0003-system\.md: 'system' is not a role\. Choose one of user, assistant, tool_result/],
      ["3.md", "x", /3\.md: it has no role/],
      ["3-user.md", "---\nrole: assistant\n---\nx", /the name says 'user' and the front matter 'role: assistant'/],
      ["3-assistant.md", "---\nstop: pause\n---\n", /'stop: pause' is not one of end, tool_calls, length, error/],
      [
        "3-assistant.md",
        `---\nrole: assistant\n---\n\na\n\n${TICKS}tool_call name=x\n{`,
        /line 7: the tool_call block has no end/,
      ],
      [
        "3-assistant.md",
        `${TICKS}tool_call name=x\n{,}\n${TICKS}`,
        /line 1: the arguments is not JSON|line 1: the arguments/,
      ],
      ["3-assistant.md", `a\n${TICKS}tool_call name=x\n[1]\n${TICKS}`, /line 2: .*not a JSON object/],
      ["3-assistant.md", `${TICKS}tool_call id=y\n{}\n${TICKS}`, /needs name=/],
      ["3-assistant.md", `${TICKS}thinking opaque={\n${TICKS}`, /line 1: opaque=… is not JSON/],
    ];
    for (const [name, text, message] of cases) {
      const attempt = () => parseMessage(text, `some/folder/${name}`);
      expect(attempt).toThrow(StoreError);
      expect(attempt).toThrow(message);
      expect(attempt).toThrow(/^some\/folder\//);
    }
  });
});
