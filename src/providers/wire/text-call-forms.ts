/** The forms in which models write tool calls as text. Each reader returns a call of an offered tool, or nothing. */
import type { ModelToolCall, ToolSpec } from "../../engine/ports.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { asObject, asText, parseJson } from "./fields.js";
import { readPythonCalls } from "./python-calls.js";
import { toolCall } from "./tool-arguments.js";

const NAME_KEYS = ["name", "tool", "tool_name", "function", "function_name", "action"];
const ARGUMENT_KEYS = ["arguments", "parameters", "args", "input", "tool_input", "action_input"];
const OTHER_KEYS = ["type", "id", "tool_call_id"];
const CALL_KEYS = [...NAME_KEYS, ...ARGUMENT_KEYS, ...OTHER_KEYS];
const FIRST_KEYS = [...CALL_KEYS, "tool_calls"];
const FUNCTION_TAG = "<function=";
const FUNCTION_END = "</function>";
const FENCE = "```";
const SECTION = ">>>";
const LIST_WORD = "functools";
const FENCE_LANGUAGES = ["", "json", "tool_call", "tool_code", "tool"];

/** Describes what text can still become, judged by its beginning. */
export type Verdict = "prose" | "undecided" | "call";

export interface TagReading {
  readonly tools: readonly ToolSpec[];
  /** `open`: the answer ended before the tag did. Then only a complete call is a call. */
  readonly end: "closed" | "open";
}

/** Tells whether an answer that begins like this can be nothing but JSON calls. */
export function judgeBeginning(text: string, tools: readonly ToolSpec[]): Verdict {
  const start = text.trimStart();
  if (FENCE.startsWith(start)) return "undecided";
  if (!start.startsWith(FENCE)) return judgeBare(start, tools);
  const [, language = "", rest = ""] = /^```([\w-]*)([\s\S]*)$/.exec(start) ?? [];
  if (rest === "") return FENCE_LANGUAGES.some((known) => known.startsWith(language)) ? "undecided" : "prose";
  if (!FENCE_LANGUAGES.includes(language)) return "prose";
  return rest.trim() === "" ? "undecided" : judgeBare(rest.trimStart(), tools);
}

function judgeBare(text: string, tools: readonly ToolSpec[]): Verdict {
  const verdicts = [judgeJson(text, tools), judgeNamed(text, tools)];
  return (
    verdicts.find((verdict) => verdict === "call") ?? verdicts.find((verdict) => verdict === "undecided") ?? "prose"
  );
}

/** `[read(`, `read(`, Functionary's `>>>read` and a line, and the word that Phi and others put before a list. */
function judgeNamed(text: string, tools: readonly ToolSpec[]): Verdict {
  const openings = tools
    .flatMap(({ name }) => [`${name}(`, `[${name}(`, `${SECTION}${name}\n`])
    .concat(`${LIST_WORD}[`);
  const begun = openings.find((opening) => text.startsWith(opening));
  if (begun === undefined) return openings.some((opening) => opening.startsWith(text)) ? "undecided" : "prose";
  if (!begun.endsWith("(")) return "call";
  // Prose may well begin with `grep(1)`; a call names its arguments.
  const rest = text.slice(begun.length);
  if (/^\s*(\)|[A-Za-z_]\w*\s*=)/.test(rest)) return "call";
  return /^\s*([A-Za-z_]\w*\s*)?$/.test(rest) ? "undecided" : "prose";
}

/** By the first key, and by its value if that is the name of the tool: enough to distinguish a call from other JSON. */
function judgeJson(text: string, tools: readonly ToolSpec[]): Verdict {
  if (/^\[\s*$/.test(text)) return "undecided";
  const beginning = /^(?:\[\s*)?\{\s*(?:"([^"]*)(?:"\s*(?::\s*(?:"([^"]*)("?)|([^"\s]))?)?)?)?/.exec(text);
  if (beginning === null) return "prose";
  const [whole, key, value, closed, other] = beginning;
  if (value === undefined && other === undefined) {
    const possible = key === undefined || FIRST_KEYS.some((known) => known.startsWith(key));
    return possible && whole === text ? "undecided" : "prose";
  }
  if (key === undefined || !FIRST_KEYS.includes(key)) return "prose";
  const named = NAME_KEYS.includes(key) || key === "type";
  if (value === undefined) return (other === "{" || other === "[") && (!named || key === "function") ? "call" : "prose";
  if (!named) return "call";
  const values = key === "type" ? ["function", "tool_call", "tool_use"] : tools.map((tool) => tool.name);
  if (closed === '"') return values.includes(value) ? "call" : "prose";
  return values.some((known) => known.startsWith(value)) ? "undecided" : "prose";
}

/** Text that is nothing but calls: an object, a list of them, one per line, bare or in one fence. */
export function readJsonCalls(text: string, tools: readonly ToolSpec[]): readonly ModelToolCall[] | undefined {
  const body = withoutFence(text.trim()).trim();
  const named = readSections(body, tools) ?? readPythonCalls(body, tools);
  if (named !== undefined) return named;
  const values = readValues(body.startsWith(LIST_WORD) ? body.slice(LIST_WORD.length) : body);
  const calls = values?.map((value) => readCall(value, tools));
  return calls?.every((call) => call !== undefined) && calls.length > 0 ? calls : undefined;
}

/** Functionary: `>>>name`, a line break and the arguments, for each call. */
function readSections(text: string, tools: readonly ToolSpec[]): readonly ModelToolCall[] | undefined {
  if (!text.startsWith(SECTION)) return undefined;
  const calls = text
    .slice(SECTION.length)
    .split(`\n${SECTION}`)
    .map((section) => {
      const [, name = "", args = ""] = /^([\w.-]+)\n([\s\S]*)$/.exec(section) ?? [];
      return tools.some((tool) => tool.name === name) && isJsonObject(parseJson(args))
        ? toolCall(name, args)
        : undefined;
    });
  return calls.every((call) => call !== undefined) ? calls : undefined;
}

function withoutFence(text: string): string {
  if (!text.startsWith(FENCE)) return text;
  const inside = text.replace(/^```[\w-]*/, "");
  return inside.endsWith(FENCE) ? inside.slice(0, -FENCE.length) : inside;
}

function readValues(text: string): readonly JsonValue[] | undefined {
  const whole = parseJson(text);
  if (whole !== undefined) {
    const list = asObject(whole).tool_calls ?? whole;
    return Array.isArray(list) ? list : [list];
  }
  // One per line, or separated by semicolons (Llama).
  const lines = text.split(/\n|(?<=\})\s*;\s*(?=\{)/).filter((line) => line.trim() !== "");
  const values = lines.map(parseJson);
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** `{"name": …, "arguments": {…}}` and similar forms. An object with any other key is data, not a call. */
function readCall(value: JsonValue, tools: readonly ToolSpec[]): ModelToolCall | undefined {
  if (!isJsonObject(value) || Object.keys(value).some((key) => !CALL_KEYS.includes(key))) return undefined;
  if (isJsonObject(value.function)) return readCall(value.function, tools);
  const name = NAME_KEYS.map((key) => asText(value[key])).find((text) => text !== "");
  const given = ARGUMENT_KEYS.map((key) => value[key]).find((part) => part !== undefined);
  const args = typeof given === "string" ? parseJson(given) : given;
  if (name === undefined || !isJsonObject(args) || !tools.some((tool) => tool.name === name)) return undefined;
  return toolCall(name, JSON.stringify(args));
}

/** Tells what follows `<tool_call>`: JSON, or a function tag. */
export function judgeTaggedCall(text: string, tools: readonly ToolSpec[]): Verdict {
  const body = text.trimStart();
  if (FUNCTION_TAG.startsWith(body)) return "undecided";
  if (body.startsWith(FUNCTION_TAG)) return judgeFunctionTag(body.slice(FUNCTION_TAG.length), tools);
  return body.startsWith("{") ? "call" : "prose";
}

export function readTaggedCall(inside: string, { tools, end }: TagReading): ModelToolCall | undefined {
  const body = inside.trim();
  if (body.startsWith(FUNCTION_TAG)) {
    const closed = body.endsWith(FUNCTION_END);
    const tag = body.slice(FUNCTION_TAG.length, closed ? -FUNCTION_END.length : undefined);
    return readFunctionTag(tag, { tools, end: closed ? "closed" : end });
  }
  const value = parseJson(body);
  return value === undefined ? undefined : readCall(value, tools);
}

/** Tells what follows `<function=`: `name>{…}` or `name><parameter=key>value</parameter>…`. */
export function judgeFunctionTag(text: string, tools: readonly ToolSpec[]): Verdict {
  const [, name, closed] = /^([\w.-]*)(>?)/.exec(text) ?? [];
  if (closed === ">") return tools.some((tool) => tool.name === name) ? "call" : "prose";
  return name === text && tools.some((tool) => tool.name.startsWith(text)) ? "undecided" : "prose";
}

export function readFunctionTag(inside: string, { tools, end }: TagReading): ModelToolCall | undefined {
  const [, name, rest = ""] = /^([\w.-]+)>([\s\S]*)$/.exec(inside) ?? [];
  const tool = tools.find((offered) => offered.name === name);
  if (tool === undefined) return undefined;
  const body = rest.trim();
  if (body.startsWith("{")) return isJsonObject(parseJson(body)) ? toolCall(tool.name, body) : undefined;
  // It is unknown whether these are all the parameters.
  const args = end === "open" ? undefined : readParameters(body, tool);
  return args === undefined ? undefined : toolCall(tool.name, JSON.stringify(args));
}

function readParameters(body: string, tool: ToolSpec): JsonObject | undefined {
  const entries: [string, JsonValue][] = [];
  const rest = body.replace(/<parameter=([^>]+)>\n?([\s\S]*?)\n?<\/parameter>/g, (_, key: string, value: string) => {
    const name = key.trim();
    entries.push([name, asDeclared(value, tool, name)]);
    return "";
  });
  return rest.trim() === "" ? Object.fromEntries(entries) : undefined;
}

/** In this form every value is text; the tool's schema gives its type. */
export function asDeclared(value: string, tool: ToolSpec, name: string): JsonValue {
  const { type } = asObject(asObject(tool.inputSchema.properties)[name]);
  if (type === undefined || type === "string") return value;
  return parseJson(value) ?? value;
}
