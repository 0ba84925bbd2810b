/**
 * The questions that measure a model's abilities. Each has one right answer that a program can check, and needs no other
 * knowledge.
 */
import { shorten } from "../../base/cap-text.js";
import { schemaProblems } from "../../base/json-schema.js";
import type { ModelToolCall, ToolSpec } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { parseJson } from "../wire/fields.js";
import { type Ask, Refused, type Reply, user } from "./ask.js";
import type { Ability } from "./report.js";

export interface Verdict {
  readonly able?: boolean;
  readonly detail: string;
  readonly tokens?: number;
}

export interface ProbeTools {
  readonly ask: Ask;
  /** The edit formats, with the tools that the model will get. */
  readonly edits: Readonly<Record<"string_replace" | "patch", EditFormat>>;
  /** The context sizes to try, in tokens, in ascending order. */
  readonly contextSizes: readonly number[];
  /** The model's capabilities according to the server: `vision`, `tools` …; absent if the server does not report them. */
  readonly capabilities?: readonly string[];
  progress(message: string): void;
}

export interface EditFormat {
  readonly tool: ToolSpec;
  /** The file after the call, or why the call failed. */
  apply(before: string, call: ModelToolCall): Promise<{ readonly after: string } | { readonly problem: string }>;
}

export interface Probe {
  readonly ability: Ability;
  readonly title: string;
  run(tools: ProbeTools): Promise<Verdict>;
}

const WEATHER: ToolSpec = {
  name: "get_weather",
  description: "The weather of a city now.",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

const yes = (detail = ""): Verdict => ({ able: true, detail });
const no = (detail: string): Verdict => ({ able: false, detail });

export const PROBES: readonly Probe[] = [
  { ability: "answer", title: "answers a question", run: answers },
  { ability: "tool_call", title: "calls a tool", run: callsTool },
  { ability: "parallel_calls", title: "makes several calls at once", run: callsInParallel },
  { ability: "tool_result", title: "uses a tool's result", run: usesResult },
  {
    ability: "string_replace",
    title: "edits by replacing text",
    run: (tools) => edits(tools.ask, tools.edits.string_replace),
  },
  { ability: "patch", title: "edits by a patch", run: (tools) => edits(tools.ask, tools.edits.patch) },
  { ability: "json_schema", title: "answers in JSON of a schema", run: answersInJson },
  { ability: "context", title: "reads a long text to its beginning", run: readsLongText },
  { ability: "images", title: "sees an image", run: seesImage },
];

async function answers({ ask }: ProbeTools): Promise<Verdict> {
  const reply = await ask({ messages: [user("What is 17 + 25? Answer with the number alone.")] });
  return /\b42\b/.test(reply.text) ? yes() : no(describeReply(reply));
}

async function callsTool({ ask }: ProbeTools): Promise<Verdict> {
  const reply = await ask({ tools: [WEATHER], messages: [user("What is the weather in Oslo? Use the tool.")] });
  const [call] = reply.calls;
  if (call === undefined) return no(describeReply(reply));
  const problem = problemOf(call, WEATHER);
  if (problem !== undefined) return no(problem);
  return /oslo/i.test(String(call.args.city)) ? yes() : no(`called with ${JSON.stringify(call.args)}`);
}

async function callsInParallel({ ask }: ProbeTools): Promise<Verdict> {
  const prompt = "Compare the weather in Oslo and in Rome. Call the tool for both cities now, together in one answer.";
  const reply = await ask({ tools: [WEATHER], messages: [user(prompt)] });
  const cities = reply.calls.map((call) => String(call.args.city).toLowerCase());
  const both = cities.some((city) => city.includes("oslo")) && cities.some((city) => city.includes("rome"));
  return both ? yes() : no(reply.calls.length === 1 ? "one call only" : describeReply(reply));
}

async function usesResult({ ask }: ProbeTools): Promise<Verdict> {
  const call = "call_0000000001" as const;
  const reply = await ask({
    tools: [WEATHER],
    messages: [
      user("What is the weather in Oslo? Use the tool, then name the temperature."),
      { role: "assistant", content: [{ type: "tool_use", call, tool: WEATHER.name, args: { city: "Oslo" } }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            call,
            tool: WEATHER.name,
            content: [text("heavy snow, -13.5 degrees")],
            is_error: false,
          },
        ],
      },
    ],
  });
  if (/13[.,]5/.test(reply.text)) return yes();
  return no(reply.calls.length > 0 ? "called the tool again instead" : describeReply(reply));
}

const SOURCE = `import { read } from "./files.js";

export function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.price;
  }
  return sum;
}

export function report(path) {
  const items = read(path);
  return \`Total: \${total(items)}\`;
}
`;
const CHANGED = SOURCE.replace("sum += item.price;", "sum += item.price * item.count;");

async function edits(ask: Ask, format: EditFormat): Promise<Verdict> {
  const prompt = `The file shop.js in the current folder holds exactly this:\n\n${SOURCE}\nIn the function total, multiply the price of each item by item.count: the line must read "sum += item.price * item.count;". Make this change with the tool ${format.tool.name}, and no other.`;
  const reply = await ask({ tools: [format.tool], messages: [user(prompt)] });
  const [call] = reply.calls;
  if (call === undefined) return no(describeReply(reply));
  const problem = call.malformed === undefined ? undefined : "its arguments were not JSON";
  if (problem !== undefined) return no(problem);
  const result = await format.apply(SOURCE, call);
  if ("problem" in result) return no(result.problem);
  return result.after.trimEnd() === CHANGED.trimEnd() ? yes() : no("the file is not as it should be afterwards");
}

const PERSON: JsonObject = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
};

async function answersInJson({ ask }: ProbeTools): Promise<Verdict> {
  const prompt = `Ada is 36 years old. Answer with JSON of this schema and nothing else: ${JSON.stringify(PERSON)}`;
  const reply = await ask({ messages: [user(prompt)], answerSchema: PERSON });
  const value = parseJson(reply.text.trim());
  if (value === undefined) return no(describeReply(reply));
  const [problem] = schemaProblems(PERSON, value);
  return problem === undefined ? yes() : no(problem);
}

/** The approximate number of characters per token in this filler. */
const CHARS_PER_TOKEN = 4.2;

async function readsLongText({ ask, contextSizes, progress }: ProbeTools): Promise<Verdict> {
  let tokens = 0;
  for (const size of contextSizes) {
    progress(`reads about ${size} tokens`);
    const word = `K${(size * 7919) % 100_003}`;
    const prompt = `The code word is ${word}.\n\n${filler(size)}\n\nWhat is the code word that was named at the very beginning? Answer with it alone.`;
    const reply = await ask({ messages: [user(prompt)] }).catch((error: unknown) => {
      if (error instanceof Refused) return error;
      throw error;
    });
    if (reply instanceof Refused) return { able: false, tokens, detail: `${upTo(tokens)}; ${reply.message}` };
    if (!reply.text.includes(word)) return { able: false, tokens, detail: `${upTo(tokens)}; not at ${size}` };
    tokens = size;
  }
  return { able: true, tokens, detail: upTo(tokens) };
}

function upTo(tokens: number): string {
  return tokens === 0 ? "at no size that was tried" : `up to ${tokens} tokens`;
}

function filler(tokens: number): string {
  const lines: string[] = [];
  for (let length = 0, at = 1; length < tokens * CHARS_PER_TOKEN; at++) {
    const line = `Entry ${at}: on day ${(at * 37) % 365} the river stood ${(at * 53) % 400} centimetres high at the old bridge.`;
    lines.push(line);
    length += line.length + 1;
  }
  return lines.join("\n");
}

async function seesImage({ ask, capabilities }: ProbeTools): Promise<Verdict> {
  if (capabilities !== undefined && !capabilities.includes("vision")) return no("the server says it has no vision");
  const { solidPng } = await import("./solid-png.js");
  const image = { type: "image", media_type: "image/png", data: solidPng([220, 20, 30]) } as const;
  const question = text("Which colour is this image? Answer with one word.");
  const reply = await ask({ messages: [{ role: "user", content: [image, question] }] });
  return /\b(red|crimson|scarlet)\b/i.test(reply.text) ? yes() : no(describeReply(reply));
}

function problemOf(call: ModelToolCall, tool: ToolSpec): string | undefined {
  if (call.tool !== tool.name) return `called ${call.tool}, which does not exist`;
  if (call.malformed !== undefined) return "its arguments were not JSON";
  return schemaProblems(tool.inputSchema, call.args)[0];
}

function describeReply({ text: words, calls }: Reply): string {
  const line = words.replace(/\s+/g, " ").trim();
  if (line === "") return calls.length === 0 ? "no output" : `called ${calls.map((call) => call.tool).join(", ")}`;
  return `said: ${shorten(line, 80)}`;
}
