/** Shows what the model gets of each built-in tool, beside its words: a reviewed list of arguments, and what the tool may do. */
import { describe, expect, it } from "vitest";
import { KB_TOOL } from "../../src/context/knowledge-base/kb-tool-definition.js";
import { MEMORY_TOOL, scopeOf } from "../../src/context/memory/memory-tool-definition.js";
import { RETRIEVE_TOOL } from "../../src/context/retrieval/retrieve-tool-definition.js";
import { SKILL_TOOL } from "../../src/context/skills/part.js";
import type { Tool } from "../../src/engine/ports.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/json.js";
import { RECALL_TOOL } from "../../src/sessions/recall-tool-definition.js";
import { ASK } from "../../src/tools/ask.js";
import { CATALOG } from "../../src/tools/catalog.js";
import { WEB_SEARCH } from "../../src/tools/web/definition.js";

type Definition = Omit<Tool, "run">;

/** Name, traits and arguments: `safe` runs beside others, `mutating` makes changes, `own` has results of Oxbow's own text. */
const REVIEWED: readonly (readonly [string, string, string])[] = [
  ["read", "read safe", "{path: string, offset?: integer>=1, limit?: integer>=1}"],
  ["ls", "read safe", "{path?: string, depth?: integer>=1}"],
  ["glob", "read safe", "{pattern: string, path?: string}"],
  [
    "grep",
    "read safe",
    "{pattern: string, path?: string, glob?: string, mode?: content|files|count, context?: integer, ignore_case?: boolean, multiline?: boolean, limit?: integer}",
  ],
  ["write", "edit mutating own", "{path: string, content: string}"],
  ["edit", "edit mutating", "{path: string, edits: {old: string, new: string, all?: boolean}[]}"],
  ["apply_patch", "edit mutating", "{patch: string}"],
  [
    "bash",
    "command mutating",
    "{command: string, timeout?: number, description?: string, run_in_background?: boolean, pty?: boolean, allow?: network|git|unix_sockets|secrets, outside_sandbox?: boolean, writable?: string[]}",
  ],
  ["background", "command mutating", "{id?: string, kill?: boolean, wait?: number}"],
  ["todo", "read safe own", "{todos: {text: string, status: pending|in_progress|done}[]}"],
  ["web_fetch", "web safe own", "{url: string, format?: markdown|text|raw, offset?: integer>=0, limit?: integer>=1}"],
  ["web_search", "web safe own", "{query: string, count?: integer>=1}"],
  ["ask", "read own", "{questions: {question: string, options?: string[], several?: boolean}[]}"],
  [
    "kb",
    "edit mutating",
    "{action: search|record, text: string, kind?: note|finding|decision|question|hypothesis, all?: boolean}",
  ],
  [
    "memory",
    "edit mutating own",
    "{action: save|update|forget|find, name?: string, description?: string, content?: string, type?: user|feedback|project|reference, scope?: user|project}",
  ],
  ["retrieve", "read safe own", "{query: string, limit?: integer>=1<=20}"],
  ["skill", "read safe own", "{name?: string, file?: string}"],
  ["recall", "read safe own", "{query: string}"],
];

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

/** A schema in short: `{name: type, optional?: type}`. */
function shapeOf(schema: JsonObject): string {
  if (Array.isArray(schema.enum)) return schema.enum.join("|");
  if (schema.type === "array") return `${shapeOf(objectOf(schema.items))}[]`;
  const [least, most] = [schema.minimum, schema.maximum];
  const bounds = `${least === undefined ? "" : `>=${least}`}${most === undefined ? "" : `<=${most}`}`;
  if (schema.type !== "object") return `${schema.type}${bounds}`;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(objectOf(schema.properties)).map(
    ([name, value]) => `${name}${required.includes(name) ? "" : "?"}: ${shapeOf(objectOf(value))}`,
  );
  return `{${fields.join(", ")}}`;
}

function traitsOf({ set, concurrencySafe, mutating, ownResults }: Definition): string {
  const traits = [set, concurrencySafe && "safe", mutating && "mutating", ownResults && "own"];
  return traits.filter((trait) => typeof trait === "string").join(" ");
}

describe("[T1] the built-in tools", () => {
  const all: readonly Definition[] = [
    ...Object.values(CATALOG),
    ...[WEB_SEARCH, ASK, KB_TOOL, MEMORY_TOOL, RETRIEVE_TOOL, SKILL_TOOL, RECALL_TOOL],
  ];

  it("have the arguments and traits that were reviewed, in this order", () => {
    expect(all.map((tool) => [tool.name, traitsOf(tool), shapeOf(tool.inputSchema)])).toEqual(REVIEWED);
  });
});

describe("[X4 X5] the tools that keep what was learned", () => {
  it("only read when they search", () => {
    const reads = (tool: Definition, actions: readonly string[]) =>
      actions.filter((action) => tool.onlyReads?.({ action }));
    expect(reads(KB_TOOL, ["search", "record"])).toEqual(["search"]);
    expect(reads(MEMORY_TOOL, ["save", "update", "forget", "find"])).toEqual(["find"]);
  });

  it.each([
    [KB_TOOL, { action: "search", text: "x" }, "Search the knowledge base: x"],
    [KB_TOOL, { action: "record", text: "x" }, "Record in the knowledge base, as a note: x"],
    [KB_TOOL, { action: "record", text: "x", kind: "finding" }, "Record in the knowledge base, as a finding: x"],
    [MEMORY_TOOL, { action: "save", content: "x" }, "Remember, for this project: x"],
    [MEMORY_TOOL, { action: "save", description: "d", type: "feedback" }, "Remember, for all projects: d"],
    [MEMORY_TOOL, { action: "save", content: "x", scope: "user" }, "Remember, for all projects: x"],
    [MEMORY_TOOL, { action: "update", name: "n", content: "x" }, "Change the note n: x"],
    [MEMORY_TOOL, { action: "forget", name: "n" }, "Forget the note n"],
    [MEMORY_TOOL, { action: "find", content: "x" }, "Look for a note: x"],
  ])("describe a call in the question about it: %#", (tool, args, words) => expect(tool.describe?.(args)).toBe(words));

  it.each([
    ["user", "project", "user"],
    ["project", "user", "project"],
    [undefined, "user", "user"],
    [undefined, "feedback", "user"],
    [undefined, "reference", "project"],
    ["other", undefined, "project"],
  ] as const)("keep what has the scope %s and the type %s for the %s", (scope, type, kept) => {
    expect(scopeOf(scope, type)).toBe(kept);
  });

  it("refuse an empty text with what to say", () => {
    expect(KB_TOOL.check?.({ action: "search", text: " " })).toEqual(["text is empty: say what to look for"]);
    expect(KB_TOOL.check?.({ action: "record", text: "" })).toEqual(["text is empty: say what to record"]);
    expect(KB_TOOL.check?.({ action: "record", text: "x" })).toEqual([]);
    expect(String(KB_TOOL.check?.({ action: "record" }))).toContain("text");
  });
});
