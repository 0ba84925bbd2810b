/**
 * The official SDKs' request types accept what the wires build: generated conversations are encoded, written down as literals
 * (so that a field too many is an error as well) and checked by the compiler. Only types are used, and nothing is sent.
 */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { unless } from "../../../test/support/needs.js";
import type { Effort, ModelRequest } from "../../engine/ports.js";
import type { AssistantBlock, Message, ResultContent } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { anthropic } from "./anthropic.js";
import { gemini } from "./gemini.js";
import { ollama } from "./ollama.js";
import { openaiChat } from "./openai-chat.js";
import { openaiResponses } from "./openai-responses.js";
import { findPackage } from "./test-support/optional-package.js";
import type { Wire } from "./wire.js";

const REQUESTS = 60;
const SEED = 20_261_115;

/* ---- conversations ---- */

const words = fc.constantFrom("a", "Grüße", "line\nline", '"quoted"', "`tick` ${x}", "👋");
const text = words.map((value) => ({ type: "text", text: value }) as const);
const image = fc.constant({ type: "image", media_type: "image/png", data: "AAAA" } as const);
const content: fc.Arbitrary<ResultContent> = fc.oneof(text, image);

/** Blocks of a family's own, as its streams give them. */
const OWN: Readonly<Record<string, readonly AssistantBlock[]>> = {
  anthropic: [
    { type: "thinking", text: "Hm.", provider: "anthropic", opaque: { signature: "s" } },
    { type: "thinking", text: "", provider: "anthropic", opaque: { redacted: "r" } },
  ],
  openai: [
    { type: "thinking", text: "Hm.", provider: "openai", opaque: { id: "rs_1", encrypted_content: "e" } },
    {
      type: "thinking",
      text: "",
      provider: "openai",
      opaque: { id: "rs_2", encrypted_content: "e", summary: ["a", "b"] },
    },
    { type: "thinking", text: "Hm.", provider: "openai", opaque: { id: "rs_3", kind: "reasoning_text" } },
    { type: "opaque", provider: "openai", data: { type: "message", phase: "commentary" } },
  ],
  gemini: [
    { type: "thinking", text: "Hm.", provider: "gemini", opaque: { signature: "s", on: "call" } },
    { type: "thinking", text: "", provider: "gemini", opaque: { signature: "s", on: "text" } },
    { type: "thinking", text: "", provider: "gemini", opaque: { signature: "s", on: "nothing" } },
  ],
};

function turn(family: string): fc.Arbitrary<readonly Message[]> {
  const own = fc.constantFrom<AssistantBlock>(
    ...(OWN[family] ?? [{ type: "thinking", text: "Hm.", provider: family }]),
  );
  const blocks = fc.array(fc.oneof(text, own), { maxLength: 4 });
  const calls = fc.array(fc.record({ id: fc.uuid(), args: fc.dictionary(words, fc.oneof(words, fc.integer())) }), {
    maxLength: 3,
  });
  return fc
    .record({
      input: fc.array(content, { minLength: 1, maxLength: 3 }),
      blocks,
      calls,
      results: fc.array(content, { maxLength: 2 }),
      bad: fc.boolean(),
    })
    .map(({ input, blocks: said, calls: used, results, bad }) => {
      const uses = used.map(({ id, args }) => ({ type: "tool_use", call: `call_${id}`, tool: "read", args }) as const);
      const answers = uses.map(
        ({ call, tool }) => ({ type: "tool_result", call, tool, content: results, is_error: bad }) as const,
      );
      const answer: Message = { role: "assistant", content: [...said, ...uses] };
      return [{ role: "user", content: input }, answer, { role: "user", content: answers }] as const;
    });
}

const TOOLS = [
  {
    name: "read",
    description: "Reads.",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        path: { type: "string", format: "uri" },
        mode: { enum: ["a", "b"] },
        limit: { type: ["integer", "null"] },
        places: { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
      },
      required: ["path"],
      additionalProperties: false,
    },
  },
  { name: "list", description: "Lists.", inputSchema: { type: "object", properties: {} } },
];

function requests({ wire, family, baseUrl, model, extra }: Row): readonly JsonObject[] {
  const request = fc.record({
    system: fc.constantFrom("", "Be brief."),
    tools: fc.constantFrom([], TOOLS),
    maxOutputTokens: fc.constantFrom(undefined, 2000),
    turns: fc.array(turn(family), { minLength: 1, maxLength: 3 }),
    effort: fc.constantFrom<Effort | undefined>(undefined, "low", "medium", "high"),
    more: fc.constantFrom({}, extra),
  });
  return fc
    .sample(request, { numRuns: REQUESTS, seed: SEED })
    .map(({ turns, maxOutputTokens, effort, more, ...fields }) => {
      const limit = maxOutputTokens === undefined ? {} : { maxOutputTokens };
      const thought = effort === undefined ? {} : { effort };
      const asked: ModelRequest = {
        model,
        ...fields,
        ...limit,
        ...thought,
        cacheKey: "sess_1",
        messages: turns.flat(),
      };
      return wire.encode(asked, { baseUrl, family, extra: more }).body;
    });
}

/* ---- the compiler ---- */

interface Row {
  readonly name: string;
  readonly package: string;
  readonly wire: Wire<unknown>;
  readonly family: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly extra: JsonObject;
  /** Declares `Request`. */
  readonly types: string;
  /** Fields that the server takes and this version of the types does not have. */
  readonly ahead?: readonly string[];
}

/** The SDK has no type for the body itself, only for its parts, and spells values as enums. */
const GEMINI_TYPES = `import type { Content, GenerationConfig, Tool } from "@google/genai";
type Spelled<T> = T extends string ? \`\${T}\` : T extends object ? { [K in keyof T]: Spelled<T[K]> } : T;
type Request = Spelled<{ contents: Content[]; systemInstruction?: Content; tools?: Tool[]; generationConfig?: GenerationConfig }>;`;

const ROWS: readonly Row[] = [
  {
    name: "Anthropic Messages",
    package: "@anthropic-ai/sdk",
    wire: anthropic as Wire<unknown>,
    family: "anthropic",
    model: "claude-sonnet-4-5",
    baseUrl: "https://api.anthropic.com",
    extra: { thinking: { type: "enabled", budget_tokens: 1024 } },
    types: 'import type Anthropic from "@anthropic-ai/sdk";\ntype Request = Anthropic.MessageCreateParamsStreaming;',
  },
  {
    name: "Anthropic Messages of newer models",
    package: "@anthropic-ai/sdk",
    wire: anthropic as Wire<unknown>,
    family: "anthropic",
    model: "claude-opus-5-5",
    baseUrl: "https://api.anthropic.com",
    extra: {},
    types: 'import type Anthropic from "@anthropic-ai/sdk";\ntype Request = Anthropic.MessageCreateParamsStreaming;',
  },
  {
    name: "OpenAI Chat Completions",
    package: "openai",
    wire: openaiChat as Wire<unknown>,
    family: "openai",
    model: "gpt-5",
    baseUrl: "https://host/v1",
    extra: { reasoning_effort: "low" },
    types: 'import type OpenAI from "openai";\ntype Request = OpenAI.ChatCompletionCreateParamsStreaming;',
  },
  {
    name: "OpenAI Responses",
    package: "openai",
    wire: openaiResponses as Wire<unknown>,
    family: "openai",
    model: "gpt-5",
    baseUrl: "https://host/v1",
    extra: { reasoning: { effort: "low", summary: "auto" } },
    types: 'import type OpenAI from "openai";\ntype Request = OpenAI.Responses.ResponseCreateParamsStreaming;',
  },
  {
    name: "Gemini",
    package: "@google/genai",
    wire: gemini as Wire<unknown>,
    family: "gemini",
    model: "gemini-3-pro-preview",
    baseUrl: "https://host",
    extra: { generationConfig: { temperature: 0, thinkingConfig: { includeThoughts: true } } },
    types: GEMINI_TYPES,
  },
  {
    name: "Gemini of an older generation",
    package: "@google/genai",
    wire: gemini as Wire<unknown>,
    family: "gemini",
    model: "gemini-2.5-flash",
    baseUrl: "https://host",
    extra: {},
    types: GEMINI_TYPES,
  },
  {
    name: "Ollama",
    package: "ollama",
    wire: ollama as Wire<unknown>,
    family: "ollama",
    model: "llama",
    baseUrl: "http://host",
    extra: { think: true },
    types: 'import type { ChatRequest } from "ollama";\ntype Request = ChatRequest & { stream: true };',
    ahead: ["id", "tool_call_id", "truncate", "format", "$schema", "additionalProperties"],
  },
];

function compile(folder: string): Promise<string> {
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  return new Promise((resolve) => {
    execFile(process.execPath, [compiler, "--project", folder], { maxBuffer: 1 << 26 }, (_, stdout) => resolve(stdout));
  });
}

const CONFIG = {
  compilerOptions: {
    module: "nodenext",
    target: "es2022",
    lib: ["es2023", "dom"],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  },
};

describe.each(ROWS)("[M2] the types of $package for $name", (row) => {
  const found = findPackage(row.package, process.env.OXBOW_TEST_PACKAGES);
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sdk-types-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function problems(bodies: readonly JsonObject[]): Promise<string> {
    const link = join(folder, "node_modules", row.package);
    await mkdir(dirname(link), { recursive: true });
    await symlink(found ?? "", link).catch(() => {});
    const plain = bodies.map((body) =>
      JSON.stringify(body, (key, value) => (row.ahead?.includes(key) ? undefined : value)),
    );
    const lines = plain.map((body, index) => `export const request${index}: Request = ${body};`);
    await writeFile(join(folder, "requests.mts"), `${row.types}\n${lines.join("\n")}\n`);
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(CONFIG));
    return compile(folder);
  }

  unless(found === undefined ? `needs ${row.package}: npm ci --prefix test/packages` : undefined).it(
    "accept every request we build, and would not accept another",
    async () => {
      expect(await problems(requests(row))).toBe("");
      const [body = {}] = requests(row);
      expect(await problems([{ ...body, no_such_field: 1 }])).toContain("no_such_field");
    },
  );
});
