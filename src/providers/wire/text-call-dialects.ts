/**
 * Tool calls in the notation of particular model families. They arrive as text if a server does not know the model's template:
 * Mistral, gpt-oss (harmony), DeepSeek, Kimi, GLM, Gemma, Granite, Command, and models that write `<invoke>` or Python. As in `text-call-forms.ts`, a
 * reader returns calls of offered tools, or nothing.
 */
import type { ModelToolCall, ToolSpec } from "../../engine/ports.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { parseJson } from "./fields.js";
import {
  asDeclared,
  judgeFunctionTag,
  judgeTaggedCall,
  readFunctionTag,
  readJsonCalls,
  readTaggedCall,
  type TagReading,
  type Verdict,
} from "./text-call-forms.js";
import { toolCall } from "./tool-arguments.js";

export interface CallTag {
  readonly open: string;
  /** Absent if the calls extend to the end of the answer. Ends in `>`. */
  readonly close?: string;
  /** The end of an outer tag whose beginning some models leave out. */
  readonly tail?: string;
  /** Tells how the text after `open` is parsed. */
  judge(text: string, tools: readonly ToolSpec[]): Verdict;
  /** The calls between `open` and `close`; they must make up all of that text. */
  read(inside: string, reading: TagReading): readonly ModelToolCall[] | undefined;
}

type Calls = readonly ModelToolCall[] | undefined;

const one = (call: ModelToolCall | undefined): Calls => (call === undefined ? undefined : [call]);

const jsonBetween = (open: string, close?: string): CallTag => ({
  open,
  ...(close !== undefined && { close }),
  judge: (text) => (text.trim() === "" ? "undecided" : /^\s*[[{]/.test(text) ? "call" : "prose"),
  read: (inside, { tools }) => readJsonCalls(inside, tools),
});

/** JSON or Python. */
const callsBetween = (open: string, close: string): CallTag => ({
  open,
  close,
  judge: judgeMistral,
  read: (inside, { tools }) => readJsonCalls(inside, tools),
});

/** `<invoke>` with a word of its own in each tag. */
const invokesBetween = (mark: string, list: string): CallTag => ({
  open: `<${mark}${list}>`,
  close: `</${mark}${list}>`,
  judge: (text, tools) => {
    const body = text.trimStart();
    return `<${mark}invoke`.startsWith(body) ? "undecided" : judgeInvokes(body.replace(mark, ""), tools);
  },
  read: (inside, reading) => readInvokes(inside.replaceAll(mark, ""), reading),
});

/** In any order: the first one in the text wins; of two at one position, the longer. */
export const CALL_TAGS: readonly CallTag[] = [
  { open: "<tool_call>", close: "</tool_call>", judge: judgeTagged, read: readTagged },
  {
    open: "<function=",
    close: "</function>",
    tail: "</tool_call>",
    judge: judgeFunctionTag,
    read: (inside, reading) => one(readFunctionTag(inside, reading)),
  },
  { open: '<invoke name="', close: "</invoke>", judge: judgeInvoke, read: (inside, to) => one(readInvoke(inside, to)) },
  invokesBetween("", "function_calls"),
  invokesBetween("antml:", "function_calls"),
  invokesBetween("｜DSML｜", "function_calls"),
  invokesBetween("｜DSML｜", "tool_calls"),
  { open: "<minimax:tool_call>", close: "</minimax:tool_call>", judge: judgeInvokes, read: readInvokes },
  {
    open: "<seed:tool_call>",
    close: "</seed:tool_call>",
    judge: judgeTaggedCall,
    read: (inside, reading) => one(readTaggedCall(inside, reading)),
  },
  gemma("<|tool_call>", "<tool_call|>", '<|"|>'),
  gemma("<start_function_call>", "<end_function_call>", "<escape>"),
  callsBetween("<|python_start|>", "<|python_end|>"),
  callsBetween("<|tool_call_start|>", "<|tool_call_end|>"),
  callsBetween("<tool_code>", "</tool_code>"),
  callsBetween("<function_call>", "</function_call>"),
  callsBetween("<longcat_tool_call>", "</longcat_tool_call>"),
  callsBetween("<|action_start|><|plugin|>", "<|action_end|>"),
  { open: "[TOOL_CALLS]", judge: judgeMistral, read: readMistral },
  { open: "<|channel|>", close: "<|call|>", judge: judgeHarmony, read: readHarmony },
  { open: "<|start|>assistant<|channel|>", close: "<|call|>", judge: judgeHarmony, read: readHarmony },
  { open: "<|start|>assistant ", close: "<|call|>", judge: judgeHarmony, read: readHarmony },
  deepSeek("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
  alone(deepSeek("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>")),
  {
    open: "<|tool_calls_section_begin|>",
    close: "<|tool_calls_section_end|>",
    judge: () => "call",
    read: readKimi,
  },
  alone({ open: "<|tool_call_begin|>", close: "<|tool_call_end|>", judge: () => "call", read: readKimi }),
  jsonBetween("<|python_tag|>"),
  jsonBetween("<|tool_call|>", "<|/tool_call|>"),
  jsonBetween("<TOOLCALL>", "</TOOLCALL>"),
  jsonBetween("<tool_calls>", "</tool_calls>"),
  jsonBetween("<|START_ACTION|>", "<|END_ACTION|>"),
  ..."execute_command read_file write_to_file replace_in_file apply_diff search_and_replace search_files list_files"
    .split(" ")
    .map(xmlTool),
];

/** The characters that tags begin with. */
export const TAG_STARTS = ["<", "["] as const;

/* ---- <tool_call>: JSON, a function tag, or GLM's keys and values ---- */

const GLM_NAME = /^[\w.-]+/;

function judgeTagged(text: string, tools: readonly ToolSpec[]): Verdict {
  const body = text.trimStart();
  const name = GLM_NAME.exec(body)?.[0];
  if (name === undefined) return body.startsWith("[") ? "call" : judgeTaggedCall(text, tools);
  if (name.length === body.length) return tools.some((tool) => tool.name.startsWith(name)) ? "undecided" : "prose";
  return tools.some((tool) => tool.name === name) ? "call" : "prose";
}

function readTagged(inside: string, reading: TagReading): Calls {
  const body = inside.trim();
  const name = GLM_NAME.exec(body)?.[0];
  if (name !== undefined) return one(readKeysAndValues(name, body.slice(name.length), reading));
  return body.startsWith("[") ? readJsonCalls(body, reading.tools) : one(readTaggedCall(inside, reading));
}

function readKeysAndValues(name: string, body: string, { tools, end }: TagReading): ModelToolCall | undefined {
  const tool = tools.find((offered) => offered.name === name);
  if (tool === undefined || end === "open") return undefined;
  const form = /<arg_key>([^<]*)<\/arg_key>\s*<arg_value>\n?([\s\S]*?)\n?<\/arg_value>/g;
  return fromPairs(tool, pairsOf(body, form, tool));
}

/* ---- <invoke name="…"><parameter name="…">…</parameter></invoke> ---- */

function judgeInvoke(text: string, tools: readonly ToolSpec[]): Verdict {
  const quote = text.indexOf('"');
  if (quote === -1) return tools.some((tool) => tool.name.startsWith(text)) ? "undecided" : "prose";
  return tools.some((tool) => tool.name === text.slice(0, quote)) ? "call" : "prose";
}

function readInvoke(inside: string, { tools, end }: TagReading): ModelToolCall | undefined {
  const [, name, body = ""] = /^([\w.-]+)"\s*>([\s\S]*)$/.exec(inside) ?? [];
  const tool = tools.find((offered) => offered.name === name);
  if (tool === undefined || end === "open") return undefined;
  const form = /<parameter name="([^"]+)"[^>]*>\n?([\s\S]*?)\n?<\/parameter>/g;
  return fromPairs(tool, pairsOf(body, form, tool));
}

/** OLMo writes Python here. */
function judgeInvokes(text: string, tools: readonly ToolSpec[]): Verdict {
  const body = text.trimStart();
  if ("<invoke".startsWith(body)) return "undecided";
  return body.startsWith("<") ? (body.startsWith("<invoke") ? "call" : "prose") : judgeMistral(body, tools);
}

function readInvokes(inside: string, { tools }: TagReading): Calls {
  if (!inside.trimStart().startsWith("<")) return readJsonCalls(inside, tools);
  const calls: (ModelToolCall | undefined)[] = [];
  const rest = inside.replace(/<invoke name="([\s\S]*?)<\/invoke>/g, (_, body: string) => {
    calls.push(readInvoke(body, { tools, end: "closed" }));
    return "";
  });
  return rest.trim() === "" ? whole(calls) : undefined;
}

/* ---- Cline and Roo: <read_file><path>a</path></read_file> ---- */

function xmlTool(name: string): CallTag {
  const form = /<(\w+)>\n?([\s\S]*?)\n?<\/\1>/g;
  const named = (tools: readonly ToolSpec[]) => tools.find((tool) => tool.name === name);
  return {
    open: `<${name}>`,
    close: `</${name}>`,
    judge(text, tools) {
      if (named(tools) === undefined) return "prose";
      if (/^\s*(<(\w+)?)?$/.test(text)) return "undecided";
      return /^\s*<\w+>/.test(text) ? "call" : "prose";
    },
    read(inside, { tools, end }) {
      const tool = named(tools);
      if (tool === undefined || end === "open") return undefined;
      return one(fromPairs(tool, pairsOf(inside, form, tool)));
    },
  };
}

/* ---- Mistral: a list of calls, or name[ARGS]{…} ---- */

function judgeMistral(text: string, tools: readonly ToolSpec[]): Verdict {
  const body = text.trimStart();
  if (body === "") return "undecided";
  if (/^[[{]/.test(body)) return "call";
  const name = /^[\w.-]+/.exec(body)?.[0] ?? "";
  if (name === body) return tools.some((tool) => tool.name.startsWith(name)) ? "undecided" : "prose";
  return tools.some((tool) => tool.name === name) ? "call" : "prose";
}

function readMistral(inside: string, { tools }: TagReading): Calls {
  const body = inside.replace(/<\/s>\s*$/, "").trim();
  if (/^[[{]/.test(body)) return readJsonCalls(body, tools);
  const calls = body.split("[TOOL_CALLS]").map((part) => {
    const [, name = "", args = ""] = /^\s*([\w.-]+)\s*(?:\[CALL_ID\][^[]*)?(?:\[ARGS\])?\s*([\s\S]*)$/.exec(part) ?? [];
    return fromJson(name, args, tools);
  });
  return whole(calls);
}

/* ---- gpt-oss: <|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|> ---- */

const HARMONY_HEAD =
  /^[^<]*\bto=(?:functions\.)?([\w.-]+)[^<]*(?:<\|channel\|>[^<]*)?(?:<\|constrain\|>\s*\w+\s*)?<\|message\|>/;
/** Longer than any header. */
const HEAD_CHARS = 120;

function judgeHarmony(text: string, tools: readonly ToolSpec[]): Verdict {
  const name = HARMONY_HEAD.exec(text)?.[1];
  if (name !== undefined) return tools.some((tool) => tool.name === name) ? "call" : "prose";
  return text.includes("<|message|>") || text.length > HEAD_CHARS ? "prose" : "undecided";
}

function readHarmony(inside: string, { tools }: TagReading): Calls {
  const head = HARMONY_HEAD.exec(inside);
  return head === null ? undefined : one(fromJson(head[1] ?? "", inside.slice(head[0].length), tools));
}

/* ---- DeepSeek: function<｜tool▁sep｜>NAME and a fence, or NAME<｜tool▁sep｜>{…} ---- */

function deepSeek(open: string, close: string): CallTag {
  const read = (inside: string, { tools }: TagReading): Calls => {
    const calls: (ModelToolCall | undefined)[] = [];
    const rest = inside.replace(
      /<｜tool▁call▁begin｜>\s*([\s\S]*?)<｜tool▁sep｜>([\s\S]*?)(?:<｜tool▁call▁end｜>|$)/g,
      (_, before: string, after: string) => {
        const [, name = "", body = ""] =
          before.trim() === "function" ? (/^\s*([\w.-]+)\s*([\s\S]*)$/.exec(after) ?? []) : ["", before.trim(), after];
        calls.push(fromJson(name, body.trim().replace(/^```\w*\s*|\s*```$/g, ""), tools));
        return "";
      },
    );
    return rest.trim() === "" ? whole(calls) : undefined;
  };
  return { open, close, judge: () => "call", read };
}

/** A call without the tag around all calls. */
function alone({ open, close = "", judge, read }: CallTag): CallTag {
  return { open, close, judge, read: (inside, reading) => read(`${open}${inside}${close}`, reading) };
}

/* ---- Gemma: call:NAME{path:<|"|>a<|"|>,limit:3} ---- */

function gemma(open: string, close: string, quote: string): CallTag {
  const read = (inside: string, { tools }: TagReading): Calls => {
    const [, name = "", body = ""] = /^\s*call:\s*([\w.-]+)\s*(\{[\s\S]*\})\s*$/.exec(inside) ?? [];
    // Every second piece is a text; the others hold names, numbers and brackets.
    const pieces = body.split(quote).map((piece, index) => {
      if (index % 2 === 1) return JSON.stringify(piece);
      return piece.replaceAll(/([{,]\s*)([A-Za-z_][\w-]*)(\s*:)/g, '$1"$2"$3');
    });
    return one(fromJson(name, pieces.join(""), tools));
  };
  const judge = (text: string): Verdict => {
    const body = text.trimStart();
    return body.startsWith("call:") ? "call" : "call:".startsWith(body) ? "undecided" : "prose";
  };
  return { open, close, judge, read };
}

/* ---- Kimi: functions.NAME:0<|tool_call_argument_begin|>{…} ---- */

function readKimi(inside: string, { tools }: TagReading): Calls {
  const calls: (ModelToolCall | undefined)[] = [];
  const rest = inside.replace(
    /<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>([\s\S]*?)<\|tool_call_end\|>/g,
    (_, name: string, args: string) => {
      calls.push(fromJson(name, args, tools));
      return "";
    },
  );
  return rest.trim() === "" ? whole(calls) : undefined;
}

/* ---- what they share ---- */

function fromJson(name: string, args: string, tools: readonly ToolSpec[]): ModelToolCall | undefined {
  const body = args.trim();
  if (!tools.some((tool) => tool.name === name) || !isJsonObject(parseJson(body))) return undefined;
  return toolCall(name, body);
}

/** Undefined if a part of the text belongs to no pair. */
function pairsOf(body: string, form: RegExp, tool: ToolSpec): JsonObject | undefined {
  const entries: [string, JsonValue][] = [];
  const rest = body.replace(form, (_, key: string, value: string) => {
    const name = key.trim();
    entries.push([name, asDeclared(value, tool, name)]);
    return "";
  });
  return rest.trim() === "" ? Object.fromEntries(entries) : undefined;
}

function fromPairs(tool: ToolSpec, args: JsonObject | undefined): ModelToolCall | undefined {
  return args === undefined ? undefined : toolCall(tool.name, JSON.stringify(args));
}

function whole(calls: readonly (ModelToolCall | undefined)[]): Calls {
  return calls.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
}
