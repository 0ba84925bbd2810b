/** `rag ingest` and `rag reembed`: the long ones, with progress. */
import type { Clock } from "../../base/clock.js";
import { groupDigits } from "../../base/group-digits.js";
import { countLine } from "../../base/progress-bar.js";
import { UsageError } from "../../base/usage-error.js";
import {
  asValue,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  refuse,
  spell,
} from "../../commands/command.js";
import { embedPending, type IngestReport, ingest } from "../../context/retrieval/ingest.js";
import type { RetrievalStore } from "../../context/retrieval/retrieval-store.js";
import type { StoreEntry } from "../../context/retrieval/store-registry.js";
import { LockBusy, withLock } from "../../system/file-lock.js";
import type { SourcePlace } from "../retrieval/document-sources.js";
import type { RetrievalPort } from "./retrieval.js";

/** Sources are read again one after the other; what is known is skipped. */
export async function ingestInto(
  port: RetrievalPort,
  args: CommandArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const { retrieval } = port;
  const entry = await retrieval.find(args.flag("in"));
  const store = await retrieval.open(entry);
  const { readPlace } = await import("../retrieval/document-sources.js");
  const words = args.list("SOURCE");
  const places =
    words.length === 0 ? store.sources() : await Promise.all(words.map((word) => readPlace(word, retrieval.root)));
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
  const show = throttled(port.sources.clock, context);
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
  const { findDocuments } = await import("../retrieval/document-sources.js");
  show(`Looking at ${place.place}`);
  if (place.kind === "import") return { seen: 0, stored: 0, removed: 0, skipped: [] };
  const { total, documents } = await findDocuments(place, { ...port.sources, signal: context.signal });
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

export async function reembed(
  port: RetrievalPort,
  args: CommandArguments,
  context: CommandContext,
): Promise<CommandResult> {
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
export async function alone(
  port: RetrievalPort,
  entry: StoreEntry,
  work: () => Promise<CommandResult>,
): Promise<CommandResult> {
  const path = `${port.retrieval.registry.fileOf(entry)}.lock`;
  try {
    return await withLock(path, { clock: port.sources.clock, patienceMs: 0 }, work);
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
