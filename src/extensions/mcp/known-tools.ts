/**
 * What people know of the tools of each server: a later change of a description or a schema needs a new approval.
 *
 * 1. The first list of an approved server is taken as it is. From then on a tool that is new or different is withheld until a
 *    person approves it; a tool that is gone is just gone.
 * 2. The file is private to the user and replaced whole. One that cannot be read withholds nothing that was never seen.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomic } from "../../system/atomic-file.js";
import type { OfferedTool } from "./offered-tools.js";

interface KnownTool {
  readonly fingerprint: string;
  readonly description: string;
  readonly schema: string;
}

type KnownServers = Record<string, Record<string, KnownTool>>;

export interface ComparedTools {
  readonly approved: readonly OfferedTool[];
  readonly withheld: readonly OfferedTool[];
}

const MOST_SCHEMA = 4000;

export class KnownTools {
  readonly #file: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
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
    return { approved: tools.filter(isKnown), withheld: tools.filter((tool) => !isKnown(tool)) };
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
      delete all[keyOf(path, name)];
    });
  }

  /** What changed, for a person. */
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
      const all = this.#read();
      edit(all);
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      await writeFileAtomic(this.#file, `${JSON.stringify({ v: 1, servers: all })}\n`, { mode: 0o600 });
    };
    this.#writing = this.#writing.then(work, work);
    return this.#writing;
  }

  #read(): KnownServers {
    try {
      const { servers } = JSON.parse(readFileSync(this.#file, "utf8")) as { servers?: KnownServers };
      return typeof servers === "object" && servers !== null ? servers : {};
    } catch {
      return {};
    }
  }
}

/** One server of one file. */
export function keyOf(path: string, name: string): string {
  return `${path}\n${name}`;
}

function knownTool({ fingerprint, description, inputSchema }: OfferedTool): KnownTool {
  return { fingerprint, description, schema: JSON.stringify(inputSchema).slice(0, MOST_SCHEMA) };
}
