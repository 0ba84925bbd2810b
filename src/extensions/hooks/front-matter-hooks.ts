/**
 * The hooks in the front matter of skills, agent types and slash commands, after their approval.
 *
 * 1. Those of a skill run from the moment that the conversation has the skill until the session ends. A skill that a more local one hides
 *    has none.
 * 2. Those of an agent type run in the subagents of this type only; `Stop` is the end of the subagent there.
 * 3. Those of a slash command run while its turn runs.
 */
import { basename, dirname, join, relative } from "node:path";
import type { ExtensionFile } from "../../base/extension-files.js";
import { realpathOrSelf } from "../../system/real-path.js";
import type { ConfiguredHook, ReadHooks } from "./configuration.js";
import { fileHooks, type HooksPlace, isDisabled } from "./configured-hooks.js";
import type { HookSurroundings, HooksContext } from "./context.js";

type Skills = Awaited<ReturnType<HookSurroundings["skills"]>>;

interface Place extends Pick<HooksContext, "extensions" | "parent" | "variables"> {
  readonly surroundings: Pick<HookSurroundings, "skills" | "removeSkills" | "skillsInUse">;
  readonly files: HooksPlace;
}

export class FrontMatterHooks {
  readonly #place: Place;
  /** The real path of the file of the slash command whose turn runs. */
  readonly #commandFile: () => string | undefined;
  readonly #used = new Set<string>();
  #hasCopies = false;

  constructor(place: Place, commandFile: () => string | undefined) {
    this.#place = place;
    this.#commandFile = commandFile;
  }

  async read(found: readonly ExtensionFile[]): Promise<ReadHooks> {
    const files = await this.#withoutDisabled(found);
    // A plugin may keep its commands in any folder.
    const commands = new Set(this.#place.extensions.of("prompt").map(({ path }) => path));
    const ofSkills = files.filter(isOfSkill);
    const ofCommands = files.filter(({ path }) => commands.has(path));
    const ofAgent = files.filter(({ path }) => path === this.#place.parent?.agentFile);
    const skills = ofSkills.length === 0 ? undefined : await this.#skills();
    const read = await Promise.all([
      ...ofSkills.map((file) => this.#skillHooks(file, skills)),
      ...ofAgent.map((file) => this.#agentHooks(file)),
      ...ofCommands.map((file) => this.#commandHooks(file)),
    ]);
    return { hooks: read.flatMap(({ hooks }) => hooks), problems: read.flatMap(({ problems }) => problems) };
  }

  /** `disableAllHooks` counts in the settings beside the file, and in the user's. */
  async #withoutDisabled(files: readonly ExtensionFile[]): Promise<readonly ExtensionFile[]> {
    const { HOME } = this.#place.variables;
    const own = HOME === undefined ? [] : [join(HOME, ".claude")];
    const off = await Promise.all(
      files.map(async ({ source }) => {
        const states = await Promise.all([source, ...own].map((folder) => isDisabled(join(folder, "settings.json"))));
        return states.includes(true);
      }),
    );
    return files.filter((_, index) => off[index] !== true);
  }

  async close(): Promise<void> {
    if (this.#hasCopies) await this.#place.surroundings.removeSkills();
  }

  async #skillHooks(file: ExtensionFile, skills: Skills | undefined): Promise<ReadHooks> {
    const skill = skills?.find(({ path }) => path === file.path);
    if (skill === undefined) return { hooks: [], problems: [] };
    const { hooks, problems } = await this.#hooksOf(file);
    const folder = (await skill.folder()) ?? dirname(file.path);
    const isActive = () => this.#isUsed(skill.id);
    return { hooks: hooks.map((hook) => ({ ...hook, folder, isActive })), problems };
  }

  async #agentHooks(file: ExtensionFile): Promise<ReadHooks> {
    const { hooks, problems } = await this.#hooksOf(file);
    return { hooks: hooks.map((hook) => ({ ...inSubagent(hook), once: false })), problems };
  }

  async #commandHooks(file: ExtensionFile): Promise<ReadHooks> {
    const { hooks, problems } = await this.#hooksOf(file);
    // Two names may lead to one file, whose hooks are found once.
    const real = realpathOrSelf(file.path);
    const isActive = () => this.#commandFile() === real;
    return { hooks: hooks.map((hook) => ({ ...hook, isActive })), problems };
  }

  #hooksOf(file: ExtensionFile): Promise<ReadHooks> {
    return fileHooks([file], this.#place.files);
  }

  #skills(): Promise<Skills> {
    this.#hasCopies = true;
    return this.#place.surroundings.skills();
  }

  /** A skill stays in use when a compaction drops its text. */
  #isUsed(id: string): boolean {
    if (this.#used.has(id)) return true;
    for (const name of this.#place.surroundings.skillsInUse()) this.#used.add(name);
    return this.#used.has(id);
  }
}

function inSubagent(hook: ConfiguredHook): ConfiguredHook {
  return hook.event === "Stop" ? { ...hook, event: "SubagentStop", matcher: undefined } : hook;
}

type Located = Pick<ExtensionFile, "path" | "name" | "source" | "plugin">;

export function isFrontMatter({ path }: { readonly path: string }): boolean {
  return path.endsWith(".md");
}

function isOfSkill(file: Located): boolean {
  return basename(file.path) === "SKILL.md" && !isOfCommand(file);
}

/** By its folder: `commands` of a source and what is below it. */
function isOfCommand({ path, name, source }: Located): boolean {
  const folder = path.slice(0, -name.length);
  return COMMAND_FOLDERS.includes(relative(source, folder));
}

const COMMAND_FOLDERS = ["commands", "templates"];

/** Names the owner of the hooks for messages: `skill careful`, `agent guarded`, `command /git:fix`. */
export function bearerOf(file: Located): string | undefined {
  if (!isFrontMatter(file)) return undefined;
  const { path, name, plugin } = file;
  const space = plugin === undefined ? "" : `${plugin}:`;
  if (isOfCommand(file)) return `command /${space}${name.replace(/\.md$/i, "").replaceAll("/", ":")}`;
  return isOfSkill(file) ? `skill ${space}${basename(dirname(path))}` : `agent ${space}${basename(path, ".md")}`;
}
