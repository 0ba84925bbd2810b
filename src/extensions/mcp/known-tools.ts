/**
 * Describes what people know of the tools of each server: a later change of a description or a schema needs a new approval.
 *
 * 1. The first list of an approved server is taken as it is. From then on a tool that is new or different is withheld until a
 *    person approves it; a tool that is gone is just gone.
 * 2. The file is private to the user and replaced whole. One that cannot be read withholds nothing that was never seen.
 * 3. Until a server has connected, it offers what it offered last, so that the first request of a session has its tools.
 * 4. A process has one object for a file, so that no change overwrites another.
 */
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { JsonObject } from "../../protocol/json.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import type { OfferedTool } from "./offered-tools.js";
import type { ServerConfig } from "./server-config.js";

interface KnownTool {
  readonly fingerprint: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly schema: string;
  readonly readOnlyHint?: boolean;
  readonly needsTask?: boolean;
  /** The server did not list it last time, or lists another version. */
  readonly isGone?: true | undefined;
}

type KnownServers = Record<string, Record<string, KnownTool>>;

export interface ComparedTools {
  readonly approved: readonly OfferedTool[];
  readonly withheld: readonly OfferedTool[];
}

/** A tool with a longer schema is offered only when its server has connected. */
const MOST_SCHEMA = 16_000;

export class KnownTools {
  static readonly #files = new Map<string, KnownTools>();
  readonly #file: string;
  #writing: Promise<void> = Promise.resolve();
  #parsed: { readonly stamp: string; readonly servers: KnownServers } | undefined;

  private constructor(file: string) {
    this.#file = file;
  }

  static of(file: string): KnownTools {
    const known = KnownTools.#files.get(file) ?? new KnownTools(file);
    KnownTools.#files.set(file, known);
    return known;
  }

  /** Tells what the server offered last, by name. */
  offered(key: string): readonly OfferedTool[] {
    const known = Object.entries(this.#read()[key] ?? {});
    return known.flatMap(([name, tool]) => offeredTool(name, tool) ?? []).sort(byName);
  }

  /** `key`: the server. The first list is remembered. */
  async compare(key: string, tools: readonly OfferedTool[]): Promise<ComparedTools> {
    const known = this.#read()[key];
    if (known === undefined) {
      await this.approve(key, tools);
      return { approved: tools, withheld: [] };
    }
    const isKnown = ({ name, fingerprint }: OfferedTool) =>
      Object.hasOwn(known, name) && known[name]?.fingerprint === fingerprint;
    const approved = tools.filter(isKnown);
    await this.#keep(key, { known, approved });
    return { approved, withheld: tools.filter((tool) => !isKnown(tool)) };
  }

  async #keep(
    key: string,
    { known, approved }: { readonly known: Record<string, KnownTool>; readonly approved: readonly OfferedTool[] },
  ): Promise<void> {
    const now = {
      ...Object.fromEntries(Object.entries(known).map(([name, tool]) => [name, { ...tool, isGone: true as const }])),
      ...Object.fromEntries(approved.map((tool) => [tool.name, knownTool(tool)])),
    };
    if (JSON.stringify(now) === JSON.stringify(known)) return;
    // What changes meanwhile, such as an approval, stays.
    await this.#change((all) => {
      all[key] = { ...all[key], ...now };
    });
  }

  /** Only a person calls this, or the first connection. */
  approve(key: string, tools: readonly OfferedTool[]): Promise<void> {
    return this.#change((all) => {
      const before = Object.hasOwn(all, key) ? all[key] : {};
      all[key] = { ...before, ...Object.fromEntries(tools.map((tool) => [tool.name, knownTool(tool)])) };
    });
  }

  /** `path`: the file that names the server. */
  forget(path: string, name: string): Promise<void> {
    return this.#change((all) => {
      for (const key of Object.keys(all)) if (key.startsWith(entryOf(path, name))) delete all[key];
    });
  }

  /** Tells what changed, for a person. */
  describe(key: string, tools: readonly OfferedTool[]): string {
    const known = this.#read()[key] ?? {};
    return tools
      .map((tool) => {
        const before = Object.hasOwn(known, tool.name) ? known[tool.name] : undefined;
        const now = knownTool(tool);
        if (before === undefined) return `+ ${tool.name}: ${now.description}\n  ${now.schema}`;
        const lines = [`~ ${tool.name}`];
        if (before.description !== now.description) lines.push(`- ${before.description}`, `+ ${now.description}`);
        if (before.schema !== now.schema) lines.push(`- ${before.schema}`, `+ ${now.schema}`);
        if (lines.length === 1) lines.push("  its title, its hints or the schema of its results changed");
        return lines.join("\n");
      })
      .join("\n\n");
  }

  #change(edit: (all: KnownServers) => void): Promise<void> {
    const work = async () => {
      const all = structuredClone(this.#read());
      edit(all);
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      await writeFileAtomic(this.#file, `${JSON.stringify({ v: 1, servers: all })}\n`, { mode: 0o600 });
    };
    this.#writing = this.#writing.then(work, work);
    return this.#writing;
  }

  #read(): KnownServers {
    try {
      const { ino, size, mtimeMs } = statSync(this.#file);
      const stamp = [ino, size, mtimeMs].join();
      if (this.#parsed?.stamp === stamp) return this.#parsed.servers;
      const read = JSON.parse(readFileSync(this.#file, "utf8")) as { servers?: KnownServers };
      const servers = typeof read.servers === "object" && read.servers !== null ? read.servers : {};
      this.#parsed = { stamp, servers };
      return servers;
    } catch {
      return {};
    }
  }
}

/** One server of one file, as it is started: another program or address begins with what it offers first, after its own approval. */
export function keyOf({ path, name, transport }: Pick<ServerConfig, "path" | "name" | "transport">): string {
  const start = transport.kind === "stdio" ? [transport.command, ...transport.args] : [transport.url];
  return `${entryOf(path, name)}${JSON.stringify(start)}`;
}

function entryOf(path: string, name: string): string {
  return `${path}\n${name}\n`;
}

function knownTool({ fingerprint, title, description, inputSchema, readOnlyHint, needsTask }: OfferedTool): KnownTool {
  const schema = JSON.stringify(inputSchema).slice(0, MOST_SCHEMA);
  return { fingerprint, title, description, schema, readOnlyHint, needsTask };
}

/** Nothing, if the file does not have all of it. */
function offeredTool(name: string, tool: KnownTool): OfferedTool | undefined {
  const { fingerprint, title, description, schema, readOnlyHint, needsTask, isGone } = tool;
  if (isGone || readOnlyHint === undefined || needsTask === undefined) return undefined;
  try {
    const inputSchema = JSON.parse(schema) as JsonObject;
    return { name, fingerprint, title, description, inputSchema, readOnlyHint, needsTask };
  } catch {
    return undefined;
  }
}

function byName(one: OfferedTool, other: OfferedTool): number {
  return one.name < other.name ? -1 : 1;
}
