/**
 * The approved files that extend Oxbow in one place.
 *
 * 1. A folder without such files costs nothing at the start, and a few checks of names between iterations.
 * 2. Between iterations one stat for each known folder shows whether a file was added, removed or replaced. A file that was changed in
 *    place is found by its own stat, with `refresh("files")`.
 * 3. Files that are not approved are left out, with one message.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionFile, ExtensionFiles, ExtensionKind } from "../../base/extension-files.js";
import type { TrustedItem } from "../../security/trust/content.js";
import type { WaitingFile } from "../../security/trust/extension-files.js";
import { isThere } from "../../security/trust/is-there.js";
import { mayHoldContent, type PathInUse } from "../../security/trust/may-hold-content.js";
import { projectFolders, userSources } from "../../security/trust/sources.js";
import { discoverOptions, extensionOptions, type ProjectContentOptions, withoutServers } from "./content-options.js";
import { asExtension, rememberedServers, rememberServers, serversStamp } from "./remembered-servers.js";

/** The result of a search, and the paths to check whether it is still valid. */
export interface Found {
  readonly files: readonly ExtensionFile[];
  readonly folders: readonly string[];
  /** All files that were found, approved or not. */
  readonly paths: readonly string[];
  readonly notes: readonly string[];
  /** Those of the notes that are about folders which a hook added: the review at the start does not know these. */
  readonly lateNotes?: readonly string[];
  /** The folders that a hook added. */
  readonly extra?: readonly string[];
  readonly waiting: readonly WaitingFile[];
  /** All servers that were found are in `files`, and no hook chooses where to search. */
  readonly hasAllServers: boolean;
}

const FRESH_MS = 500;

export class PlaceExtensions implements ExtensionFiles {
  readonly #options: ProjectContentOptions;
  readonly #reported = new Set<string>();
  /** Counts up with every change. */
  version = 0;
  #files: readonly ExtensionFile[] = [];
  /** The state of the folders at the last search; undefined before the first one. */
  #folders: Map<string, string> | undefined;
  #contents = new Map<string, string>();
  #sources: readonly string[] = [];
  #waiting: readonly WaitingFile[] = [];
  readonly #asked = new Set<string>();
  readonly #granted: Set<string>;
  readonly #since = Date.now();
  /** Servers that only an earlier process has searched for. */
  #recalled: readonly ExtensionFile[] = [];
  #stamp: string | undefined;

  constructor({ granted = new Set<string>(), ...options }: ProjectContentOptions) {
    this.#options = { ...options, granted };
    this.#granted = granted;
  }

  /** Starts with the items that were approved at the start. */
  async begin(items: readonly TrustedItem[]): Promise<void> {
    const { placedFiles } = await import("./find-extensions.js");
    this.#files = [...this.#files, ...placedFiles(items, this.#options)];
    this.#contents = this.#signatures(this.#files.map(({ path }) => path));
  }

  /** True if the servers of the last search are still valid: the start then need not look for them. */
  recallServers(used: readonly PathInUse[]): boolean {
    const stored = rememberedServers(this.#options, used);
    if (stored === undefined) return false;
    const search = { of: () => this.of("mcp"), check: () => this.check() };
    this.#files = stored.servers.map((server) => asExtension(server, search));
    this.#recalled = this.#files;
    this.#stamp = stored.stamp;
    return true;
  }

  /** Before anything of a remembered server is used. */
  async check(): Promise<void> {
    if (this.#recalled.length > 0) await this.#search("all");
  }

  of(kind: ExtensionKind): readonly ExtensionFile[] {
    return this.#files.filter((file) => file.kind === kind);
  }

  async refresh(depth: "folders" | "files" = "folders"): Promise<boolean> {
    const isRecalled = this.#recalled.length > 0;
    if (isRecalled && !this.#isYoung) return this.#search("all");
    const sameFiles = depth === "folders" || isUnchanged(this.#contents);
    if (sameFiles && this.#foldersAreSame()) return false;
    return this.#search(isRecalled ? "others" : "all");
  }

  /** The search at the start was a moment ago and found nothing but servers, so the first request does not wait for another one. */
  get isFresh(): boolean {
    return this.#folders === undefined && this.#files.length === this.#recalled.length && this.#isYoung;
  }

  get #isYoung(): boolean {
    return Date.now() - this.#since < FRESH_MS;
  }

  /** Each version once: the caller asks the user about it. */
  takeWaiting(): readonly WaitingFile[] {
    const fresh = this.#waiting.filter(({ version }) => !this.#asked.has(version));
    for (const { version } of fresh) this.#asked.add(version);
    return fresh;
  }

  /**
   * The user has seen it and approves it. For a program of the project this answer counts like --allow-project-hooks, for exactly this
   * version and as long as this process runs.
   */
  async approve(file: WaitingFile): Promise<void> {
    const { approver } = await import("./approvals.js");
    await file.decide("approved", approver(this.#options.variables));
    this.#granted.add(file.version);
    await this.#search("all");
  }

  async refuse(file: WaitingFile): Promise<void> {
    const { approver } = await import("./approvals.js");
    await file.decide("refused", approver(this.#options.variables));
  }

  #foldersAreSame(): boolean {
    if (this.#folders === undefined) return false;
    if (isUnchanged(this.#folders)) return true;
    // Most changes are in the working folder and add no source.
    const sources = this.#knownSources();
    const inner = new Map(
      [...this.#folders].filter(([path]) => this.#sources.some((source) => path.startsWith(source))),
    );
    if (sources.join("\n") !== this.#sources.join("\n") || !isUnchanged(inner)) return false;
    this.#folders = this.#signatures([...this.#folders.keys()]);
    return true;
  }

  /** `others`: the servers of an earlier search stay. */
  async #search(which: "all" | "others"): Promise<boolean> {
    const wanted = which === "all" ? this.#options : withoutServers(this.#options);
    const options = extensionOptions(wanted);
    const sources = this.#knownSources();
    const outer = this.#outerFolders();
    const from = Date.now();
    const isFirst = this.#folders === undefined;
    const before = this.#signatures([...outer, ...sources]);
    const stamp = serversStamp(this.#options);
    const nothing: Found = { files: [], folders: [], paths: [], notes: [], waiting: [], hasAllServers: false };
    const asked = { ...wanted, since: this.#since };
    const found = mayHoldContent(options)
      ? await (await import("./find-extensions.js")).findExtensions(asked)
      : nothing;
    this.#waiting = found.waiting;
    this.#sources = sources;
    this.#folders = new Map([...this.#signatures(found.folders, from), ...before]);
    this.#contents = this.#signatures(found.paths, from);
    const files = which === "all" ? found.files : [...this.#recalled, ...found.files];
    const isSame = listed(files) === listed(this.#files);
    if (!isSame) this.version++;
    if (!isSame || which === "all") this.#files = files;
    if (which === "all") this.#remember(found, stamp);
    for (const note of found.notes) {
      // The review at the start has reported what the first search finds.
      const isNew = !isFirst || found.lateNotes?.includes(note) === true;
      if (!this.#reported.has(note) && isNew) this.#options.notify(note);
      this.#reported.add(note);
    }
    return !isSame;
  }

  #remember({ files, hasAllServers }: Found, stamp: string | undefined): void {
    this.#recalled = [];
    const servers = files.filter(({ kind }) => kind === "mcp");
    if (!hasAllServers || servers.length === 0 || stamp === undefined || stamp === this.#stamp) return;
    rememberServers(this.#options, stamp, servers);
    this.#stamp = stamp;
  }

  /** Folders in which a source may appear, and the lock: an approval given elsewhere counts here, too. */
  #outerFolders(): readonly string[] {
    const { root, loaded } = this.#options;
    const { home } = discoverOptions(this.#options);
    const folders = projectFolders(root, { home }).map(({ origin }) => join(origin.root, origin.base));
    const lock = join(loaded.roots.config, "approved.lock");
    return [...folders, ...(home.user === undefined ? [] : [home.user]), lock];
  }

  #knownSources(): readonly string[] {
    const { root } = this.#options;
    const { home } = discoverOptions(this.#options);
    return [...userSources(root, home), ...projectFolders(root, { home }).flatMap(({ sources }) => sources)]
      .filter(({ places }) => places.some(({ kind }) => kind !== "mcp"))
      .map((source) => join(source.root, source.base))
      .filter(isThere);
  }

  /** A path that changed around the time of the search may have changed after it, so it is checked again. */
  #signatures(paths: readonly string[], searchedAt = Date.now()): Map<string, string> {
    return new Map(paths.map((path) => [path, signature(path, searchedAt)]));
  }
}

function isUnchanged(known: ReadonlyMap<string, string>): boolean {
  for (const [path, before] of known) if (signature(path) !== before) return false;
  return true;
}

/** Clocks of file systems tick every few milliseconds. */
const TICK_MS = 20;

function signature(path: string, searchedAt = Number.POSITIVE_INFINITY): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && stat.ctimeMs > searchedAt - TICK_MS) return "too fresh";
    return stat === undefined ? "" : `${stat.ino} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.size}`;
  } catch {
    return "";
  }
}

/** The order within a kind counts. */
function listed(files: readonly ExtensionFile[]): string {
  return [...files]
    .sort((one, other) => (one.kind < other.kind ? -1 : one.kind > other.kind ? 1 : 0))
    .map(({ kind, path, entry, sha256, executable }) => [kind, path, entry, sha256, executable].join("\0"))
    .join("\n");
}
