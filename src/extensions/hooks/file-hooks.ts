/**
 * Tells hooks about files that changed: those that their matchers name, in the folder of the session, and those that hooks asked for.
 *
 * Oxbow looks at the start of a turn and after the calls of an answer. What a hook sets for commands counts from then on.
 */
import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { EventHooks } from "./event-hooks.js";

export class FileHooks {
  readonly #hooks: EventHooks;
  readonly #root: string;
  readonly #known = new Map<string, string>();
  /** The files that hooks asked for. */
  #asked: readonly string[] = [];

  constructor(hooks: EventHooks, root: string) {
    this.#hooks = hooks;
    this.#root = root;
  }

  /** The files that a hook wants to know about from now on, instead of those that hooks asked for before. */
  watch(paths: readonly string[] | undefined): void {
    if (paths === undefined) return;
    this.#asked = paths;
    this.#paths();
  }

  async check(signal: AbortSignal): Promise<void> {
    if (!this.#hooks.has("FileChanged")) return;
    for (const path of this.#paths()) {
      const before = this.#known.get(path) ?? "";
      const now = signatureOf(path);
      if (now === before) continue;
      this.#known.set(path, now);
      const event = before === "" ? "add" : now === "" ? "unlink" : "change";
      const occasion = { subject: basename(path), input: { file_path: path, event }, signal };
      const { answer } = await this.#hooks.fire("FileChanged", occasion);
      this.watch(answer.watched);
    }
  }

  /** A file that is new here is known as it is now. */
  #paths(): readonly string[] {
    const named = this.#hooks.watchedNames.map((name) => resolve(this.#root, name));
    const paths = [...new Set([...named, ...this.#asked])];
    for (const path of paths) if (!this.#known.has(path)) this.#known.set(path, signatureOf(path));
    return paths;
  }
}

/** Empty if there is no such file. */
function signatureOf(path: string): string {
  try {
    const { ino, mtimeMs, ctimeMs, size } = statSync(path);
    return `${ino} ${mtimeMs} ${ctimeMs} ${size}`;
  } catch {
    return "";
  }
}
