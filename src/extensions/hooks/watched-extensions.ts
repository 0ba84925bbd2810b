/**
 * The approved files of a place as one session uses them. Hooks see each change, and can refuse it.
 *
 * 1. A session without such hooks uses the files of the place.
 * 2. A file counts after the hooks agreed to it. The session does not use a file whose change they refused.
 * 3. No hook can keep a file that is gone: only the approved bytes may be used.
 */
import { basename } from "node:path";
import type { ExtensionFile, ExtensionFiles, ExtensionKind } from "../../base/extension-files.js";
import type { SessionEvents } from "./part.js";

/** Memory is data of the session, not a setting. */
const KINDS: readonly ExtensionKind[] = [
  ...(["hook", "tool", "command", "provider", "plugin", "mcp", "event-hooks"] as const),
  ...(["profile", "alias", "prompt", "agent", "skill", "skill-file"] as const),
];

export interface WatchedExtensionsOptions {
  /** Undefined until the session has them. */
  readonly events: () => SessionEvents | undefined;
  readonly notify: (message: string) => void;
}

export class WatchedExtensions implements ExtensionFiles {
  readonly #all: ExtensionFiles;
  readonly #options: WatchedExtensionsOptions;
  /** The files in use; undefined without hooks. */
  #known: Map<string, ExtensionFile> | undefined;
  readonly #refused = new Set<string>();
  #seen = 0;
  #version = 0;

  constructor(all: ExtensionFiles, options: WatchedExtensionsOptions) {
    this.#all = all;
    this.#options = options;
  }

  of(kind: ExtensionKind): readonly ExtensionFile[] {
    const files = this.#all.of(kind);
    const known = this.#inUse();
    return known === undefined || !KINDS.includes(kind) ? files : files.filter((file) => known.has(keyOf(file)));
  }

  get version(): number {
    return this.#inUse() === undefined ? this.#all.version : this.#version;
  }

  async refresh(depth?: "folders" | "files"): Promise<boolean> {
    const known = this.#inUse();
    const hasChanged = await this.#all.refresh(depth);
    if (known === undefined) return hasChanged;
    const before = this.#version;
    await this.#decide(known);
    return this.#version !== before;
  }

  /** With the first hook for changes, the files of that moment are in use. */
  #inUse(): Map<string, ExtensionFile> | undefined {
    if (this.#known !== undefined || this.#options.events()?.has("ConfigChange") !== true) return this.#known;
    this.#known = this.#present();
    this.#seen = this.#version = this.#all.version;
    return this.#known;
  }

  #present(): Map<string, ExtensionFile> {
    return new Map(KINDS.flatMap((kind) => this.#all.of(kind)).map((file) => [keyOf(file), file]));
  }

  async #decide(known: Map<string, ExtensionFile>): Promise<void> {
    if (this.#all.version === this.#seen) return;
    this.#seen = this.#all.version;
    const present = this.#present();
    const fresh = [...present].filter(([key]) => !known.has(key) && !this.#refused.has(key));
    const gone = [...known].filter(([key]) => !present.has(key));
    const changed = new Map([...gone, ...fresh].map(([, file]) => [file.path, file]));
    for (const [path, file] of changed) {
      const isRefused = await this.#isRefused(file);
      for (const [key] of gone.filter(([, each]) => each.path === path)) known.delete(key);
      for (const [key, each] of fresh.filter((entry) => entry[1].path === path)) {
        if (isRefused) this.#refused.add(key);
        else known.set(key, each);
      }
      this.#version++;
    }
  }

  async #isRefused(file: ExtensionFile): Promise<boolean> {
    const { events, notify } = this.#options;
    const source = sourceOf(file);
    const input = { source, file_path: file.path };
    const answer = await events()?.fire("ConfigChange", { subject: source, input });
    if (answer?.refuses !== true) return false;
    notify(`A hook refused the change of ${file.path}. This session does not use it: ${answer.reason ?? "no reason"}`);
    return true;
  }
}

/** The names that existing hooks know. */
function sourceOf({ kind, scope, path }: ExtensionFile): string {
  if (kind === "skill" || kind === "skill-file") return "skills";
  if (scope !== "project") return "user_settings";
  return basename(path).includes(".local.") ? "local_settings" : "project_settings";
}

function keyOf({ kind, path, entry, sha256 }: ExtensionFile): string {
  return [kind, path, entry, sha256].join("\0");
}
