/** Runs the calls of the memory tool. */
import type { ToolOutcome } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { isMemoryType, type MemoryEntry, type MemoryType } from "./entry.js";
import { type Author, MemoryError } from "./folder.js";
import type { Memories } from "./memories.js";
import { scopeOf } from "./memory-tool-definition.js";
import { blockOf, type Delimit } from "./notice.js";
import { rankEntries, relatedTo } from "./select.js";

export interface MemoryToolPort {
  readonly memories: Memories;
  readonly session: string;
  readonly delimit: Delimit;
  now(): number;
}

/** Finds what is wrong with a call before anyone is asked about it. */
export async function memoryProblems(args: JsonObject, memories: Memories): Promise<readonly string[]> {
  try {
    if (args.action === "save") needed(args, "content");
    if (args.action === "update") changeOf(args);
    if (args.action === "update" || args.action === "forget") await memories.find(needed(args, "name"));
    return [];
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return [error.message.replace(/\.$/, "")];
  }
}

const MOST_FOUND = 8;
const MOST_NAMES = 100;

export async function runMemoryTool(args: JsonObject, port: MemoryToolPort): Promise<ToolOutcome> {
  try {
    return answer(await carryOut(args, port));
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return { status: "error", content: [text(error.message)] };
  }
}

function carryOut(args: JsonObject, port: MemoryToolPort): Promise<string> {
  switch (args.action) {
    case "save":
      return save(args, port);
    case "update":
      return update(args, port);
    case "forget":
      return forget(args, port);
    case "find":
      return find(args, port);
    default:
      throw new MemoryError("action: expected save, update, forget or find.");
  }
}

async function save(args: JsonObject, port: MemoryToolPort): Promise<string> {
  const body = needed(args, "content");
  const type = typeOf(args);
  const scope = scopeOf(args.scope, type);
  const { name, description } = { name: line(args.name), description: line(args.description) };
  const { memories } = port;
  const { entries } = await memories.list();
  const same = entries.find((entry) => entry.body.trim() === body.trim() && entry.scope !== "shared");
  if (same !== undefined) return `This is already saved as ${same.scope}/${same.name}.`;
  const saved = await memories.folder(scope).save({ name, description, type, body }, authorOf(port));
  return [`Saved as ${saved.scope}/${saved.name}.`, ...contradictions(saved, entries, port)].join("\n");
}

async function update(args: JsonObject, port: MemoryToolPort): Promise<string> {
  const entry = await port.memories.find(needed(args, "name"));
  const updated = await port.memories.folderOf(entry).update(entry.name, changeOf(args), authorOf(port));
  const { entries } = await port.memories.list();
  return [`Updated ${updated.scope}/${updated.name}.`, ...contradictions(updated, entries, port)].join("\n");
}

function changeOf(args: JsonObject) {
  const change = { body: line(args.content), description: line(args.description), type: typeOf(args) };
  if (Object.values(change).every((value) => value === undefined))
    throw new MemoryError("Give the new content, description or type.");
  return change;
}

async function forget(args: JsonObject, { memories, ...port }: MemoryToolPort): Promise<string> {
  const entry = await memories.find(needed(args, "name"));
  await memories.folderOf(entry).forget(entry.name, authorOf(port));
  return `Forgot ${entry.scope}/${entry.name}.`;
}

async function find(args: JsonObject, { memories, delimit, now }: MemoryToolPort): Promise<string> {
  const { entries } = await memories.list();
  const named = line(args.name);
  if (named !== undefined) return delimit(blockOf(await memories.find(named)));
  const wanted = line(args.content);
  if (wanted === undefined) {
    if (entries.length === 0) return "There are no memories yet.";
    const lines = entries
      .slice(0, MOST_NAMES)
      .map(({ scope, name, description }) => `${scope}/${name}: ${description}`);
    if (entries.length > MOST_NAMES) lines.push(`and ${entries.length - MOST_NAMES} more; find some by content`);
    return delimit({ kind: "memory", source: "names of all memories", text: lines.join("\n") });
  }
  const found = rankEntries(entries, wanted, now()).filter(({ words }) => words.length > 0);
  if (found.length === 0) return "No memory has these words.";
  return found
    .slice(0, MOST_FOUND)
    .map(({ entry }) => delimit(blockOf(entry)))
    .join("\n");
}

/** They stay side by side: only the user knows which one holds. */
function contradictions(entry: MemoryEntry, others: readonly MemoryEntry[], { delimit }: MemoryToolPort): string[] {
  const related = relatedTo(entry, others);
  if (related.length === 0) return [];
  return [
    "These are about the same subject and stay as they are. If one contradicts the new one, ask the user which holds, then update or forget:",
    ...related.map((other) => delimit(blockOf(other))),
  ];
}

function typeOf({ type }: JsonObject): MemoryType | undefined {
  if (type === undefined) return undefined;
  if (typeof type === "string" && isMemoryType(type)) return type;
  throw new MemoryError("type: expected user, feedback, project or reference.");
}

function needed(args: JsonObject, name: string): string {
  const value = line(args[name]);
  if (value === undefined) throw new MemoryError(`${name} is missing.`);
  return value;
}

function line(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function authorOf({ session }: Pick<MemoryToolPort, "session">): Author {
  return { by: "model", session };
}

function answer(words: string): ToolOutcome {
  return { status: "ok", content: [text(words)] };
}
