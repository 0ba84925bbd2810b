/** `/memory …` and `oxbow memory …`. */
import { safeLine, safeText } from "../../base/terminal-text.js";
import { ago, renderTable } from "../../base/text-table.js";
import { UsageError } from "../../base/usage-error.js";
import {
  type Argument,
  asValue,
  BETWEEN_TURNS,
  COMMAND_EXIT,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandOf,
  type CommandResult,
  EVERYWHERE,
  FOLDER,
  IN_SESSION,
  READERS,
  refuse,
  type Subject,
  spell,
  withPort,
} from "../../feature/command.js";
import type { Flag } from "../../feature/flags.js";
import { isMemoryType, MEMORY_TYPES, type MemoryEntry, type MemoryType } from "./entry.js";
import { EXTRACT_PROMPT, type Proposal, readProposals } from "./extract.js";
import { type Author, MemoryError, readAudit } from "./folder.js";
import { type Memories, openMemories, sharedMemories } from "./memories.js";
import { rankEntries, relatedTo } from "./select.js";
import type { SessionMemory } from "./session-memory.js";

interface MemoryPort {
  readonly memories: Memories;
  readonly session?: string;
  now(): number;
}

const NAME: Argument = { name: "NAME", kind: "text", missing: "Give the name of a memory ('oxbow memory list')." };
const SCOPE: Flag = {
  name: "scope",
  short: "s",
  value: "SCOPE",
  choices: ["user", "project"],
  help: "user: for every folder; project: for this one",
};
const TYPE: Flag = {
  name: "type",
  short: "t",
  value: "TYPE",
  choices: ["user", "feedback", "project", "reference"],
  help: "what it is about",
};

const COMMANDS: readonly CommandOf<MemoryPort>[] = [
  {
    name: "memory:list",
    aliases: ["memory"],
    summary: "list the memories, and files that cannot be used",
    flags: [SCOPE, TYPE],
    shellFlags: [FOLDER],
    users: READERS,
    places: EVERYWHERE,
    run: list,
  },
  {
    name: "memory:show",
    summary: "show a memory, where it is and where it comes from",
    arguments: [NAME],
    shellFlags: [FOLDER],
    users: READERS,
    places: EVERYWHERE,
    run: show,
  },
  {
    name: "memory:find",
    summary: "find memories by words, the best first",
    arguments: [{ name: "WORDS", kind: "line", rest: "text" }],
    shellFlags: [FOLDER],
    users: READERS,
    places: EVERYWHERE,
    run: find,
  },
  {
    name: "memory:add",
    summary: "save a memory",
    arguments: [{ name: "TEXT", kind: "line", rest: "text", missing: "Give the text to remember." }],
    flags: [
      SCOPE,
      TYPE,
      { name: "name", value: "NAME", help: "its name (default: from its first words)" },
      { name: "description", short: "d", value: "LINE", help: "one line about it (default: its first words)" },
      { name: "tag", value: "WORD", repeatable: true, help: "a word to find it by; can be repeated" },
    ],
    shellFlags: [FOLDER],
    places: EVERYWHERE,
    run: add,
  },
  {
    name: "memory:edit",
    summary: "replace the text of a memory; 'oxbow memory edit NAME' opens your editor",
    arguments: [NAME, { name: "TEXT", kind: "line", optional: true, rest: "text" }],
    flags: [TYPE, { name: "description", short: "d", value: "LINE", help: "one line about it" }],
    shellFlags: [FOLDER],
    places: EVERYWHERE,
    run: edit,
  },
  {
    name: "memory:forget",
    summary: "delete a memory",
    arguments: [NAME],
    shellFlags: [FOLDER],
    places: EVERYWHERE,
    run: forget,
  },
  {
    name: "memory:log",
    summary: "show who changed which memory, the newest first",
    flags: [{ name: "limit", short: "n", value: "N", help: "at most this many (default 20)" }],
    shellFlags: [FOLDER],
    users: READERS,
    places: EVERYWHERE,
    run: log,
  },
];

const OF_A_SESSION: readonly CommandOf<SessionMemory>[] = [
  {
    name: "memory:why",
    summary: "show which memories the model got with your last input, and why",
    places: IN_SESSION,
    run: (_args, live) => why(live),
  },
  {
    name: "memory:on",
    summary: "give the model the memory tool in this session",
    places: IN_SESSION,
    run: (_args, live) => {
      live.isWanted = true;
      return { text: "The model has the memory tool in this session.", value: { on: true } };
    },
  },
  {
    name: "memory:extract",
    summary: "let the model propose memories from this conversation; nothing is saved",
    places: BETWEEN_TURNS,
    run: extract,
  },
  {
    name: "memory:keep",
    summary: "save proposals of /memory extract by their numbers, or all",
    arguments: [{ name: "NUMBER", kind: "text", rest: "list", missing: "Give numbers of proposals, or all." }],
    places: BETWEEN_TURNS,
    run: keep,
  },
];

export const subject: Subject = {
  name: "memory",
  summary: "notes that Oxbow keeps for later sessions: list, add, edit, forget",
  heading: "Memory and knowledge",
  specs: [...COMMANDS, ...OF_A_SESSION],
  shell: {
    about:
      "Lists, adds, edits and deletes the notes that Oxbow keeps for later sessions. In a session also: /memory why, /memory extract.",
    more: "Each memory is a Markdown file that you may edit: docs/knowledge.md",
    open: async ({ roots, clock, root, redact, approved }) => {
      const shared = async () => sharedMemories(await approved(["memory"]));
      const memories = openMemories({ roots, clock, root: await root(), redact: await redact() }, shared);
      return { commands: guarded(COMMANDS, () => ({ memories, now: clock.wall })) };
    },
  },
};

export function sessionCommands(open: () => Promise<SessionMemory>): readonly Command[] {
  const port = async () => {
    const { memories, context } = await open();
    return { memories, session: context.session, now: () => context.clock.wall() };
  };
  return [...guarded(COMMANDS, port), ...guarded(OF_A_SESSION, open)];
}

/** A refusal of the folder is an answer for the user. */
function guarded<Port>(commands: readonly CommandOf<Port>[], open: () => Port | Promise<Port>): readonly Command[] {
  return withPort(commands, open).map((command) => ({
    ...command,
    run: async (args, context) => {
      try {
        return await command.run(args, context);
      } catch (error) {
        if (error instanceof MemoryError) return refuse(error.message);
        throw error;
      }
    },
  }));
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

async function edit(args: CommandArguments, port: MemoryPort, context: CommandContext): Promise<CommandResult> {
  const { memories } = port;
  const wanted = args.text("NAME") ?? "";
  const change = {
    body: unquoted(args.text("TEXT")),
    description: unquoted(args.flag("description")),
    type: typeFlag(args),
  };
  const isEmpty = Object.values(change).every((value) => value === undefined);
  if (isEmpty && context.edit !== undefined) return editFile(wanted, port, context);
  const entry = await memories.find(wanted);
  if (isEmpty) {
    return refuse(
      `Give the new text: /memory edit ${entry.name} TEXT. 'oxbow memory edit ${entry.name}' opens ${entry.path} in your editor.`,
    );
  }
  const updated = await memories.folderOf(entry).update(entry.name, change, byUser(port));
  return { text: `Changed ${labelOf(updated)}.`, value: asValue(dataOf(updated)) };
}

/** Also opens a file whose front matter is broken: that is how people correct it. */
async function editFile(
  wanted: string,
  { memories }: MemoryPort,
  { edit: open, warn }: CommandContext,
): Promise<CommandResult> {
  const { folder, name } = await memories.locate(wanted);
  const after = await open?.(await folder.textOf(name));
  if (after === undefined) return { text: "Nothing was changed.", value: { changed: false } };
  const written = await folder.replace(name, after, { by: "user" });
  if ("message" in written) {
    warn(`Your text is in ${written.path}, but it is not used: ${written.message}.`);
    return { text: "", value: { changed: true, problem: written.message }, exitCode: COMMAND_EXIT.failed };
  }
  return { text: `Changed ${labelOf(written)}.`, value: asValue(dataOf(written)) };
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

function labelOf({ scope, name }: Pick<MemoryEntry, "scope" | "name">): string {
  return `${scope}/${safeLine(name)}`;
}

function dataOf({ name, scope, type, description, tags, created, updated, source, path }: MemoryEntry) {
  return { name, scope, type, description, tags, created, updated, path, ...(source !== undefined && { source }) };
}

const MOST_SHOWN = 20;

function why({ last }: SessionMemory): CommandResult {
  if (last === undefined) return { text: "No input has been sent with memories yet.", value: { considered: [] } };
  const { considered, tokens } = last.selection;
  const chosen = considered.filter((each) => each.chosen);
  const rest = considered.filter((each) => !each.chosen);
  const lines = [
    `With "${safeLine(last.input).slice(0, 80)}":`,
    chosen.length === 0 ? "No memory went along." : `${chosen.length} went along, ${tokens} tokens:`,
    ...chosen.map(
      (each) => `  ${labelOf(each.entry)}  ${each.tokens} tokens, score ${each.score.toFixed(2)}. ${each.why}.`,
    ),
    ...(rest.length === 0 ? [] : ["Left out:"]),
    ...rest.slice(0, MOST_SHOWN).map((each) => `  ${labelOf(each.entry)}  ${each.why}.`),
    ...(rest.length > MOST_SHOWN ? [`  and ${rest.length - MOST_SHOWN} more`] : []),
  ];
  const value = considered.map(({ entry, chosen: isChosen, why: reason, words, score, tokens: size }) => ({
    ...{ memory: labelOf(entry), chosen: isChosen, why: reason, words, score, tokens: size },
  }));
  return { text: lines.join("\n"), value: asValue({ input: last.input, tokens, considered: value }) };
}

/** Asks the model for proposals, between two turns. */
async function extract(_args: CommandArguments, live: SessionMemory, command: CommandContext): Promise<CommandResult> {
  const { context } = live;
  if (context.conversation().length === 0) return shown([]);
  command.progress("reading the conversation");
  const answer = await context.aside({
    system: EXTRACT_PROMPT,
    input: (transcript) =>
      `<conversation>\n${transcript({ chars: 40_000, resultChars: 500 })}\n</conversation>\n\nWrite the proposals now.`,
    maxOutputTokens: 1_000,
  });
  if ("failure" in answer) return answer;
  if ("cancelled" in answer) return refuse("Cancelled: nothing was saved.");
  const { redact } = await context.safeText();
  live.proposals = readProposals(answer.text).map((proposal) => ({ ...proposal, body: redact(proposal.body) }));
  return shown(live.proposals);
}

function shown(proposals: readonly Proposal[]): CommandResult {
  const value = asValue(proposals.map((proposal, at) => ({ number: at + 1, ...proposal })));
  if (proposals.length === 0) return { text: "Nothing in this conversation seems worth remembering.", value };
  const lines = proposals.map(({ type, scope, body }, at) => `${at + 1}. (${type}, ${scope}) ${safeLine(body)}`);
  return {
    text: `${lines.join("\n")}\n\nNothing is saved yet. Save some with: /memory keep 1 2, or /memory keep all`,
    value,
  };
}

async function keep(args: CommandArguments, { memories, context, proposals }: SessionMemory): Promise<CommandResult> {
  if (proposals.length === 0) return refuse("There are no proposals. /memory extract makes some.");
  const words = args
    .list("NUMBER")
    .flatMap((word) => word.split(","))
    .filter((word) => word !== "");
  const numbers = words.includes("all") ? proposals.map((_, at) => at + 1) : words.map(Number);
  const wrong = numbers.find((number) => proposals[number - 1] === undefined);
  if (wrong !== undefined) return refuse(`Give numbers from 1 to ${proposals.length}, or all.`);
  const labels: string[] = [];
  for (const number of new Set(numbers)) {
    const { scope, ...memory } = proposals[number - 1] as Proposal;
    labels.push(labelOf(await memories.folder(scope).save(memory, { by: "user", session: context.session })));
  }
  return { text: `Saved: ${labels.join(", ")}.`, value: { saved: labels } };
}
