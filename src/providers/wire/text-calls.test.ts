import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { finishText, NO_TEXT_CALLS, pushText, type TextPart } from "./text-calls.js";

const TOOLS = [
  {
    name: "read",
    description: "",
    inputSchema: { properties: { path: { type: "string" }, lines: { type: "integer" } } },
    alsoNamed: ["read_file", "open"],
  },
  { name: "run_tests", description: "", inputSchema: {} },
];

/** Tells what comes out for each piece, and at the end. */
function feed(pieces: readonly string[]): readonly (readonly TextPart[])[] {
  let state = NO_TEXT_CALLS;
  const out = pieces.map((piece) => {
    const step = pushText(state, piece, TOOLS);
    state = step.state;
    return step.parts;
  });
  return [...out, finishText(state, TOOLS)];
}

/** Neighbouring text joined; calls as `[tool, args]`. */
function read(...pieces: readonly string[]): readonly unknown[] {
  const out: unknown[] = [];
  for (const part of feed(pieces).flat()) {
    const last = out.at(-1);
    if (part.type === "call") out.push([part.call.tool, part.call.args]);
    else if (typeof last === "string") out[out.length - 1] = last + part.text;
    else out.push(part.text);
  }
  return out;
}

const CALL = ["read", { path: "a" }];
const JSON_CALL = '{"name": "read", "arguments": {"path": "a"}}';

describe("tool calls written as text", () => {
  it.each([
    ["an object", JSON_CALL],
    ["with `parameters`", '{"name": "read", "parameters": {"path": "a"}}'],
    ["with arguments as text", '{"name": "read", "arguments": "{\\"path\\": \\"a\\"}"}'],
    [
      "as the API writes it",
      '{"id": "x", "type": "function", "function": {"name": "read", "arguments": {"path": "a"}}}',
    ],
    ["a list", `[${JSON_CALL}]`],
    ["under `tool_calls`", `{"tool_calls": [${JSON_CALL}]}`],
    ["a fence", `\`\`\`json\n${JSON_CALL}\n\`\`\``],
    ["a fence that was not closed", `\`\`\`\n${JSON_CALL}`],
    ["white space around it", `\n  ${JSON_CALL}\n\n`],
    ["a tag", `<tool_call>\n${JSON_CALL}\n</tool_call>`],
    ["a tag that was not closed", `<tool_call>${JSON_CALL}`],
    ["a function tag with JSON that was not closed", '<function=read>{"path": "a"}'],
    ["a function tag with JSON", '<function=read>{"path": "a"}</function>'],
    ["a function tag with parameters", "<function=read>\n<parameter=path>\na\n</parameter>\n</function>"],
    [
      "a function tag in a tag",
      "<tool_call>\n<function=read>\n<parameter=path>a</parameter>\n</function>\n</tool_call>",
    ],
    ["a list in a tag", `<tool_call>[${JSON_CALL}]</tool_call>`],
    ["Llama: after its tag", `<|python_tag|>${JSON_CALL}`],
    ["Llama: as Python", '[read(path="a")]'],
    ["Python without brackets", "read(path='a')"],
    ["Gemma: as Python in a fence", '```tool_code\nread(path="a")\n```'],
    ["Mistral: a list", `[TOOL_CALLS] [${JSON_CALL}]`],
    ["Mistral: a list after text marks", `[TOOL_CALLS][${JSON_CALL}]</s>`],
    ["Mistral: name and arguments", '[TOOL_CALLS]read[ARGS]{"path": "a"}'],
    ["Mistral: with an id", '[TOOL_CALLS]read[CALL_ID]abc123XYZ[ARGS]{"path": "a"}'],
    ["Functionary", '>>>read\n{"path": "a"}'],
    ["Phi", `functools[${JSON_CALL}]`],
    ["Phi 4", `<|tool_call|>[${JSON_CALL}]<|/tool_call|>`],
    ["Granite, not closed", `<|tool_call|>[${JSON_CALL}]`],
    ["Nemotron", `<TOOLCALL>[${JSON_CALL}]</TOOLCALL>`],
    ["Jamba", `<tool_calls>[${JSON_CALL}]</tool_calls>`],
    [
      "Command",
      '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "read", "parameters": {"path": "a"}}]<|END_ACTION|>',
    ],
    ["gpt-oss", '<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path": "a"}<|call|>'],
    [
      "gpt-oss, from the start",
      '<|start|>assistant<|channel|>commentary to=functions.read<|message|>{"path":"a"}<|call|>',
    ],
    ["gpt-oss, not closed", '<|channel|>analysis to=functions.read code<|message|>{"path": "a"}'],
    [
      "DeepSeek R1",
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{"path": "a"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    [
      "DeepSeek V3.1",
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{"path": "a"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    [
      "Kimi",
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path": "a"}<|tool_call_end|><|tool_calls_section_end|>',
    ],
    ["GLM", "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>"],
    ["an invocation", '<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>'],
    [
      "invocations in their tag",
      '<function_calls>\n<invoke name="read"><parameter name="path">a</parameter></invoke>\n</function_calls>',
    ],
    [
      "MiniMax",
      '<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\n</minimax:tool_call>',
    ],
    [
      "DeepSeek V3.2",
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read">\n<｜DSML｜parameter name="path" string="true">a</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    ],
    [
      "DeepSeek V4",
      '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="read">\n<｜DSML｜parameter name="path" string="true">a</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    ],
    ["DeepSeek without the tag around all", '<｜tool▁call▁begin｜>read<｜tool▁sep｜>{"path": "a"}<｜tool▁call▁end｜>'],
    [
      "Kimi without the tag around all",
      '<|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path": "a"}<|tool_call_end|>',
    ],
    ["Seed", "<seed:tool_call><function=read><parameter=path>a</parameter></function></seed:tool_call>"],
    ["Qwen without the opening tag", "<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>"],
    ["Gemma", '<|tool_call>call:read{path:<|"|>a<|"|>}<tool_call|>'],
    ["FunctionGemma", "<start_function_call>call:read{path:<escape>a<escape>}<end_function_call>"],
    ["Llama 4", '<|python_start|>[read(path="a")]<|python_end|>'],
    ["LFM", '<|tool_call_start|>[read(path="a")]<|tool_call_end|>'],
    ["OLMo", '<function_calls>\nread(path="a")\n</function_calls>'],
    ["Python in a tag", '<tool_code>\nread(path="a")\n</tool_code>'],
    ["LongCat", `<longcat_tool_call>${JSON_CALL}</longcat_tool_call>`],
    ["InternLM", `<|action_start|><|plugin|>${JSON_CALL}<|action_end|>`],
    ["a function call in its tag", `<function_call>${JSON_CALL}</function_call>`],
    [
      "harmony with the name first",
      '<|start|>assistant to=functions.read<|channel|>commentary json<|message|>{"path": "a"}<|call|>',
    ],
    ["an action", '{"action": "read", "action_input": {"path": "a"}}'],
    ["a tool and its input", '{"tool_name": "read", "tool_input": {"path": "a"}}'],
  ])("are understood: %s", (_, text) => {
    expect(read(text)).toEqual([CALL]);
    expect(read(...text)).toEqual([CALL]);
  });

  it("may be several, with text before and after tags", () => {
    expect(read(`${JSON_CALL}\n${JSON_CALL}`)).toEqual([CALL, CALL]);
    const tagged = `<tool_call>${JSON_CALL}</tool_call>`;
    expect(read(`Let me look.\n${tagged}\n${tagged}\nThat is all.`)).toEqual([
      "Let me look.\n",
      CALL,
      CALL,
      "\nThat is all.",
    ]);
    expect(read(`\n${tagged}\n`)).toEqual([CALL]);
    expect(read(`${JSON_CALL}; ${JSON_CALL}`)).toEqual([CALL, CALL]);
    expect(read(`[TOOL_CALLS]read[ARGS]{"path":"a"}[TOOL_CALLS]run_tests[ARGS]{}`)).toEqual([CALL, ["run_tests", {}]]);
    expect(read(`>>>read\n{"path": "a"}\n>>>run_tests\n{}`)).toEqual([CALL, ["run_tests", {}]]);
    expect(read("I look.[TOOL_CALLS]", 'read[ARGS]{"path":"a"}')).toEqual(["I look.", CALL]);
    expect(read('[read(path="a", lines=-3), run_tests(only=["x", 1.5], deep={"a": None}, fast=True)]')).toEqual([
      ["read", { path: "a", lines: -3 }],
      ["run_tests", { only: ["x", 1.5], deep: { a: null }, fast: true }],
    ]);
    expect(read(String.raw`read(path='it\'s \n "a"')`)).toEqual([["read", { path: 'it\'s \n "a"' }]]);
  });

  it("may hold text with signs of the notation", () => {
    const text = '<|tool_call>call:read{path:<|"|>a {b: 1}, "c"\n<|"|>,lines:3}<tool_call|>';
    expect(read(text)).toEqual([["read", { path: 'a {b: 1}, "c"\n', lines: 3 }]]);
  });

  it("give parameters the type that the tool declares", () => {
    const text = "<function=read><parameter=path>12</parameter><parameter=lines>12</parameter></function>";
    expect(read(text)).toEqual([["read", { path: "12", lines: 12 }]]);
    const lines = "<function=read><parameter=path>one\ntwo</parameter></function>";
    expect(read(lines)).toEqual([["read", { path: "one\ntwo" }]]);
  });

  it.each([
    ["a tool that was not offered", '{"name": "delete", "arguments": {}}'],
    ["other keys", '{"name": "read", "arguments": {}, "version": "1.0.0"}'],
    ["a file of JSON", '{"name": "oxbow", "version": "0.1.0"}'],
    ["no arguments", '{"name": "read"}'],
    ["arguments that are no object", '{"name": "read", "arguments": [1]}'],
    ["JSON that was cut off", '{"name": "read", "arguments": {"path": "a'],
    ["text after it", `${JSON_CALL} is how I would call it.`],
    ["text before it", `I would call:\n\`\`\`json\n${JSON_CALL}\n\`\`\``],
    ["one call of two that is none", `[${JSON_CALL}, {"name": "delete", "arguments": {}}]`],
    ["a tag around something else", "<tool_call>later</tool_call>"],
    ["a tag that was cut off", '<tool_call>{"name": "read", "argum'],
    ["a tag inside a fence", `Write:\n\`\`\`\n<tool_call>${JSON_CALL}</tool_call>\n\`\`\`\n`],
    ["parameters that were cut off", "<function=read><parameter=path>a</parameter>"],
    ["parameters that were cut off in a tag", "<tool_call><function=read>\n<parameter=path>a</parameter>\n"],
    ["another function", "<function=delete>{}</function>"],
    ["text inside a function", "<function=read>please</function>"],
    ["a list of data", '[{"id": 1, "title": "x"}]'],
    ["a program", "```python\nprint(1)\n```"],
    ["a manual page", "read(2) reads from a file descriptor."],
    ["Python that computes", "read(path=name + '.txt')"],
    ["Python of another tool", '[delete(path="a")]'],
    ["Python in prose", 'read(path="a") is how I would call it'],
    ["a list in brackets", "[1] First, [TODO] then [TOOL_CALLS] in a sentence."],
    ["a harmony message", "<|channel|>analysis<|message|>I should read(path).<|end|>"],
    ["a harmony call of another tool", "<|channel|>commentary to=functions.delete<|message|>{}<|call|>"],
    ["a section of another tool", ">>> import os\n>>> os.name"],
    ["keys and values that were cut off", "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>"],
    ["a cut off list of Mistral", '[TOOL_CALLS][{"name": "read", "argu'],
    ["an invocation of another tool", '<invoke name="delete"></invoke>'],
    ["an action of another kind", '{"action": "delete", "input": {}}'],
    ["Gemma's call of another tool", '<|tool_call>call:delete{path:<|"|>a<|"|>}<tool_call|>'],
    ["Gemma's call with an expression", "<start_function_call>call:read{path:name}<end_function_call>"],
    ["a tag for code around a program", "<tool_code>\nprint(1)\n</tool_code>"],
    ["mathematics", "if a < b and b <c then <tool"],
  ])("stay text, to the byte: %s", (_, text) => {
    expect(read(text)).toEqual([text]);
    expect(read(...text)).toEqual([text]);
  });

  it("do not hold back ordinary prose, only text that may be a call", () => {
    const passed = (...pieces: string[]) =>
      feed(pieces).map((parts) => parts.map((part) => (part.type === "text" ? part.text : "CALL")).join(""));
    expect(passed("The", " answer", " is {4}.")).toEqual(["The", " answer", " is {4}.", ""]);
    expect(passed("a <", "b> c")).toEqual(["a ", "<b> c", ""]);
    expect(passed('{"na', 'me": "r', 'eport"', ', "x": 1}')).toEqual(["", "", '{"name": "report"', ', "x": 1}', ""]);
    expect(passed("```", "py", "\nx = 1")).toEqual(["", "```py", "\nx = 1", ""]);
    expect(passed("```json\n{", '"title"', ": 1}")).toEqual(["", '```json\n{"title"', ": 1}", ""]);
    expect(passed("Say <function=", "na", "me> or", " so")).toEqual(["Say ", "<function=na", "me> or", " so", ""]);
    expect(passed("A <tool_call>", " is a tag")).toEqual(["A ", "<tool_call> is a tag", ""]);
    expect(passed("Look: <tool_call>", JSON_CALL, "</tool_call>", " ok")).toEqual(["Look: ", "", "CALL", " ok", ""]);
  });

  it("are never looked for when no tool was offered", () => {
    expect(pushText(NO_TEXT_CALLS, JSON_CALL, []).parts).toEqual([{ type: "text", text: JSON_CALL }]);
  });

  it("are the same in whatever pieces the text comes", () => {
    const token = fc.constantFrom(
      JSON_CALL,
      `<tool_call>${JSON_CALL}</tool_call>`,
      '<function=run_tests>{"a":1}</function>',
      "<tool_call>",
      "</tool_call>",
      "<function=",
      '[TOOL_CALLS]read[ARGS]{"path":"a"}',
      "[TOOL_CALLS]",
      '<|start|>assistant<|channel|>commentary to=functions.read<|message|>{"path":"a"}<|call|>',
      "<|start|>assistant",
      "<|channel|>",
      'read(path="a")',
      "read(",
      ">>>",
      "[",
      "<function_calls>",
      '<invoke name="read"></invoke>',
      "```\n",
      "\n",
      " ",
      "{",
      '"name"',
      "word",
      "<",
      "ü",
    );
    const text = fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join(""));
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }), (whole, sizes) => {
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < whole.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          pieces.push(whole.slice(at, at + size));
          at += size;
        }
        expect(read(...pieces)).toEqual(read(whole));
      }),
      { numRuns: times(200, 1000) },
    );
  });
});

describe("calls under the names of other harnesses", () => {
  it.each([
    ["JSON", '{"name": "read_file", "arguments": {"path": "a"}}', "read_file"],
    ["JSON in Claude Code's spelling", '{"name": "Read", "arguments": {"path": "a"}}', "Read"],
    ["a tag", '<tool_call>{"name": "ReadFile", "arguments": {"path": "a"}}</tool_call>', "ReadFile"],
    ["Python", 'read_file(path="a")', "read_file"],
    ["Cline's XML", "<read_file>\n<path>a</path>\n</read_file>", "read_file"],
    ["an invocation", '<invoke name="Read"><parameter name="path">a</parameter></invoke>', "Read"],
  ])("%s", (_, text, name) => {
    expect(read(text)).toEqual([[name, { path: "a" }]]);
    expect(read(...text)).toEqual([[name, { path: "a" }]]);
  });

  it.each([
    ["a small word", 'open(path="a")'],
    ["XML of no tool", "<write_to_file><path>a</path></write_to_file>"],
    ["XML with words in it", "<read_file>the file <path>a</path></read_file>"],
    ["XML in a fence", "```xml\n<read_file>\n<path>a</path>\n</read_file>\n```"],
    ["a name in a sentence", "Use <read_file> for that."],
  ])("stay text: %s", (_, text) => {
    expect(read(text)).toEqual([text]);
    expect(read(...text)).toEqual([text]);
  });
});
