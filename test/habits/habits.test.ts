/**
 * Calls in the dialects of other harnesses, against the real tools in a real folder. Each is done as it was meant, or refused with a name
 * and without any effect. The calls are data: `calls/DIALECT.json`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { MEMORY_TOOL } from "../../src/context/memory/memory-tool-definition.js";
import { SKILL_TOOL } from "../../src/context/skills/part.js";
import type { Tool } from "../../src/engine/ports.js";
import { agentTool } from "../../src/extensions/subagents/definition.js";
import type { EventPayloads } from "../../src/protocol/events.js";
import type { JsonObject } from "../../src/protocol/json.js";
import { openToolbox } from "../../src/runtime/parts/toolbox.js";
import { ASK } from "../../src/tools/ask.js";
import { lackingTool } from "../../src/tools/habits/lacking.js";
import { WEB_SEARCH } from "../../src/tools/web/definition.js";
import { call, calls, ok, says, scriptedModel, testEngine } from "../support/engine.js";
import { verifies } from "../verifies.js";

/** Describes what must happen. Either `refused`, or the call succeeds with everything else that is named. */
interface Expected {
  /** Words of the refusal; nothing may have changed. */
  readonly refused?: string | readonly string[];
  /** The tool that ran, by its own name. */
  readonly tool?: string;
  /** The arguments as hooks, permissions and the log see them. */
  readonly args?: JsonObject;
  readonly has?: string | readonly string[];
  readonly hasNot?: string | readonly string[];
  /** Files and what they hold afterwards; null for one that is gone. All others must be as before. */
  readonly files?: Readonly<Record<string, string | null>>;
  /** The command ran and failed. */
  readonly fails?: true;
}

/** Tool, arguments, what must happen, and calls that come before it. */
type Row = readonly [string, JsonObject, Expected, (readonly (readonly [string, JsonObject])[])?];

const FILES: Readonly<Record<string, string>> = {
  "a.txt": "one\ntwo\nthree\nfour\nfive\n",
  "src/main.ts":
    "export const answer = 41;\nexport function add(a: number, b: number) {\n  return a + b;\n}\n// TODO: more\n",
  "src/util.py": "def twice(x):\n    return x * 2\n# todo: test\n",
  "src/build/keep.txt": "inner\n",
  "build/out.txt": "outer\n",
  "docs/guide.md": "# Guide\n\nSome text. TODO later.\nfoo.bar(1)\n",
};

const FOLDER = join(import.meta.dirname, "calls");
const DIALECTS = readdirSync(FOLDER).map((name) => ({
  dialect: name.replace(".json", ""),
  rows: JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as readonly Row[],
}));

let base: string;
let count = 0;
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "habits-")));
});
afterAll(() => rm(base, { recursive: true, force: true }));

verifies(["L21"], "there are at least 400 calls in more than ten dialects", () => {
  expect(DIALECTS.length).toBeGreaterThan(10);
  expect(DIALECTS.flatMap(({ rows }) => rows).length).toBeGreaterThanOrEqual(400);
});

for (const { dialect, rows } of DIALECTS) {
  describe(dialect, () => {
    rows.forEach(([tool, args, expected, before = []], index) => {
      verifies(["L21"], `${index + 1}. ${tool} ${JSON.stringify(args).slice(0, 100)}`, async () => {
        const folder = join(base, String(++count));
        for (const [path, text] of Object.entries(FILES)) await put(folder, path, text);
        const { started, result } = await played(folder, tool, { args, before });
        await check(expected, { folder, started, result });
        await rm(folder, { recursive: true, force: true });
      });
    });
  });
}

async function played(
  folder: string,
  tool: string,
  { args, before }: { readonly args: JsonObject; readonly before: readonly (readonly [string, JsonObject])[] },
) {
  const toolbox = openToolbox({
    root: folder,
    offers: () => true,
    variables: { PATH: process.env.PATH ?? "" },
    outputDirectory: join(base, "outputs"),
    webHosts: [],
  });
  const tools = [...toolbox.list(), ...ECHOING];
  const all = [...before, [tool, withFolder(args, folder)] as const];
  const model = scriptedModel([...all.map(([name, given]) => calls(call(name, given))), says("Done.")]);
  const engine = testEngine({ model, tools, lacks: lackingTool });
  try {
    await engine.turn("go");
  } finally {
    await toolbox.close();
  }
  const payloads = <K extends "ToolCallStarted" | "ToolResult">(kind: K) =>
    engine.events.flatMap((event) => (event.kind === kind ? [event.payload as EventPayloads[K]] : []));
  const started = payloads("ToolCallStarted").at(-1);
  const result = payloads("ToolResult").at(-1);
  if (started === undefined || result === undefined) throw new Error("the call has no result");
  return { started, result };
}

/** Tools whose code needs more than a folder: they answer with what they were given. */
const ECHOING: readonly Tool[] = [agentTool([], { cheap: true }), SKILL_TOOL, MEMORY_TOOL, WEB_SEARCH, ASK].map(
  (definition) => ({
    ...definition,
    run: async (args) => ok(JSON.stringify(args)),
  }),
);

/** `$ROOT` stands for the folder, which is another one for each call. */
function withFolder(args: JsonObject, folder: string): JsonObject {
  return JSON.parse(JSON.stringify(args).replaceAll("$ROOT", folder)) as JsonObject;
}

interface Played {
  readonly folder: string;
  readonly started: EventPayloads["ToolCallStarted"];
  readonly result: EventPayloads["ToolResult"];
}

async function check(expected: Expected, { folder, started, result }: Played): Promise<void> {
  const text = result.content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
  const { refused, tool, args, has = [], hasNot = [], files = {}, fails } = expected;
  if (refused !== undefined) {
    expect(result.status, text).toBe("error");
    for (const words of [refused].flat()) expect(text).toContain(words);
    expect(text).not.toMatch(/undefined|\[object/);
  } else {
    expect(result.status, text).toBe(fails ? "error" : "ok");
    if (tool !== undefined) expect(started.tool).toBe(tool);
    if (args !== undefined) expect(started.args).toEqual(withFolder(args, folder));
    for (const words of [has].flat()) expect(text).toContain(words);
    for (const words of [hasNot].flat()) expect(text).not.toContain(words);
  }
  const wanted = { ...FILES, ...files };
  const left = Object.fromEntries(Object.entries(wanted).filter(([, content]) => content !== null));
  expect(await filesIn(folder)).toEqual(left);
}

async function put(folder: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

async function filesIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files.map(async (path) => [path.slice(folder.length + 1), await readFile(path, "utf8")] as const);
  return Object.fromEntries(await Promise.all(read));
}
