/**
 * The content of a folder and of its user for this run. Nothing is loaded before it is approved, and
 * in a folder without content only file names are checked.
 */
import { dirname, join, resolve } from "node:path";
import type { Failure } from "../../protocol/errors.js";
import { isThere } from "../../security/trust/is-there.js";
import { mayHoldContent } from "../../security/trust/may-hold-content.js";
import { instructionPlaces } from "../../security/trust/places.js";
import { isWithin } from "../../system/within.js";
import { discoverOptions, type ProjectContentOptions } from "./content-options.js";
import { PlaceExtensions } from "./place-extensions.js";
import type { ProjectInstructions } from "./project-instructions.js";

export class ProjectContent {
  readonly #options: ProjectContentOptions;
  readonly #seen: Set<string>;
  /** The approved files that extend Oxbow, shared by all sessions of this place. */
  readonly extensions: PlaceExtensions;
  #instructions: ProjectInstructions | undefined;

  private constructor(options: ProjectContentOptions) {
    this.#options = options;
    this.extensions = new PlaceExtensions(options);
    this.#seen = new Set([options.root]);
  }

  /** Before anything of the folder is loaded: asks about new content, or refuses it without a terminal. */
  static async enter(options: ProjectContentOptions): Promise<ProjectContent | { readonly failure: Failure }> {
    const content = new ProjectContent(options);
    if (!mayHoldContent(discoverOptions(options))) return content;
    const instructions = await content.#open();
    const refused = await instructions.enter();
    if (refused !== undefined) return { failure: refused };
    if (instructions.others.length > 0) await content.extensions.begin(instructions.others);
    return content;
  }

  /** For the system prompt: the same bytes for the whole run. */
  get instructions(): string | undefined {
    return this.#instructions?.text;
  }

  /** The files that are in use, for `/status`. */
  get files(): readonly string[] {
    return this.#instructions?.files ?? [];
  }

  /** The instructions of folders that these files touch for the first time. */
  async touched(paths: readonly string[]): Promise<string | undefined> {
    const fresh = paths.filter((path) => this.#bringsMore(resolve(this.#options.root, path)));
    if (fresh.length === 0 && this.#instructions?.hasRules !== true) return undefined;
    return (await this.#open()).touched(paths);
  }

  /** The conversation no longer contains them: the next touch adds them again. */
  forget(): void {
    this.#seen.clear();
    this.#seen.add(this.#options.root);
    this.#instructions?.forget();
  }

  /** Whether a folder of the path is new and has an instruction file. */
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

  async #open(): Promise<ProjectInstructions> {
    const { ProjectInstructions } = await import("./project-instructions.js");
    this.#instructions ??= new ProjectInstructions(this.#options);
    return this.#instructions;
  }
}
