/**
 * Describes what programs which go on running (commands in the background, MCP servers) may change in the live workspace, and what they left there.
 *
 * 1. Without a question: the existing folders that the ignore files of HEAD name. HEAD is the one of the session's beginning.
 * 2. A folder that the model names is a question. After a yes Oxbow creates it, and it holds for the session.
 * 3. They do not see secret files. With the first one that a person watches, Oxbow offers to show the `.env` files.
 * 4. Nothing prevents a program from making a guarded name in a writable folder. It is reported when the program has ended.
 */
import { mkdirSync } from "node:fs";
import { basename, relative, resolve } from "node:path";
import type { ToolContext } from "../../engine/ports.js";
import { HeadTree } from "../../system/git/head-tree.js";
import { realpathOrSelf, realpathSoFar } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";
import { findLiveFolders, guardedIn, type LiveFolders } from "./live-folders.js";
import type { LiveAccess } from "./policy.js";

export interface LiveProgramsOptions {
  readonly root: string;
  /** Tells the person. */
  readonly notify: (message: string) => void;
  /** Tells whether the ignore files of a commit name an absolute folder. */
  ignoredBy(head: HeadTree): (folder: string) => boolean;
  /** Tells why a change of this path needs the user; absolute. */
  readonly reason?: ((path: string) => Promise<string | undefined>) | undefined;
}

export interface LiveRequest {
  /** Folders from the workspace that the program wants to change. */
  readonly folders: readonly string[];
  /** Absolute folders that the person's settings name. */
  readonly settings: readonly string[];
  /** Secret files of the workspace that the program would not see: absolute. */
  readonly covered: readonly string[];
  readonly ask: ToolContext["ask"];
}

export interface LiveProgram {
  readonly access: LiveAccess;
  /** For the model. */
  readonly note: string;
  /** Looks at what the program left. For the model, if there is something. */
  ended(): Promise<string | undefined>;
}

const MOST_NAMED = 10;
const ENVIRONMENT_FILE = /^\.env(\.|$)/;

export class LivePrograms {
  readonly #options: LiveProgramsOptions;
  readonly #root: string;
  readonly #head: HeadTree | undefined;
  readonly #named = new Set<string>();
  #shown: readonly string[] | undefined;

  /** To be made before the first command of the session. */
  constructor(options: LiveProgramsOptions) {
    this.#options = options;
    this.#root = realpathOrSelf(options.root);
    this.#head = HeadTree.around(this.#root);
  }

  async prepare({ folders, settings, covered, ask }: LiveRequest): Promise<LiveProgram> {
    const inside = settings.map(realpathOrSelf).filter((path) => path !== this.#root && isWithin(path, this.#root));
    const known = await this.#find([...this.#named, ...inside]);
    const wanted = [...new Set(folders.map((folder) => this.#place(folder)))].filter(
      (path) => !known.writable.some((place) => isWithin(path, place)),
    );
    await this.#allow(wanted, ask);
    const found = wanted.length === 0 ? known : await this.#find([...this.#named, ...inside]);
    for (const path of wanted) {
      const refused = found.refused.find((each) => each.path === path);
      if (refused !== undefined)
        throw new Error(`A background command cannot change ${this.#way(path)}: ${refused.why}.`);
    }
    const access = { ...found, shown: await this.#shownSecrets(covered, ask) };
    const before = new Set(await guardedIn(found.writable, this.#root));
    return {
      access,
      note: this.#note(found),
      ended: async () =>
        this.#report((await guardedIn(found.writable, this.#root)).filter((path) => !before.has(path))),
    };
  }

  close(): void {
    this.#head?.close();
  }

  #find(named: readonly string[]): Promise<LiveFolders> {
    const head = this.#head;
    const ignores = head === undefined ? () => false : this.#options.ignoredBy(head);
    return findLiveFolders(this.#root, { head, ignores, named });
  }

  #place(folder: string): string {
    const path = realpathSoFar(resolve(this.#root, folder));
    if (path !== this.#root && isWithin(path, this.#root)) return path;
    throw new Error(`A background command can change only folders in the workspace; ${folder} is not one.`);
  }

  async #allow(wanted: readonly string[], ask: ToolContext["ask"]): Promise<void> {
    if (wanted.length === 0) return;
    for (const path of wanted) {
      const why = await this.#options.reason?.(path);
      if (why !== undefined) throw new Error(`A background command cannot change ${this.#way(path)}: ${why}.`);
    }
    const names = wanted.map((path) => `${this.#way(path)}/`).join(", ");
    const isAllowed = await ask?.({
      summary: `Commands in the background want to change ${names}`,
      reason: "They write there directly, for the rest of the session, and undo does not cover it.",
    });
    if (!isAllowed) throw new Error(`The user did not allow commands in the background to change ${names}.`);
    for (const path of wanted) {
      mkdirSync(path, { recursive: true });
      this.#named.add(path);
    }
  }

  async #shownSecrets(covered: readonly string[], ask: ToolContext["ask"]): Promise<readonly string[]> {
    const files = covered.filter((path) => ENVIRONMENT_FILE.test(basename(path)));
    if (this.#shown !== undefined || files.length === 0 || ask === undefined) return this.#shown ?? [];
    this.#shown = [];
    const names = files.map((path) => this.#way(path)).slice(0, MOST_NAMED);
    const isShown = await ask({
      summary: `Show ${names.join(", ")} to commands in the background?`,
      reason:
        "A server often needs these values. What it prints goes to the model. Without a yes it sees a comment instead.",
      isOffer: true,
    });
    if (isShown) this.#shown = files;
    return this.#shown;
  }

  #note({ writable }: LiveFolders): string {
    const names = writable.map((path) => `${this.#way(path)}/`).sort();
    const more = names.length - MOST_NAMED;
    const list = [...names.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : []), "/tmp"].join(", ");
    return `[It sees your later edits, and can change only ${list}. To let it change another folder, name that in writable, which asks the user.]`;
  }

  #report(found: readonly string[]): string | undefined {
    if (found.length === 0) return undefined;
    const names = found.slice(0, MOST_NAMED).join(", ");
    const more = found.length > MOST_NAMED ? " and more" : "";
    const text = `A command in the background left files that other programs run or obey, or that hold secrets: ${names}${more}. Look at them before you use them.`;
    this.#options.notify(text);
    return `[${text}]`;
  }

  #way(path: string): string {
    return relative(this.#root, path);
  }
}
