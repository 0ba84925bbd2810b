/**
 * The content of a folder and of its user for this run. Nothing is loaded before it is approved, and
 * in a folder without content only file names are checked.
 */
import { dirname, join, resolve } from "node:path";
import type { Marker } from "../../context/instructions/markers.js";
import type { CommandPayloads } from "../../protocol/commands.js";
import type { Failure } from "../../protocol/errors.js";
import { ASKED_KINDS } from "../../security/trust/content.js";
import type { InstructionLoad } from "../../security/trust/instruction-loads.js";
import { isThere } from "../../security/trust/is-there.js";
import { mayHoldContent, pathsInUse } from "../../security/trust/may-hold-content.js";
import { instructionPlaces } from "../../security/trust/places.js";
import type { PendingItem } from "../../security/trust/review.js";
import type { DecidedContent } from "../../security/trust/waiting-content.js";
import { isWithin } from "../../system/within.js";
import { discoverOptions, type ProjectContentOptions, withoutServers } from "./content-options.js";
import { PlaceExtensions } from "./place-extensions.js";
import type { ProjectInstructions } from "./project-instructions.js";

export class ProjectContent {
  readonly #options: ProjectContentOptions;
  readonly #seen: Set<string>;
  /** The approved files that extend Oxbow, shared by all sessions of this place. */
  readonly extensions: PlaceExtensions;
  /** Files whose folders have their own instructions. */
  readonly #touched = new Set<string>();
  #added: readonly string[] = [];
  #forgotten = 0;
  #isBegun = false;
  #instructions: ProjectInstructions | undefined;

  private constructor({ granted = new Set<string>(), ...given }: ProjectContentOptions, extensions?: PlaceExtensions) {
    const options = { ...given, granted };
    this.#options = options;
    this.extensions = extensions ?? new PlaceExtensions(options);
    this.#seen = new Set([options.root]);
  }

  /** Before anything of the folder is loaded: asks about new content, or refuses it without a terminal. */
  static async enter(given: ProjectContentOptions): Promise<ProjectContent | { readonly failure: Failure }> {
    const content = new ProjectContent(given);
    const options = content.#options;
    const used = [...pathsInUse(discoverOptions(options))];
    if (used.length === 0) return content;
    const hasServers = used.some(({ kinds }) => kinds.includes("mcp"));
    const isRecalled = hasServers && content.extensions.recallServers(used);
    if (isRecalled && used.every(({ kinds }) => kinds.every((kind) => kind === "mcp"))) return content;
    const instructions = await content.#open(isRecalled ? withoutServers(options) : options);
    const refused = await instructions.enter();
    if (refused !== undefined) return { failure: refused };
    if (instructions.others.length > 0) await content.extensions.begin(instructions.others);
    return content;
  }

  /** The same content for another conversation, which has no instructions of folders yet. */
  fork(): ProjectContent {
    const forked = new ProjectContent(this.#options, this.extensions);
    forked.#instructions = this.#instructions?.fork();
    return forked;
  }

  /** For the system prompt: the same bytes for the whole run. */
  get instructions(): string | undefined {
    return this.#instructions?.text;
  }

  /** The files that are in use, for `/status`. */
  get files(): readonly string[] {
    return this.#instructions?.files ?? [];
  }

  /** The instruction files that a conversation here has got, oldest first. */
  get loads(): readonly InstructionLoad[] {
    return this.#instructions?.loads ?? [];
  }

  /** The live data that the instructions use. */
  get markers(): readonly Marker[] {
    return this.#instructions?.markers ?? [];
  }

  /** Instructions that were approved after the start, oldest first. The text of the start contains them, too. */
  get added(): readonly string[] {
    return this.#added;
  }

  /** Tells how often a conversation here lost its older messages. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Content without a decision of the user. */
  async waiting(): Promise<readonly PendingItem[]> {
    const isEmpty =
      this.#touched.size === 0 && !mayHoldContent({ ...discoverOptions(this.#options), kinds: ASKED_KINDS });
    if (isEmpty) return [];
    const { waitingContent, gate } = await this.#waiting();
    return waitingContent(gate, [...this.#touched]);
  }

  /** Only for people. Approved content is in use from now on. */
  async decide(decisions: CommandPayloads["ApproveContent"]): Promise<DecidedContent> {
    const { decideContent, gate } = await this.#waiting();
    const decided = await decideContent(gate, [...this.#touched], decisions);
    await this.extensions.refresh();
    const isInstruction = ({ item }: PendingItem) => item.kind === "instructions";
    if (!decided.approved.some(isInstruction)) return decided;
    const files = decided.approved.filter(isInstruction).map(({ item }) => join(item.root, item.path));
    const added = await (await this.#open()).again(files);
    if (added !== undefined) this.#added = [...this.#added, added];
    return decided;
  }

  /** The instructions of folders that these files touch for the first time. */
  async touched(paths: readonly string[]): Promise<string | undefined> {
    const fresh = paths.filter((path) => this.#bringsMore(resolve(this.#options.root, path)));
    for (const path of fresh) this.#touched.add(path);
    if (fresh.length === 0 && this.#instructions?.hasRules !== true) return undefined;
    return (await this.#open()).touched(paths);
  }

  /** A session of this place begins with an empty conversation. */
  begin(): void {
    if (this.#isBegun) this.forget();
    this.#isBegun = true;
  }

  /** The conversation no longer contains them: the next touch adds them again. */
  forget(): void {
    this.#forgotten++;
    this.#seen.clear();
    this.#seen.add(this.#options.root);
    this.#instructions?.forget();
  }

  /** Tells whether a folder of the path is new and has an instruction file. */
  #bringsMore(path: string): boolean {
    const { root, loaded } = this.#options;
    if (!isWithin(path, root)) return false;
    const names = instructionPlaces(loaded.settings.context_sources.value);
    let found = false;
    for (let folder = path; !this.#seen.has(folder); folder = dirname(folder)) {
      this.#seen.add(folder);
      found ||= names.some((place) => isThere(join(folder, place.path)));
    }
    return found;
  }

  async #waiting() {
    const [{ gateOptions }, content] = await Promise.all([
      import("./project-instructions.js"),
      import("../../security/trust/waiting-content.js"),
    ]);
    return { ...content, gate: gateOptions(this.#options) };
  }

  async #open(options = this.#options): Promise<ProjectInstructions> {
    const { ProjectInstructions } = await import("./project-instructions.js");
    this.#instructions ??= new ProjectInstructions(options);
    return this.#instructions;
  }
}
