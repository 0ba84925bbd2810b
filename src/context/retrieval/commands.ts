/** `/rag` and `oxbow rag`: retrieval stores. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { formatBytes } from "../../base/byte-size.js";
import type { Clock } from "../../base/clock.js";
import { groupDigits } from "../../base/group-digits.js";
import { countLine } from "../../base/progress-bar.js";
import { renderTable } from "../../base/text-table.js";
import { UsageError } from "../../base/usage-error.js";
import {
  asValue,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandOf,
  type CommandResult,
  EVERYWHERE,
  FOLDER,
  refuse,
  type Subject,
  spell,
  withPort,
} from "../../feature/command.js";
import type { Flag } from "../../feature/flags.js";
import { LockBusy, withLock } from "../../system/file-lock.js";
import { readRegularText } from "../../system/regular-file.js";
import { placeOf } from "./context-block.js";
import { embedPending, type IngestReport, ingest } from "./ingest.js";
import type { RetrievalStore } from "./retrieval-store.js";
import { searchStore } from "./search.js";
import { choiceFor, type StoreEntry } from "./store-registry.js";
import type { Documents, Retrieval, SourcePlace } from "./stores.js";

export interface RetrievalPort {
  readonly retrieval: Retrieval;
  readonly documents: Documents;
  readonly clock: Clock;
  /** Something changed that a session has to know. */
  readonly onChange?: () => Promise<void>;
}

const STORE: Flag = { name: "in", value: "NAME", help: "the store (default: the one that is on in this folder)" };
const EMBED: Flag = {
  name: "embed",
  value: "MODEL",
  help: "the embedding model, PROVIDER:NAME; a name alone is one of Ollama's (default: none, search by words)",
};

const shared = { places: EVERYWHERE, shellFlags: [FOLDER] } as const;

const COMMANDS: readonly CommandOf<RetrievalPort>[] = [
  {
    name: "rag:list",
    aliases: ["rag"],
    summary: "list the stores, and which one is on here",
    ...shared,
    run: list,
  },
  {
    name: "rag:new",
    summary: "make a store; with --embed it is also searched by meaning",
    arguments: [{ name: "NAME", kind: "text" }],
    flags: [EMBED],
    ...shared,
    run: create,
  },
  {
    name: "rag:ingest",
    summary: "read files, folders, patterns or addresses into a store; without any, read the known ones again",
    arguments: [{ name: "SOURCE", kind: "path", optional: true, rest: "list", complete: "file" }],
    flags: [STORE],
    ...shared,
    run: ingestInto,
  },
  {
    name: "rag:status",
    summary: "show what a store holds, its model, its size and what is unfinished",
    arguments: [{ name: "NAME", kind: "text", optional: true }],
    ...shared,
    run: status,
  },
  {
    name: "rag:query",
    summary: "show the passages that the model would get for a question",
    arguments: [{ name: "QUESTION", kind: "text", rest: "text" }],
    flags: [
      STORE,
      { name: "top", value: "N", help: "how many passages (default 5)" },
      {
        name: "min",
        value: "SCORE",
        help: "the minimum similarity: cosine, or share of the words found (default 0.3)",
      },
      {
        name: "by",
        value: "HOW",
        choices: ["both", "words", "vectors"],
        help: "search by words, vectors or both (default)",
      },
    ],
    ...shared,
    run: query,
  },
  {
    name: "rag:on",
    summary: "give the model passages of a store with each input in this folder",
    arguments: [{ name: "NAME", kind: "text", optional: true }],
    ...shared,
    run: turnOn,
  },
  {
    name: "rag:off",
    summary: "give the model no passages in this folder",
    ...shared,
    run: turnOff,
  },
  {
    name: "rag:drop",
    summary: "delete a store, or one source with its documents",
    arguments: [
      { name: "NAME", kind: "text" },
      { name: "SOURCE", kind: "text", optional: true },
    ],
    flags: [{ name: "yes", short: "y", help: "do not ask" }],
    ...shared,
    run: drop,
  },
  {
    name: "rag:reembed",
    summary: "recompute all vectors of a store, with another model if --embed names one ('none' removes them)",
    arguments: [{ name: "NAME", kind: "text", optional: true }],
    flags: [EMBED],
    ...shared,
    run: reembed,
  },
  {
    name: "rag:override",
    summary:
      "choose where questions are embedded while a certain model answers: an embedding model, 'off' or 'default'",
    arguments: [
      { name: "NAME", kind: "text" },
      { name: "MODEL", kind: "text", complete: "model" },
      { name: "EMBEDDING", kind: "text" },
    ],
    ...shared,
    run: override,
  },
  {
    name: "rag:migrate",
    summary: "import the stores that an older YAML or TOML configuration names under 'rag'",
    arguments: [{ name: "FILE", kind: "path", complete: "file" }],
    ...shared,
    run: migrate,
  },
];

export const subject: Subject = {
  name: "rag",
  summary: "stores of your own documents, which the model gets passages from",
  heading: "Memory and knowledge",
  specs: COMMANDS,
  shell: {
    about: "Keeps documents in encrypted stores on this machine, and gives the model the passages that fit your input.",
    more: `oxbow rag new docs && oxbow rag ingest docs/ --in docs && oxbow rag on docs
A store is searched by words (BM25). With --embed MODEL it is also searched by meaning; only that model gets the text.`,
  },
};

export function retrievalCommands(open: () => Promise<RetrievalPort>): readonly Command[] {
  return withPort(COMMANDS, open).map((command) => ({
    ...command,
    run: async (args, context) => {
      const result = await command.run(args, context);
      await (await open()).onChange?.();
      return result;
    },
  }));
}

async function list(
  _args: CommandArguments,
  { retrieval }: RetrievalPort,
  context: CommandContext,
): Promise<CommandResult> {
  const stores = await retrieval.list();
  if (stores.length === 0) {
    const example = `${spell("rag:new", context)} docs, then ${spell("rag:ingest", context)} docs/`;
    return { text: `No stores yet. Make one: ${example}`, value: { stores: [] } };
  }
  const choice = choiceFor(await retrieval.registry.read(), retrieval.root);
  const rows = stores.map((entry) => ({
    name: entry.name,
    model: entry.embedding_model ?? "words only",
    state: choice?.active !== entry.name ? "" : choice.enabled ? "on here" : "off here",
    created: entry.created_at.slice(0, 10),
  }));
  const columns = [
    { header: "store", value: ({ name }: (typeof rows)[0]) => name, priority: 2 },
    { header: "embedding model", value: ({ model }: (typeof rows)[0]) => model },
    { header: "", value: ({ state }: (typeof rows)[0]) => state, priority: 1 },
    { header: "made", value: ({ created }: (typeof rows)[0]) => created },
  ];
  const { screen } = context;
  const text = renderTable(columns, rows, { width: screen?.width, color: screen?.color ?? false });
  return { text, value: asValue({ stores, active: choice ?? null }) };
}

async function create(
  args: CommandArguments,
  { retrieval }: RetrievalPort,
  context: CommandContext,
): Promise<CommandResult> {
  const name = args.text("NAME") ?? "";
  const spec = args.flag("embed");
  const model = spec === undefined ? undefined : (await retrieval.namedEmbedder(spec)).model;
  const entry = await retrieval.registry.add({ name, ...(model !== undefined && { embedding_model: model }) });
  await retrieval.open(entry);
  const how =
    model === undefined ? "Oxbow searches it by words." : `Oxbow searches it by words and by the vectors of ${model}.`;
  const next = `Next: ${spell("rag:ingest", context)} PATH --in ${name}, then ${spell("rag:on", context)} ${name}`;
  return { text: `Created the store ${name}. ${how} ${next}`, value: { name, embedding_model: model ?? null } };
}

async function status(
  args: CommandArguments,
  { retrieval }: RetrievalPort,
  context: CommandContext,
): Promise<CommandResult> {
  const entry = await retrieval.find(args.text("NAME"));
  const store = await retrieval.open(entry);
  const counts = store.counts();
  const { binding } = store;
  const sources = store.sources();
  const { size } = await stat(retrieval.registry.fileOf(entry));
  const missing = binding === undefined ? 0 : counts.chunks - counts.embedded;
  const unfinished = sources.filter(({ finishedAt }) => finishedAt === undefined).length;
  const choice = choiceFor(await retrieval.registry.read(), retrieval.root);
  const isOn = choice?.active === entry.name && choice.enabled;
  const text = [
    `${entry.name}: ${groupDigits(counts.documents)} document${counts.documents === 1 ? "" : "s"} in ${groupDigits(counts.chunks)} chunk${counts.chunks === 1 ? "" : "s"}, ${formatBytes(size)}. ${isOn ? "On" : "Off"} in this folder.`,
    binding === undefined
      ? "Oxbow searches it by words."
      : `Oxbow searches it by words and by the vectors of ${binding.model}${binding.dimensions === undefined ? "" : ` (${binding.dimensions} dimensions)`}.`,
    ...Object.entries(entry.model_map ?? {}).map(([model, other]) => `While ${model} answers: ${other}.`),
    ...sources.map(
      ({ kind, place, documents, finishedAt }) =>
        `  ${kind} ${place}: ${groupDigits(documents)} document${documents === 1 ? "" : "s"}${finishedAt === undefined ? ", unfinished" : ""}`,
    ),
    ...(missing > 0 || unfinished > 0
      ? [`Unfinished: ${leftOver(unfinished, missing)}. ${spell("rag:ingest", context)} --in ${entry.name} continues.`]
      : []),
  ].join("\n");
  return {
    text,
    value: asValue({ ...entry, ...counts, bytes: size, on: isOn, binding: binding ?? null, sources, missing }),
  };
}

function leftOver(unfinished: number, missing: number): string {
  const named = (count: number, noun: string) => `${groupDigits(count)} ${noun}${count === 1 ? "" : "s"}`;
  const parts = [
    ...(unfinished > 0 ? [`${named(unfinished, "source")} not read to the end`] : []),
    ...(missing > 0 ? [`${named(missing, "chunk")} without a vector`] : []),
  ];
  return parts.join(", ");
}

const SHOWN_LINES = 6;

async function query(
  args: CommandArguments,
  { retrieval }: RetrievalPort,
  context: CommandContext,
): Promise<CommandResult> {
  const entry = await retrieval.find(args.flag("in"));
  const store = await retrieval.open(entry);
  const by = args.flag("by") ?? "both";
  if (by !== "both" && by !== "words" && by !== "vectors")
    return refuse(`--by: expected both, words or vectors, got "${by}".`);
  const [top, minimum] = [args.flag("top"), args.flag("min")].map((text) =>
    text === undefined ? undefined : Number(text),
  );
  if (top !== undefined && !(Number.isInteger(top) && top > 0 && top <= 100))
    return refuse("--top: expected a number from 1 to 100.");
  if (minimum !== undefined && !(minimum >= -1 && minimum <= 1)) return refuse("--min: expected a number up to 1.");
  const embedder = by === "words" ? undefined : await retrieval.embedder(entry);
  const { found, problem } = await searchStore(store, args.text("QUESTION") ?? "", {
    embedder,
    by,
    signal: context.signal,
    ...retrieval.limits,
    ...(top !== undefined && { top }),
    ...(minimum !== undefined && { minimum }),
  });
  if (problem !== undefined)
    context.warn(`Oxbow cannot use the embedding model now, so it searches by words only: ${problem}`);
  const blocks = found.map((chunk, i) => {
    const lines = chunk.text.split("\n");
    const shown = [...lines.slice(0, SHOWN_LINES), ...(lines.length > SHOWN_LINES ? ["…"] : [])];
    return [
      `${i + 1}. ${placeOf(chunk, retrieval.root)}  ${chunk.scored} ${chunk.score.toFixed(2)}`,
      ...shown.map((line) => `   ${line}`),
    ].join("\n");
  });
  const none = `Nothing in ${entry.name} is close enough. --min 0 shows the nearest anyway.`;
  return { text: blocks.length === 0 ? none : blocks.join("\n\n"), value: asValue({ store: entry.name, found }) };
}

async function turnOn(args: CommandArguments, { retrieval }: RetrievalPort): Promise<CommandResult> {
  const entry = await retrieval.find(args.text("NAME"));
  await retrieval.registry.choose(retrieval.root, { active: entry.name, enabled: true });
  const counts = (await retrieval.open(entry)).counts();
  const empty = counts.chunks === 0 ? " It is empty so far." : "";
  return {
    text: `${entry.name} is on in ${retrieval.root}: the model gets up to ${retrieval.limits.top ?? 5} passages with each input, and the tool 'retrieve'.${empty}`,
    value: { store: entry.name, enabled: true },
  };
}

async function turnOff(_args: CommandArguments, { retrieval }: RetrievalPort): Promise<CommandResult> {
  const choice = choiceFor(await retrieval.registry.read(), retrieval.root);
  if (choice === undefined || !choice.enabled)
    return { text: "No store is on in this folder.", value: { enabled: false } };
  await retrieval.registry.choose(retrieval.root, { ...choice, enabled: false });
  return { text: `${choice.active} is off in ${retrieval.root}.`, value: { store: choice.active, enabled: false } };
}

async function drop(args: CommandArguments, port: RetrievalPort, context: CommandContext): Promise<CommandResult> {
  const { retrieval } = port;
  const entry = await retrieval.find(args.text("NAME"));
  const place = args.text("SOURCE");
  const store = await retrieval.open(entry);
  const source =
    place === undefined
      ? undefined
      : store.sources().find((each) => each.place === place || each.place === resolve(retrieval.root, place));
  if (place !== undefined && source === undefined)
    return refuse(`${entry.name} has no source ${place}. ${spell("rag:status", context)} ${entry.name} lists them.`);
  const what =
    source === undefined
      ? `the store ${entry.name} with ${groupDigits(store.counts().chunks)} chunks`
      : `${source.place} from ${entry.name}`;
  if (!args.hasFlag("yes")) {
    if (context.confirm === undefined) return refuse(`This deletes ${what}. Add --yes to do it.`);
    if (!(await context.confirm(`Delete ${what}?`))) return { text: "Nothing was deleted.", value: { deleted: false } };
  }
  return alone(port, entry, async () => {
    if (source !== undefined) store.dropSource(source.id);
    else await retrieval.drop(entry);
    return { text: `Deleted ${what}.`, value: { deleted: true, store: entry.name } };
  });
}

async function override(args: CommandArguments, { retrieval }: RetrievalPort): Promise<CommandResult> {
  const entry = await retrieval.find(args.text("NAME"));
  const [model = "", embedding = ""] = [args.text("MODEL"), args.text("EMBEDDING")];
  if (embedding !== "default" && embedding !== "off") await refuseOther(entry, embedding, retrieval);
  const { [model]: _before, ...others } = entry.model_map ?? {};
  await retrieval.registry.update(entry.name, {
    model_map: embedding === "default" ? others : { ...others, [model]: embedding },
  });
  const text =
    embedding === "default"
      ? `While ${model} answers, Oxbow searches ${entry.name} as usual.`
      : embedding === "off"
        ? `While ${model} answers, Oxbow searches ${entry.name} by words only.`
        : `While ${model} answers, ${embedding} embeds the questions to ${entry.name}.`;
  return { text, value: { store: entry.name, model, embedding } };
}

/** The same model behind another address is fine. */
async function refuseOther(entry: StoreEntry, embedding: string, retrieval: Retrieval): Promise<void> {
  const probe = { ...entry, model_map: { probe: embedding } };
  await retrieval.embedder(probe, "probe");
}

async function migrate(args: CommandArguments, { retrieval }: RetrievalPort): Promise<CommandResult> {
  const path = resolve(retrieval.root, args.text("FILE") ?? "");
  const text = await readRegularText(path).catch(() => undefined);
  if (text === undefined) return refuse(`There is no file ${path}.`);
  const { readOldFile, takeOver } = await import("./old-configuration.js");
  const table = await readOldFile(path, text);
  if (table === undefined) return refuse(`${path} has no part 'rag'.`);
  const added = await takeOver(table, { retrieval, base: retrieval.root, origin: path });
  const summary = added.length === 0 ? "There is nothing new in it." : `New: ${added.join(", ")}.`;
  return { text: summary, value: { stores: added } };
}

/** Sources are read again one after the other; what is known is skipped. */
async function ingestInto(
  args: CommandArguments,
  port: RetrievalPort,
  context: CommandContext,
): Promise<CommandResult> {
  const { retrieval } = port;
  const entry = await retrieval.find(args.flag("in"));
  const store = await retrieval.open(entry);
  const words = args.list("SOURCE");
  const places =
    words.length === 0
      ? store.sources()
      : await Promise.all(words.map((word) => port.documents.readPlace(word, retrieval.root)));
  if (places.length === 0)
    return refuse(`${entry.name} has no sources yet. Name a file, a folder, a pattern or an address.`);
  return alone(port, entry, () => ingestPlaces({ port, entry, store, context, named: words.length > 0 }, places));
}

interface Work {
  readonly port: RetrievalPort;
  readonly entry: StoreEntry;
  readonly store: RetrievalStore;
  readonly context: CommandContext;
  /** The user has named the places now. */
  readonly named: boolean;
}

async function ingestPlaces(work: Work, places: readonly SourcePlace[]): Promise<CommandResult> {
  const { port, entry, store, context } = work;
  const total: IngestReport = { seen: 0, stored: 0, removed: 0, skipped: [] };
  const show = throttled(port.clock, context);
  try {
    for (const place of places) add(total, await ingestPlace(work, place, show));
    if (work.named && isNothing(total)) return refuse(nothingStored(total));
    const embedder = await port.retrieval.embedder(entry);
    const onProgress = (completed: number, all: number) =>
      show(`Embedding  ${countLine({ completed, total: all, unit: "chunks" })}`);
    const made =
      embedder === undefined ? 0 : await embedPending(store, { embedder, signal: context.signal, onProgress });
    return {
      text: summary(total, { name: entry.name, made, ...store.counts() }),
      value: asValue({ store: entry.name, ...total, made, ...store.counts() }),
    };
  } catch (error) {
    if (context.signal.aborted) return stopped(work);
    if ((error as Error).name !== "EmbeddingError") throw error;
    const { chunks, embedded } = store.counts();
    throw new UsageError(
      `${(error as Error).message} The documents are stored and found by their words; ${counted(chunks - embedded, "chunk")} without a vector so far. ` +
        `${spell("rag:ingest", context)} --in ${entry.name} continues.`,
    );
  }
}

function stopped({ store, entry, context }: Work): CommandResult {
  const { documents } = store.counts();
  return {
    text: `Stopped. ${entry.name} has ${counted(documents, "document")}; ${spell("rag:ingest", context)} --in ${entry.name} continues.`,
    value: asValue({ store: entry.name, stopped: true, ...store.counts() }),
  };
}

async function ingestPlace(
  { port, store, context, named }: Work,
  place: SourcePlace,
  show: (line: string) => void,
): Promise<IngestReport> {
  show(`Looking at ${place.place}`);
  if (place.kind === "import") return { seen: 0, stored: 0, removed: 0, skipped: [] };
  const { total, documents } = await port.documents.find(place, context.signal);
  const source = store.beginSource(place.kind, place.place);
  const onProgress = ({ seen }: IngestReport) =>
    show(`Reading  ${countLine({ completed: seen, total, unit: "documents" })}`);
  const report = await ingest(store, { source, documents, signal: context.signal, onProgress });
  // A folder may get files later; another place without any is mostly a mistake.
  const isUseless = named && place.kind !== "folder" && isNothing(report);
  if (isUseless && store.sources().find(({ id }) => id === source)?.documents === 0) store.dropSource(source);
  return report;
}

function isNothing({ seen, skipped }: IngestReport): boolean {
  return seen === skipped.length;
}

function nothingStored({ skipped }: IngestReport): string {
  const reasons = skipped.slice(0, SHOWN_SKIPPED).map(({ path, reason }) => `${path}: ${reason}`);
  return `Nothing was stored: ${reasons.length === 0 ? "no file matches." : `${reasons.join("; ")}.`.replace(/\.\.$/, ".")}`;
}

function counted(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function add(total: IngestReport, { seen, stored, removed, skipped }: IngestReport): void {
  total.seen += seen;
  total.stored += stored;
  total.removed += removed;
  total.skipped.push(...skipped);
}

const SHOWN_SKIPPED = 10;

function summary(
  { seen, stored, removed, skipped }: IngestReport,
  { name, chunks, made }: { readonly name: string; readonly chunks: number; readonly made: number },
): string {
  const rest = skipped.length - SHOWN_SKIPPED;
  return [
    `${name}: ${counted(seen, "document")} checked, ${groupDigits(stored)} new or changed, ${groupDigits(removed)} removed, ` +
      `${groupDigits(skipped.length)} left out; ${counted(chunks, "chunk")} in all${made > 0 ? `, ${groupDigits(made)} embedded now` : ""}.`,
    ...skipped.slice(0, SHOWN_SKIPPED).map(({ path, reason }) => `  left out: ${path}: ${reason}`),
    ...(rest > 0 ? [`  and ${groupDigits(rest)} more`] : []),
  ].join("\n");
}

async function reembed(args: CommandArguments, port: RetrievalPort, context: CommandContext): Promise<CommandResult> {
  const { retrieval } = port;
  const entry = await retrieval.find(args.text("NAME"));
  const store = await retrieval.open(entry);
  const spec = args.flag("embed") ?? store.binding?.model;
  if (spec === undefined) return refuse(`${entry.name} has no embedding model. Name one with --embed.`);
  return alone(port, entry, async () => {
    if (spec === "none") {
      store.rebind(undefined);
      await retrieval.registry.update(entry.name, { embedding_model: undefined });
      return {
        text: `Removed the vectors of ${entry.name}. Oxbow searches it by words.`,
        value: { store: entry.name, embedded: 0 },
      };
    }
    const embedder = await retrieval.namedEmbedder(spec);
    // One vector first: a model that does not answer must not cost the vectors that are there.
    await embedder.embed(["test"], context.signal);
    store.rebind(embedder.model);
    await retrieval.registry.update(entry.name, { embedding_model: embedder.model });
    const found = await retrieval.find(entry.name);
    return ingestPlaces({ port, entry: found, store, context, named: false }, []);
  });
}

/** One writer at a time: two would embed the same chunks twice, or delete what the other works on. */
async function alone(
  port: RetrievalPort,
  entry: StoreEntry,
  work: () => Promise<CommandResult>,
): Promise<CommandResult> {
  const path = `${port.retrieval.registry.fileOf(entry)}.lock`;
  try {
    return await withLock(path, { clock: port.clock, patienceMs: 0 }, work);
  } catch (error) {
    if (!(error instanceof LockBusy)) throw error;
    return refuse(
      `Another process (${error.holder.pid ?? "on another system"}) is writing to ${entry.name} now. Try again when it has ended.`,
    );
  }
}

const INTERVAL_MS = 250;

/** Progress in a session is an event that clients get, so there are few. */
function throttled(clock: Clock, context: CommandContext): (line: string) => void {
  let next = Number.NEGATIVE_INFINITY;
  return (line) => {
    if (clock.now() < next) return;
    next = clock.now() + INTERVAL_MS;
    context.progress(line);
  };
}
