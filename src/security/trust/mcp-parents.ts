/**
 * The programs that the user allows to drive Oxbow as an MCP server: `mcp-parents.lock` in the configuration folder.
 *
 * 1. A program is its name as typed and the hash of its file, and for an interpreter the script as well: another version asks again.
 * 2. A program that waits is recorded beside, so that the user can allow it in another terminal. That record allows nothing.
 * 3. Only the user can read and write the files. One that others can write to, or that cannot be read, allows nothing.
 */
import { lstat, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import type { ParentProgram } from "../../system/parent-process.js";

export interface AllowedParent extends ParentProgram {
  /** Open its sessions for the user, too. */
  readonly attach: "always" | "never";
  readonly allowed_at: string;
}

export interface WaitingParent extends ParentProgram {
  readonly pid: number;
  readonly asked_at: string;
}

const PRIVATE = 0o600;
const MOST_WAITING = 20;

export class McpParents {
  readonly #allowed: string;
  readonly #waiting: string;

  constructor(place: { readonly config: string; readonly state: string }) {
    this.#allowed = join(place.config, "mcp-parents.lock");
    this.#waiting = join(place.state, "mcp-parents-waiting.json");
  }

  async find(parent: ParentProgram): Promise<AllowedParent | undefined> {
    return (await this.list()).find((each) => isSame(each, parent));
  }

  async list(): Promise<readonly AllowedParent[]> {
    return (await readList(this.#allowed)).flatMap((each): readonly AllowedParent[] => {
      const program = programIn(each);
      if (program === undefined) return [];
      const attach = each.attach === "always" ? "always" : "never";
      return [{ ...program, attach, allowed_at: String(each.allowed_at ?? "") }];
    });
  }

  async waiting(): Promise<readonly WaitingParent[]> {
    return (await readList(this.#waiting)).flatMap((each): readonly WaitingParent[] => {
      const program = programIn(each);
      if (program === undefined || typeof each.pid !== "number") return [];
      return [{ ...program, pid: each.pid, asked_at: String(each.asked_at ?? "") }];
    });
  }

  async allow(parent: ParentProgram, choice: Pick<AllowedParent, "attach" | "allowed_at">): Promise<void> {
    const others = (await this.list()).filter((each) => !isSame(each, parent));
    await write(this.#allowed, [...others, { ...programOf(parent), ...choice }]);
    await this.stopWaiting(parent);
  }

  async forget(parent: ParentProgram): Promise<void> {
    await write(
      this.#allowed,
      (await this.list()).filter((each) => !isSame(each, parent)),
    );
  }

  async wait(parent: WaitingParent): Promise<void> {
    const others = (await this.waiting()).filter((each) => !isSame(each, parent));
    await write(
      this.#waiting,
      [...others, { ...programOf(parent), pid: parent.pid, asked_at: parent.asked_at }].slice(-MOST_WAITING),
    );
  }

  async stopWaiting(parent: ParentProgram): Promise<void> {
    const all = await this.waiting();
    const others = all.filter((each) => !isSame(each, parent));
    if (others.length < all.length) await write(this.#waiting, others);
  }
}

function isSame(one: ParentProgram, other: ParentProgram): boolean {
  return one.argv0 === other.argv0 && one.sha256 === other.sha256 && one.script?.sha256 === other.script?.sha256;
}

function programOf({ argv0, path, sha256, script }: ParentProgram): ParentProgram {
  return { argv0, path, sha256, ...(script && { script: { path: script.path, sha256: script.sha256 } }) };
}

const HASH = /^[0-9a-f]{64}$/;

function programIn({ argv0, path, sha256, script }: JsonObject): ParentProgram | undefined {
  if (typeof argv0 !== "string" || typeof path !== "string" || typeof sha256 !== "string" || !HASH.test(sha256))
    return undefined;
  if (script === undefined) return { argv0, path, sha256 };
  if (!isJsonObject(script) || typeof script.path !== "string" || typeof script.sha256 !== "string") return undefined;
  return { argv0, path, sha256, script: { path: script.path, sha256: script.sha256 } };
}

async function readList(path: string): Promise<readonly JsonObject[]> {
  try {
    const status = await lstat(path);
    const own = process.getuid === undefined || status.uid === process.getuid();
    if (!status.isFile() || !own || (status.mode & 0o022) !== 0) return [];
    const value = JSON.parse(await readFile(path, "utf8")) as JsonValue;
    const parents = isJsonObject(value) ? value.parents : undefined;
    return Array.isArray(parents) ? parents.filter(isJsonObject) : [];
  } catch {
    return [];
  }
}

async function write(path: string, parents: readonly object[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFileAtomic(path, `${JSON.stringify({ version: 1, parents }, null, 2)}\n`, { mode: PRIVATE });
}
