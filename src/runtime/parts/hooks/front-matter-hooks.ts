/**
 * The hooks in the front matter of skills, agent types and slash commands, after their approval.
 *
 * 1. Those of a skill run from the moment that the conversation has the skill until the session ends. A skill that a more local one hides
 *    has none.
 * 2. Those of an agent type run in the subagents of this type only; `Stop` is the end of the subagent there.
 * 3. Those of a slash command run while its turn runs.
 */
import { dirname, join } from "node:path";
import type { ExtensionFile } from "../../../base/extension-files.js";
import { copier, removeCopies } from "../../../context/skills/copies.js";
import { SkillRegistry } from "../../../context/skills/registry.js";
import { skillFolder } from "../../../context/skills/settings.js";
import { ownTexts, skillsIn } from "../../../context/skills/skill-text.js";
import type { ConfiguredHook, ReadHooks } from "../../../extensions/hooks/configuration.js";
import { realpathOrSelf } from "../../../system/real-path.js";
import type { Opening } from "../../opening.js";
import { fileHooks, isDisabled } from "./configured-hooks.js";
import { isOfSkill } from "./front-matter-file.js";

type Place = Pick<Opening, "engine" | "extensions" | "session" | "current" | "parent">;

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
    const { HOME } = this.#place.engine.variables;
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
    if (this.#hasCopies) await removeCopies(this.#copies);
  }

  async #skillHooks(file: ExtensionFile, skills: SkillRegistry | undefined): Promise<ReadHooks> {
    const skill = skills?.list().find(({ path }) => path === file.path);
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
    const { loaded, root } = this.#place.engine;
    return fileHooks([file], { loaded, root });
  }

  #skills(): Promise<SkillRegistry> {
    const { extensions } = this.#place;
    const copy = copier(this.#copies);
    this.#hasCopies = true;
    return SkillRegistry.load({ skills: extensions.of("skill"), files: extensions.of("skill-file"), copy });
  }

  /** Apart from the copies for commands, which the part with the skills replaces and removes. */
  get #copies(): string {
    const { engine, session } = this.#place;
    return join(skillFolder(engine.loaded.roots), `${session}-hooks`);
  }

  /** A skill stays in use when a compaction drops its text. */
  #isUsed(id: string): boolean {
    if (this.#used.has(id)) return true;
    for (const name of skillsIn(ownTexts(this.#place.current.run?.conversation ?? []))) this.#used.add(name);
    return this.#used.has(id);
  }
}

function inSubagent(hook: ConfiguredHook): ConfiguredHook {
  return hook.event === "Stop" ? { ...hook, event: "SubagentStop", matcher: undefined } : hook;
}
