/**
 * Takes over stores that a configuration names, in the form with several stores and in the older one with a single store:
 *
 *     [rag]                                    [rag]
 *     enabled = true                           enabled = true
 *     active = "golang"                        db_path = "agents/rag/golang.db"
 *     [[rag.stores]]                           embedding_model = "nomic-embed-text"
 *     name = "golang"
 *     db_path = "agents/rag/golang.db"
 *     embedding_model = "nomic-embed-text"
 *     model_map = { "qwen3" = "…" }
 *
 * 1. The single store is named `default`.
 * 2. What a database at `db_path` holds is copied, with its vectors. The file stays as it is.
 * 3. Each configuration is taken over once. A process that dies meanwhile leaves nothing half done: the next one continues.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import type { YamlValue } from "../../base/yaml.js";
import { type StoreEntry, withStore } from "./store-registry.js";
import type { Retrieval } from "./stores.js";

export interface OldStore {
  readonly name: string;
  readonly dbPath: string | undefined;
  readonly embeddingModel: string | undefined;
  readonly modelMap: Readonly<Record<string, string>>;
}

export interface OldConfiguration {
  readonly stores: readonly OldStore[];
  readonly active: string | undefined;
  readonly enabled: boolean;
}

function readOldConfiguration(value: unknown): OldConfiguration {
  const table = objectOf(value);
  const stores = Array.isArray(table.stores) ? table.stores.map((each) => readStore(objectOf(each))) : [];
  if (stores.length === 0 && (table.db_path !== undefined || table.embedding_model !== undefined)) {
    stores.push(readStore({ ...table, name: "default" }));
  }
  const named = stores.filter(({ name }) => name !== "");
  const active = textOf(table.active) ?? named[0]?.name;
  return { stores: named, active, enabled: String(table.enabled ?? "false") === "true" };
}

function readStore(table: Readonly<Record<string, unknown>>): OldStore {
  const map = Object.entries(objectOf(table.model_map ?? {})).map(([name, model]) => [name, String(model)]);
  return {
    name: textOf(table.name) ?? "",
    dbPath: textOf(table.db_path),
    embeddingModel: textOf(table.embedding_model),
    modelMap: Object.fromEntries(map),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new UsageError("The [rag] table is not valid: expected names and values.");
}

export interface TakeOver {
  readonly retrieval: Retrieval;
  /** Relative paths begin here. */
  readonly base: string;
  /** The file, for messages and to remember that it is done. */
  readonly origin: string;
}

/** The names of the stores that are new. */
export async function takeOver(value: unknown, { retrieval, base, origin }: TakeOver): Promise<readonly string[]> {
  const { stores, active, enabled } = readOldConfiguration(value);
  const { registry } = retrieval;
  const known = await registry.read();
  const added: string[] = [];
  for (const store of stores) {
    const mark = `${origin} ${store.name}`;
    if (known.migrated?.includes(mark)) continue;
    const isNew = !known.stores.some(({ name }) => name === store.name);
    const entry = isNew ? await copyStore(store, { retrieval, base, mark }) : undefined;
    await registry.change((now) => {
      // Another process may have been faster.
      if (now.migrated?.includes(mark)) return now;
      const done = { ...now, migrated: [...(now.migrated ?? []), mark] };
      return entry === undefined ? done : withStore(done, entry);
    });
    if (isNew) added.push(store.name);
  }
  if (added.length > 0 && active !== undefined && stores.some(({ name }) => name === active)) {
    await registry.choose(base, { active, enabled });
  }
  return added;
}

interface CopyPlace {
  readonly retrieval: Retrieval;
  readonly base: string;
  readonly mark: string;
}

/** The entry of the whole store. Its id comes from the configuration: after a crash the next attempt continues in the same file. */
async function copyStore(old: OldStore, { retrieval, base, mark }: CopyPlace): Promise<StoreEntry> {
  const { name, dbPath, embeddingModel, modelMap } = old;
  const model = embeddingModel === undefined ? undefined : await fullName(embeddingModel, retrieval);
  const about = {
    name,
    ...(model !== undefined && { embedding_model: model }),
    ...(Object.keys(modelMap).length > 0 && { model_map: modelMap }),
  };
  const id = createHash("sha256").update(mark).digest("hex").slice(0, 16);
  const entry = retrieval.registry.newEntry(about, id);
  const path = dbPath === undefined ? undefined : resolve(base, dbPath);
  try {
    await mkdir(retrieval.registry.folder, { recursive: true, mode: 0o700 });
    const store = await retrieval.open(entry);
    if (path !== undefined && existsSync(path))
      await (await import("./old-database.js")).copyChunks(path, store, retrieval.redact);
  } catch (error) {
    // Nothing is half taken over.
    await retrieval.drop(entry);
    throw error;
  }
  return entry;
}

/** `ollama:nomic-embed-text` for `nomic-embed-text`. */
async function fullName(spec: string, retrieval: Retrieval): Promise<string> {
  const { model } = await retrieval.namedEmbedder(spec).catch(() => ({ model: `ollama:${spec}` }));
  return model;
}

/** The part `rag:` of a YAML or TOML file. */
export async function readOldFile(path: string, text: string): Promise<unknown> {
  if (/\.toml$/i.test(path)) return ((await import("smol-toml")).parse(text) as Record<string, unknown>).rag;
  const { parseYaml } = await import("../../base/yaml.js");
  return (plain(parseYaml(text).value) as Record<string, unknown> | undefined)?.rag;
}

function plain(value: YamlValue): unknown {
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([name, each]) => [name, plain(each as YamlValue)]));
  return Array.isArray(value) ? value.map((each) => plain(each as YamlValue)) : value;
}
