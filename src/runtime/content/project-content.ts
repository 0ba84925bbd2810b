/**
 * What a folder and its user bring for this run (features P10, P11, P14, X1). Nothing of it is loaded before it was approved, and
 * in a folder that brings nothing only names are looked at.
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

/** What this build loads; a person is not asked about the rest. A new loader adds its kinds here. */
export const LOADED_KINDS: ReadonlySet<ContentKind> = new Set(["instructions"]);
/** A session folder that is not approved is not used, which is no reason to end a run: it matters where a person can be asked. */
const ASKED_KINDS: ReadonlySet<ContentKind> = new Set([...LOADED_KINDS, "sessions"]);

export interface ProjectContentOptions {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  /** The folder to work in, free of symbolic links. */
  readonly root: string;
  /** Absent when nobody can be asked. */
  readonly conversation?: Conversation | undefined;
  readonly color: boolean;
  readonly width: number;
  /** Goes on without what nobody has approved. */
  readonly skipUnapproved: boolean;
  readonly allowProjectHooks: boolean;
  /** Said to the person, a line each. */
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

  /** Before anything of the folder is loaded: what is new is put to a person, or refused when there is none. */
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

  /** What the model should know before it goes on with these files: the instructions of folders that were not touched before. */
  async touched(paths: readonly string[]): Promise<string | undefined> {
    const fresh = paths.filter((path) => this.#bringsMore(resolve(this.#options.root, path)));
    if (fresh.length === 0 && this.#instructions?.hasRules !== true) return undefined;
    return (await this.#open()).touched(paths);
  }

  /** What was told is no longer in the conversation: it is told again with the next touch. */
  forget(): void {
    this.#seen.clear();
    this.#seen.add(this.#options.root);
    this.#instructions?.forget();
  }

  /** Whether a folder on the way to the path was not seen before and has an instruction file. */
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
