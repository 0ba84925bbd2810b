/** `/rag` and `oxbow rag`: retrieval stores. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { formatBytes } from "../../base/byte-size.js";
import { groupDigits } from "../../base/group-digits.js";
import { renderTable } from "../../base/text-table.js";
import * as specs from "../../commands/catalogue/retrieval.js";
import {
  asValue,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  type CommandSpec,
  refuse,
  spell,
} from "../../commands/command.js";
import { placeOf } from "../../context/retrieval/context-block.js";
import { searchStore } from "../../context/retrieval/search.js";
import { choiceFor, type StoreEntry } from "../../context/retrieval/store-registry.js";
import { readRegularText } from "../../system/regular-file.js";
import type { DocumentSourceOptions } from "../retrieval/document-sources.js";
import type { Retrieval } from "../retrieval/retrieval.js";
import { alone, ingestInto, reembed } from "./retrieval-ingest.js";

export interface RetrievalPort {
  readonly retrieval: Retrieval;
  readonly sources: Omit<DocumentSourceOptions, "signal">;
  /** Something changed that a session has to know. */
  readonly onChange?: () => Promise<void>;
}

type Action = (port: RetrievalPort, args: CommandArguments, context: CommandContext) => Promise<CommandResult>;

export function retrievalCommands(open: () => Promise<RetrievalPort>): readonly Command[] {
  const command = (spec: CommandSpec, action: Action): Command => ({
    ...spec,
    run: async (args, context) => {
      const port = await open();
      const result = await action(port, args, context);
      await port.onChange?.();
      return result;
    },
  });
  return [
    command(specs.RAG_LIST, list),
    command(specs.RAG_NEW, create),
    command(specs.RAG_INGEST, ingestInto),
    command(specs.RAG_STATUS, status),
    command(specs.RAG_QUERY, query),
    command(specs.RAG_ON, turnOn),
    command(specs.RAG_OFF, turnOff),
    command(specs.RAG_DROP, drop),
    command(specs.RAG_REEMBED, reembed),
    command(specs.RAG_OVERRIDE, override),
    command(specs.RAG_MIGRATE, migrate),
  ];
}

const list: Action = async ({ retrieval }, _args, context) => {
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
};

const create: Action = async ({ retrieval }, args, context) => {
  const name = args.text("NAME") ?? "";
  const spec = args.flag("embed");
  const model = spec === undefined ? undefined : (await retrieval.namedEmbedder(spec)).model;
  const entry = await retrieval.registry.add({ name, ...(model !== undefined && { embedding_model: model }) });
  await retrieval.open(entry);
  const how =
    model === undefined ? "Oxbow searches it by words." : `Oxbow searches it by words and by the vectors of ${model}.`;
  const next = `Next: ${spell("rag:ingest", context)} PATH --in ${name}, then ${spell("rag:on", context)} ${name}`;
  return { text: `Created the store ${name}. ${how} ${next}`, value: { name, embedding_model: model ?? null } };
};

const status: Action = async ({ retrieval }, args, context) => {
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
};

function leftOver(unfinished: number, missing: number): string {
  const named = (count: number, noun: string) => `${groupDigits(count)} ${noun}${count === 1 ? "" : "s"}`;
  const parts = [
    ...(unfinished > 0 ? [`${named(unfinished, "source")} not read to the end`] : []),
    ...(missing > 0 ? [`${named(missing, "chunk")} without a vector`] : []),
  ];
  return parts.join(", ");
}

const SHOWN_LINES = 6;

const query: Action = async ({ retrieval }, args, context) => {
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
};

const turnOn: Action = async ({ retrieval }, args) => {
  const entry = await retrieval.find(args.text("NAME"));
  await retrieval.registry.choose(retrieval.root, { active: entry.name, enabled: true });
  const counts = (await retrieval.open(entry)).counts();
  const empty = counts.chunks === 0 ? " It is empty so far." : "";
  return {
    text: `${entry.name} is on in ${retrieval.root}: the model gets up to ${retrieval.limits.top ?? 5} passages with each input, and the tool 'retrieve'.${empty}`,
    value: { store: entry.name, enabled: true },
  };
};

const turnOff: Action = async ({ retrieval }) => {
  const choice = choiceFor(await retrieval.registry.read(), retrieval.root);
  if (choice === undefined || !choice.enabled)
    return { text: "No store is on in this folder.", value: { enabled: false } };
  await retrieval.registry.choose(retrieval.root, { ...choice, enabled: false });
  return { text: `${choice.active} is off in ${retrieval.root}.`, value: { store: choice.active, enabled: false } };
};

const drop: Action = async (port, args, context) => {
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
};

const override: Action = async ({ retrieval }, args) => {
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
};

/** The same model behind another address is fine. */
async function refuseOther(entry: StoreEntry, embedding: string, retrieval: Retrieval): Promise<void> {
  const probe = { ...entry, model_map: { probe: embedding } };
  await retrieval.embedder(probe, "probe");
}

const migrate: Action = async ({ retrieval }, args) => {
  const path = resolve(retrieval.root, args.text("FILE") ?? "");
  const text = await readRegularText(path).catch(() => undefined);
  if (text === undefined) return refuse(`There is no file ${path}.`);
  const { readOldFile, takeOver } = await import("../retrieval/old-configuration.js");
  const table = await readOldFile(path, text);
  if (table === undefined) return refuse(`${path} has no part 'rag'.`);
  const added = await takeOver(table, { retrieval, base: retrieval.root, origin: path });
  const summary = added.length === 0 ? "There is nothing new in it." : `New: ${added.join(", ")}.`;
  return { text: summary, value: { stores: added } };
};
