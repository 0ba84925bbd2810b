/** A workspace and what lies around it, in a temporary folder, as a scenario's layout describes them. */
import { execFileSync } from "node:child_process";
import {
  link,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, sep } from "node:path";

export type LayoutEntry =
  | string
  | { readonly symlink: string }
  | { readonly hardlink: string }
  | { readonly fifo: true }
  | { readonly socket: true }
  | { readonly dir: true }
  | { readonly sparse_bytes: number };

export type Layout = Readonly<Record<string, LayoutEntry>>;

export class PathPlace {
  readonly base: string;
  readonly workspace: string;
  /** In every file outside the workspace: what a tool says must never hold it. */
  readonly marker = `outside-${Math.random().toString(36).slice(2)}`;
  readonly #closers: (() => void)[] = [];

  private constructor(base: string) {
    this.base = base;
    this.workspace = join(base, "ws");
  }

  static async create(layout: Layout): Promise<PathPlace> {
    const place = new PathPlace(await realpath(await mkdtemp(join(tmpdir(), "oxbow-paths-"))));
    for (const folder of ["ws", "out"]) await mkdir(join(place.base, folder));
    // Hard links need what they lead to.
    const entries = Object.entries(layout).sort(
      ([, a], [, b]) => Number(typeof a !== "string") - Number(typeof b !== "string"),
    );
    for (const [path, entry] of entries) {
      const at = place.fill(path);
      // A remark about the scenario, not a path.
      if (!isAbsolute(at)) continue;
      await mkdir(dirname(at), { recursive: true });
      await place.#make(at, entry);
    }
    return place;
  }

  /** Puts this place into a scenario's text. A temporary folder of the program is one of ours. */
  fill(text: string): string {
    const values: Readonly<Record<string, string>> = {
      "/tmp/{APP}": join(this.base, "outputs"),
      "{WSLINK}": join(this.base, "link"),
      "{WS}": this.workspace,
      "{OUT}": join(this.base, "out"),
      "{PID}": String(process.pid),
      "{SEP}": sep,
    };
    return Object.entries(values).reduce((filled, [name, value]) => filled.replaceAll(name, value), text);
  }

  /** Everything outside the workspace: what it is and what it holds. */
  async outside(): Promise<Readonly<Record<string, string>>> {
    const found: Record<string, string> = {};
    await record(this.base, this.workspace, found);
    return found;
  }

  async close(): Promise<void> {
    for (const close of this.#closers) close();
    await rm(this.base, { recursive: true, force: true });
  }

  async #make(at: string, entry: LayoutEntry): Promise<void> {
    if (typeof entry === "string") {
      const isOutside = !at.startsWith(`${this.workspace}${sep}`);
      const file = await open(at, "w");
      await file.writeFile(this.fill(entry) + (isOutside ? `# ${this.marker}\n` : ""));
      await file.close();
    } else if ("symlink" in entry) await symlink(this.fill(entry.symlink), at);
    else if ("hardlink" in entry) await link(this.fill(entry.hardlink), at);
    else if ("dir" in entry) await mkdir(at, { recursive: true });
    else if ("fifo" in entry) execFileSync("mkfifo", [at]);
    else if ("sparse_bytes" in entry) {
      const file = await open(at, "w");
      await file.truncate(entry.sparse_bytes);
      await file.close();
    } else await this.#listen(at);
  }

  #listen(at: string): Promise<void> {
    const server = createServer();
    this.#closers.push(() => server.close());
    return new Promise((resolve, reject) => server.on("error", reject).listen(at, resolve));
  }
}

async function record(path: string, without: string, found: Record<string, string>): Promise<void> {
  if (path === without) return;
  const entry = await lstat(path);
  if (entry.isDirectory()) {
    found[path] = "folder";
    for (const name of await readdir(path)) await record(join(path, name), without, found);
  } else found[path] = entry.isSymbolicLink() ? `-> ${await readlink(path)}` : await readFile(path, "utf8");
}
