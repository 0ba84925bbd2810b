/**
 * The content of a folder and of its user for this run. Nothing is loaded before it is approved, and
 * in a folder without content only file names are checked.
 */
import { dirname, join, resolve } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { Failure } from "../../protocol/errors.js";
import type { Conversation } from "../../security/trust/ask-pending.js";
import type { ContentKind } from "../../security/trust/content.js";
import { isThere } from "../../security/trust/is-there.js";
import { mayHoldContent } from "../../security/trust/may-hold-content.js";
import { instructionPlaces } from "../../security/trust/places.js";
import { isWithin } from "../../system/within.js";
import type { LoadedSettings } from "../settings/settings.js";
import type { ProjectInstructions } from "./project-instructions.js";

/** What this build loads; the user is not asked about the rest. A new loader adds its kinds here. */
export const LOADED_KINDS: ReadonlySet<ContentKind> = new Set(["instructions"]);
/** A run does not need the session folder, so it asks about it only on a terminal. */
const ASKED_KINDS: ReadonlySet<ContentKind> = new Set([...LOADED_KINDS, "sessions"]);

export interface ProjectContentOptions {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  /** The folder to work in, free of symbolic links. */
  readonly root: string;
  /** Absent without a terminal. */
  readonly conversation?: Conversation | undefined;
  readonly color: boolean;
  readonly width: number;
  /** Continues without content that is not approved. */
  readonly skipUnapproved: boolean;
  readonly allowProjectHooks: boolean;
  /** Messages for the user, a line each. */
  readonly notify: (message: string) => void;
}

export class ProjectContent {
  readonly #options: ProjectContentOptions;
  readonly #seen: Set<string>;
  #instructions: ProjectInstructions | undefined;

  private constructor(options: ProjectContentOptions) {
    this.#options = options;
    this.#seen = new Set([options.root]);
  }

  /** Before anything of the folder is loaded: asks about new content, or refuses it without a terminal. */
  static async enter(options: ProjectContentOptions): Promise<ProjectContent | { readonly failure: Failure }> {
    const content = new ProjectContent(options);
    if (!mayHoldContent(discoverOptions(options))) return content;
    const refused = await (await content.#open()).enter();
    return refused === undefined ? content : { failure: refused };
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

export function discoverOptions({
  root,
  loaded,
  conversation,
}: Pick<ProjectContentOptions, "root" | "loaded" | "conversation">) {
  return {
    folder: root,
    home: { config: loaded.roots.config },
    sources: loaded.settings.context_sources.value,
    kinds: conversation === undefined ? LOADED_KINDS : ASKED_KINDS,
  };
}
