/**
 * Measures what a run sent to a model, from its recorded requests: of Anthropic, OpenAI (Chat Completions and Responses), Gemini or
 * Ollama, Oxbow's or another program's.
 *
 * 1. Tokens are estimated from the texts, without the JSON around them: the same measure for every protocol.
 * 2. A run costs the sum of its requests. A provider's cache can serve what a request repeats from the beginning of the one before.
 */
import { estimateTokens } from "../base/estimate-tokens.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.js";

const PARTS = ["prompt", "tools", "inputs", "answers", "calls", "results"] as const;
export type RequestPart = (typeof PARTS)[number];

export interface RequestReport {
  readonly requests: number;
  /** Bytes of the first request as JSON. */
  readonly firstBytes: number;
  readonly firstTokens: number;
  /** Of all requests together. */
  readonly tokens: number;
  /** The tokens that stand unchanged at the beginning of the request before. */
  readonly repeatedPrefix: number;
  /** Of all requests together. */
  readonly parts: Readonly<Record<RequestPart, number>>;
  /** The description of each tool, in the first request. */
  readonly tools: readonly Measured[];
  /** Each result once, in the order of the calls. */
  readonly results: readonly Measured[];
  /** Lines that the last request has more than once, with the tokens of the repetitions. */
  readonly repeated: readonly Measured[];
}

export interface Measured {
  readonly name: string;
  readonly tokens: number;
}

interface Item {
  readonly part: RequestPart;
  readonly name: string;
  readonly text: string;
}

/** A shorter line says little: a brace, a blank comment. */
const LEAST_LINE = 40;
const MOST_REPEATED = 20;

/** Finds the requests in a file: lines of `mock-model --record`, lines or a list of request bodies, or one body. */
export function readRequests(text: string): readonly JsonObject[] {
  const whole = parse(text);
  const values = whole === undefined ? text.split("\n").flatMap((line) => parse(line) ?? []) : [whole].flat();
  const bodies = values.map((value) => (isJsonObject(value) && isJsonObject(value.body) ? value.body : value));
  return bodies.filter(isJsonObject).filter((body) => [body.messages, body.input, body.contents].some(Array.isArray));
}

export function reportRequests(bodies: readonly JsonObject[]): RequestReport {
  const requests = bodies.map(itemsOf);
  const [first = []] = requests;
  const last = requests.at(-1) ?? [];
  const all = requests.flat();
  const known = new Map<string, number>();
  const tokensOf = ({ text }: Item) => {
    const tokens = known.get(text) ?? estimateTokens(text);
    known.set(text, tokens);
    return tokens;
  };
  const sum = (items: readonly Item[]) => items.reduce((total, item) => total + tokensOf(item), 0);
  const measured = (items: readonly Item[]) => items.map((item) => ({ name: item.name, tokens: tokensOf(item) }));
  return {
    requests: requests.length,
    firstBytes: Buffer.byteLength(JSON.stringify(bodies[0] ?? {})),
    firstTokens: sum(first),
    tokens: sum(all),
    repeatedPrefix: requests.reduce((total, items, at) => total + sum(samePrefix(requests[at - 1] ?? [], items)), 0),
    parts: Object.fromEntries(PARTS.map((part) => [part, sum(all.filter((item) => item.part === part))])) as Record<
      RequestPart,
      number
    >,
    tools: measured(first.filter(({ part }) => part === "tools")),
    results: measured(last.filter(({ part }) => part === "results")),
    repeated: repeatedLines(last),
  };
}

function samePrefix(before: readonly Item[], now: readonly Item[]): readonly Item[] {
  const end = now.findIndex(({ text }, at) => before[at]?.text !== text);
  return end === -1 ? now : now.slice(0, end);
}

function repeatedLines(items: readonly Item[]): readonly Measured[] {
  const counts = new Map<string, number>();
  for (const { text } of items) {
    for (const line of text.split("\n").map((each) => each.replace(/^\s*(?:\d+[\t:-])?\s*/, ""))) {
      if (line.length >= LEAST_LINE) counts.set(line, (counts.get(line) ?? 0) + 1);
    }
  }
  const repeated = [...counts].flatMap(([name, count]) =>
    count > 1 ? [{ name, tokens: estimateTokens(name) * (count - 1) }] : [],
  );
  return repeated.sort((one, other) => other.tokens - one.tokens).slice(0, MOST_REPEATED);
}

/** The texts of a request in the order in which a model reads them. */
function itemsOf(body: JsonObject): readonly Item[] {
  const prompt = [body.system, body.instructions, body.systemInstruction].map(textOf).filter((text) => text !== "");
  const messages = [body.messages, body.input, body.contents].find(Array.isArray) ?? [];
  const names = new Map<string, string>();
  const items = messages.flatMap((message) => (isJsonObject(message) ? messageItems(message, names) : []));
  const isPrompt = ({ part }: Item) => part === "prompt";
  return [
    ...toolsOf(body.tools),
    ...prompt.map((text): Item => ({ part: "prompt", name: "prompt", text })),
    ...items.filter(isPrompt),
    ...items.filter((item) => !isPrompt(item)),
  ];
}

function toolsOf(tools: JsonValue | undefined): readonly Item[] {
  const list = (Array.isArray(tools) ? tools : []).filter(isJsonObject);
  const declared = list.flatMap((tool) =>
    Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations.filter(isJsonObject) : [tool],
  );
  return declared.map((tool) => {
    const own = isJsonObject(tool.function) ? tool.function : tool;
    return { part: "tools", name: String(own.name ?? own.type ?? "?"), text: JSON.stringify(own) };
  });
}

/** `names` holds the tools of the calls so far, by id. */
function messageItems(message: JsonObject, names: Map<string, string>): readonly Item[] {
  const role = String(message.role ?? "");
  const own = blockItem(message, { role, names });
  if (own !== undefined) return [own];
  if (role === "tool") {
    const name = String(message.tool_name ?? names.get(String(message.tool_call_id)) ?? "?");
    return [{ part: "results", name, text: textOf(message.content) }];
  }
  const blocks = [message.content ?? message.parts ?? []].flat();
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  return [...blocks, ...calls].flatMap((block): readonly Item[] => {
    const text = textOf(block);
    const item = isJsonObject(block) ? blockItem(block, { role, names }) : undefined;
    if (item !== undefined) return [item];
    return text === "" ? [] : [{ part: partOf(role), name: role, text }];
  });
}

/** A call or a result, whatever the protocol calls it. */
function blockItem(
  block: JsonObject,
  { role, names }: { readonly role: string; readonly names: Map<string, string> },
): Item | undefined {
  const call = [block.function, block.functionCall].find(isJsonObject);
  const type = String(block.type ?? "");
  if (call !== undefined || /^(tool_use|function_call|custom_tool_call)$/.test(type)) {
    const { name, input, arguments: args, args: given } = { ...block, ...call };
    names.set(String(block.call_id ?? block.id ?? ""), String(name));
    return { part: "calls", name: String(name), text: `${String(name)} ${textOf(input ?? args ?? given)}` };
  }
  const response = isJsonObject(block.functionResponse) ? block.functionResponse : undefined;
  if (response !== undefined || /^(tool_result|function_call_output|custom_tool_call_output)$/.test(type)) {
    const id = String(block.tool_use_id ?? block.call_id ?? "");
    const name = String(response?.name ?? names.get(id) ?? "?");
    return { part: "results", name, text: textOf(response?.response ?? block.content ?? block.output) };
  }
  const thought = type === "thinking" || type === "reasoning";
  return thought
    ? { part: partOf(role || "assistant"), name: type, text: textOf(block.thinking ?? block.summary) }
    : undefined;
}

function partOf(role: string): RequestPart {
  if (role === "system" || role === "developer") return "prompt";
  return role === "assistant" || role === "model" ? "answers" : "inputs";
}

/** The text in a value; without any text, its JSON. Images and signatures cost by other rules and count nothing. */
function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("\n");
  if (!isJsonObject(value)) return String(value);
  const inside = value.text ?? value.parts ?? value.output ?? value.error;
  if (inside !== undefined) return textOf(inside);
  return typeof value.type === "string" ? "" : JSON.stringify(value);
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
