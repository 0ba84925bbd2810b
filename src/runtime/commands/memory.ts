/** `/memory …` and `oxbow memory …`. */
import { safeLine, safeText } from "../../base/terminal-text.js";
import { ago, renderTable } from "../../base/text-table.js";
import { UsageError } from "../../base/usage-error.js";
import {
  MEMORY_ADD,
  MEMORY_EDIT,
  MEMORY_FIND,
  MEMORY_FORGET,
  MEMORY_LIST,
  MEMORY_LOG,
  MEMORY_SHOW,
} from "../../commands/catalogue/memory.js";
import {
  asValue,
  COMMAND_EXIT,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  type CommandSpec,
  refuse,
  spell,
} from "../../commands/command.js";
import { readAudit } from "../../context/memory/audit-log.js";
import { type Author, MemoryError } from "../../context/memory/changes.js";
import { isMemoryType, MEMORY_TYPES, type MemoryEntry, type MemoryType } from "../../context/memory/entry.js";
import type { Memories } from "../../context/memory/memories.js";
import { relatedTo } from "../../context/memory/related.js";
import { rankEntries } from "../../context/memory/select.js";

export interface MemoryPort {
  readonly memories: Memories;
  readonly session?: string;
  now(): number;
}

type Action = (args: CommandArguments, port: MemoryPort, context: CommandContext) => Promise<CommandResult>;

const ACTIONS: readonly (readonly [CommandSpec, Action])[] = [
  [MEMORY_LIST, list],
  [MEMORY_SHOW, show],
  [MEMORY_FIND, find],
  [MEMORY_ADD, add],
  [MEMORY_EDIT, edit],
  [MEMORY_FORGET, forget],
  [MEMORY_LOG, log],
];

export function memoryCommands(port: MemoryPort): readonly Command[] {
  return ACTIONS.map(([spec, action]) => ({
    ...spec,
    run: (args, context) => guarded(() => action(args, port, context)),
  }));
}

/** A refusal of the folder is an answer for the user. */
export async function guarded(action: () => Promise<CommandResult>): Promise<CommandResult> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof MemoryError) return refuse(error.message);
    throw error;
  }
}

async function list(args: CommandArguments, { memories, now }: MemoryPort, context: CommandContext) {
  const { screen } = context;
  for (const folder of memories.folders) await folder.keepIndex();
  const { entries, problems } = await memories.list();
  const type = typeFlag(args);
  const scope = args.flag("scope");
  const wanted = entries.filter((entry) => (!type || entry.type === type) && (!scope || entry.scope === scope));
  const columns = [
    { header: "name", value: ({ name }: MemoryEntry) => safeLine(name), priority: 3 },
    { header: "scope", value: (entry: MemoryEntry) => entry.scope, priority: 2 },
    { header: "type", value: (entry: MemoryEntry) => entry.type, priority: 1 },
    { header: "changed", value: ({ updated }: MemoryEntry) => ago(now() - Date.parse(updated)) },
    { header: "description", value: ({ description }: MemoryEntry) => safeLine(description), maxWidth: 100 },
  ];
  const table = () => renderTable(columns, wanted, { width: screen?.width, color: screen?.color ?? false });
  const lines = [
    wanted.length > 0 ? table() : noneText(entries.length > 0, context),
    ...sameSubject(wanted),
    ...(problems.length === 0 ? [] : ["", "Not used:", ...problems.map(({ path, message }) => `${path}: ${message}`)]),
  ];
  const value = { memories: wanted.map(dataOf), problems: problems.map((problem) => ({ ...problem })) };
  return { text: lines.join("\n"), value: asValue(value) };
}

function noneText(hasOthers: boolean, context: CommandContext): string {
  if (hasOthers) return "No memory is of this kind.";
  return `No memories yet. Say "remember that …" to the model, or ${spell("memory:add", context)} TEXT.`;
}

/** Pairs about one subject: the user decides which one holds. */
function sameSubject(entries: readonly MemoryEntry[]): readonly string[] {
  const pairs = entries.flatMap((entry, at) =>
    relatedTo(entry, entries.slice(at + 1)).map((other) => `${labelOf(entry)} and ${labelOf(other)}`),
  );
  return pairs.length === 0 ? [] : ["", "About the same subject; they may contradict each other:", ...pairs];
}

async function show(args: CommandArguments, { memories }: MemoryPort): Promise<CommandResult> {
  const entry = await memories.find(args.text("NAME") ?? "");
  const { entries } = await memories.list();
  const related = relatedTo(entry, entries);
  const lines = [
    `${labelOf(entry)}  (${entry.type})`,
    safeLine(entry.description),
    `Saved ${entry.created}, changed ${entry.updated}${entry.source === undefined ? "" : `, by ${safeLine(entry.source)}`}`,
    ...(entry.tags.length === 0 ? [] : [`Tags: ${safeLine(entry.tags.join(", "))}`]),
    safeLine(entry.path),
    ...related.map((other) => `About the same subject: ${labelOf(other)}: ${safeLine(other.description)}`),
    "",
    safeText(entry.body),
  ];
  return {
    text: lines.join("\n"),
    value: asValue({ ...dataOf(entry), body: entry.body, related: related.map(labelOf) }),
  };
}

async function find(args: CommandArguments, { memories, now }: MemoryPort): Promise<CommandResult> {
  const { entries } = await memories.list();
  const found = rankEntries(entries, args.text("WORDS") ?? "", now()).filter(({ words }) => words.length > 0);
  const value = asValue(found.map(({ entry, words, score }) => ({ ...dataOf(entry), words, score })));
  if (found.length === 0) return { text: "No memory has these words.", value, exitCode: COMMAND_EXIT.failed };
  return { text: found.map(({ entry }) => `${labelOf(entry)}: ${safeLine(entry.description)}`).join("\n"), value };
}

async function add(args: CommandArguments, port: MemoryPort): Promise<CommandResult> {
  const { memories } = port;
  const { type, words } = typedText(args);
  const isPersonal = type === undefined || type === "user" || type === "feedback";
  const scope = args.flag("scope") ?? (isPersonal ? "user" : "project");
  if (scope !== "user" && scope !== "project") throw new UsageError("--scope: expected user or project.");
  const { entries } = await memories.list();
  const [body, name, description] = [words, args.flag("name"), args.flag("description")].map(unquoted);
  const tags = args.flags("tag").map((tag) => unquoted(tag) ?? "");
  const saved = await memories.folder(scope).save({ body: body ?? "", name, description, type, tags }, byUser(port));
  const related = relatedTo(saved, entries);
  const lines = [
    `Saved as ${labelOf(saved)}.`,
    ...related.map((other) => `About the same subject: ${labelOf(other)}: ${safeLine(other.description)}`),
  ];
  return { text: lines.join("\n"), value: asValue({ ...dataOf(saved), related: related.map(labelOf) }) };
}

async function edit(args: CommandArguments, port: MemoryPort): Promise<CommandResult> {
  const { memories } = port;
  const entry = await memories.find(args.text("NAME") ?? "");
  const change = {
    body: unquoted(args.text("TEXT")),
    description: unquoted(args.flag("description")),
    type: typeFlag(args),
  };
  if (Object.values(change).every((value) => value === undefined)) {
    return refuse(
      `Give the new text: /memory edit ${entry.name} TEXT. 'oxbow memory edit ${entry.name}' opens ${entry.path} in your editor.`,
    );
  }
  const updated = await memories.folderOf(entry).update(entry.name, change, byUser(port));
  return { text: `Changed ${labelOf(updated)}.`, value: asValue(dataOf(updated)) };
}

async function forget(args: CommandArguments, port: MemoryPort): Promise<CommandResult> {
  const { memories } = port;
  const { folder, name } = await memories.locate(args.text("NAME") ?? "");
  await folder.forget(name, byUser(port));
  const { scope } = folder;
  return { text: `Forgot ${labelOf({ scope, name })}.`, value: { name, scope } };
}

async function log(args: CommandArguments, { memories }: MemoryPort): Promise<CommandResult> {
  const limit = Number(args.flag("limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError("--limit: expected a whole number from 1.");
  const each = await Promise.all(
    memories.folders.map(async ({ path, scope }) => (await readAudit(path)).map((record) => ({ ...record, scope }))),
  );
  const records = each
    .flat()
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, limit);
  const lines = records.map(({ at, action, scope, name, by, session }) => {
    return `${at}  ${action.padEnd(6)}  ${scope}/${safeLine(name)}  by the ${by}${session === undefined ? "" : ` in ${session}`}`;
  });
  return { text: lines.length === 0 ? "Nothing was changed yet." : lines.join("\n"), value: asValue(records) };
}

function typeFlag(args: CommandArguments): MemoryType | undefined {
  const type = args.flag("type");
  if (type === undefined || isMemoryType(type)) return type;
  throw new UsageError(`--type: expected ${MEMORY_TYPES.join(", ")}.`);
}

function byUser({ session }: MemoryPort): Author {
  return { by: "user", ...(session !== undefined && { session }) };
}

/** Reads `user TEXT` as a text of that type. A text in quotation marks is only text. */
function typedText(args: CommandArguments): { readonly type: MemoryType | undefined; readonly words: string } {
  const [type, text] = [typeFlag(args), args.text("TEXT") ?? ""];
  const [, first = "", rest = ""] = /^(\w+):?\s+(\S[\s\S]*)$/.exec(text.trim()) ?? [];
  return type === undefined && isMemoryType(first) ? { type: first, words: rest } : { type, words: text };
}

/** One pair of quotation marks around all of it, as a person types it. */
function unquoted(text: string | undefined): string | undefined {
  const words = text?.trim();
  return words === undefined || words === "" ? undefined : words.replace(/^(["'])([\s\S]*)\1$/, "$2");
}

export function labelOf({ scope, name }: Pick<MemoryEntry, "scope" | "name">): string {
  return `${scope}/${safeLine(name)}`;
}

function dataOf({ name, scope, type, description, tags, created, updated, source, path }: MemoryEntry) {
  return { name, scope, type, description, tags, created, updated, path, ...(source !== undefined && { source }) };
}
