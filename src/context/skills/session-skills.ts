/** Skills in use: loads, starts and searches for them again. */
import { isAbsolute, join, relative } from "node:path";
import { extensionStamp } from "../../base/extension-files.js";
import { compileGlob, matchesPath } from "../../base/glob.js";
import type { ToolOutcome } from "../../engine/ports.js";
import type { FeatureContext, PinnedPlace } from "../../feature/part.js";
import { type InputContent, plainText } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { builtInSkills } from "./built-in.js";
import { skillCatalogue, skillList } from "./catalogue.js";
import { copier, removeCopies } from "./copies.js";
import { changesBetween, type Skill, SkillRegistry } from "./registry.js";
import { type SkillSettings, skillFolder } from "./settings.js";
import { type Delimit, ownTexts, skillsIn, skillText } from "./skill-text.js";
import { runSkillTool } from "./skill-tool.js";
import { hasKeyword, pathsIn, touchesGlob } from "./triggers.js";

export type SkillsContext = FeatureContext<SkillSettings>;

/** More at once would make the prompt too long; the model gets only the names of the others. */
const MOST_TRIGGERED = 3;
const LIST_CHARACTERS = 4_000;

export class SessionSkills {
  readonly #context: SkillsContext;
  readonly delimit: Delimit;
  readonly #active = new Set<string>();
  #registry: SkillRegistry;
  #signature: string;
  /** Skills that came after the system prompt was made. */
  #news: readonly string[] = [];
  #isListed = false;
  #changed = false;
  #isRestored = false;

  private constructor(context: SkillsContext, delimit: Delimit, registry: SkillRegistry) {
    this.#context = context;
    this.delimit = delimit;
    this.#registry = registry;
    this.#signature = signatureOf(context);
  }

  static async open(context: SkillsContext): Promise<SessionSkills> {
    return new SessionSkills(context, await context.approvedText(), await load(context));
  }

  get registry(): SkillRegistry {
    return this.#registry;
  }

  isActive({ id }: Skill): boolean {
    return this.#active.has(id) || skillsIn(ownTexts(this.#conversation)).includes(id);
  }

  /** Its text for the model; `body` replaces its instructions. */
  async activate(skill: Skill, body?: string): Promise<string> {
    const text = await skillText(skill, this.delimit, body);
    this.#active.add(skill.id);
    this.#context.log("debug", "skills", "a skill is used", { skill: skill.id });
    return text;
  }

  run(args: JsonObject): Promise<ToolOutcome> {
    return runSkillTool(args, this);
  }

  /** For the system prompt. Later skills come with an input. */
  catalogue(): string | undefined {
    this.#isListed = true;
    return skillCatalogue(this.#registry.list(), this.delimit);
  }

  /** Searches again; true if something changed since the last time. */
  async reload(): Promise<boolean> {
    await this.#context.extensions.refresh("files");
    await this.follow();
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  /** Takes over the result of the last search; true if it changed. */
  async follow(): Promise<boolean> {
    const signature = signatureOf(this.#context);
    if (signature === this.#signature) return false;
    const before = this.#registry;
    this.#registry = await load(this.#context);
    this.#signature = signature;
    this.#changed = true;
    const changes = changesBetween(before, this.#registry);
    if (this.#isListed) {
      this.#news = [...this.#news.filter((id) => !changes.removed.includes(id)), ...changes.added];
    }
    this.#context.bus.publish("SkillRegistryChanged", changes);
    return true;
  }

  /** The notice for an input: new skills, and skills that the input triggers. */
  async noticeFor(input: readonly InputContent[]): Promise<string | undefined> {
    try {
      await this.follow();
      await this.#restore();
      const prompt = plainText(input);
      const paths = pathsIn(prompt).map((path) => this.#below(path));
      const started = await this.#start(
        ({ triggers }) => hasKeyword(triggers, prompt) || touchesGlob(triggers, paths, matchesGlob),
      );
      const texts = [this.#takeNews(), started].filter((text) => text !== undefined);
      return texts.length === 0 ? undefined : texts.join("\n\n");
    } catch (error) {
      this.#warn(error);
      return undefined;
    }
  }

  /** A resumed conversation names files that were deleted at the end of the last run. */
  async #restore(): Promise<void> {
    if (this.#isRestored) return;
    this.#isRestored = true;
    const names = skillsIn(ownTexts(this.#conversation));
    await Promise.all(names.map((name) => this.#registry.find(name)?.folder()));
  }

  async close(): Promise<void> {
    await removeCopies(copiesOf(this.#context));
  }

  /** The skills that the files of a call trigger. */
  async touched(paths: readonly string[]): Promise<string | undefined> {
    try {
      const below = paths.map((path) => this.#below(path));
      return await this.#start(({ triggers }) => touchesGlob(triggers, below, matchesGlob));
    } catch (error) {
      this.#warn(error);
      return undefined;
    }
  }

  /** The skills in use, as far as there is room; the model loads the others again. */
  async pinned({ room, kept }: PinnedPlace): Promise<readonly string[]> {
    const held = new Set(skillsIn(ownTexts(kept)));
    const names = new Set([...skillsIn(ownTexts(this.#conversation)), ...this.#active]);
    const skills = [...names].flatMap((name) => (held.has(name) ? [] : (this.#registry.find(name) ?? [])));
    let left = room / 2;
    const texts: string[] = [];
    for (const skill of skills.reverse()) {
      const text = await skillText(skill, this.delimit).catch(() => undefined);
      if (text === undefined) continue;
      left -= text.length;
      texts.push(
        left >= 0 ? text : `The skill ${skill.id} is in use. Load it again with the skill tool before you continue.`,
      );
    }
    return texts;
  }

  get #conversation() {
    return this.#context.conversation();
  }

  async #start(applies: (skill: Skill) => boolean): Promise<string | undefined> {
    const fresh = this.#registry.list().filter((skill) => applies(skill) && !this.isActive(skill));
    if (fresh.length === 0) return undefined;
    const texts: string[] = [];
    for (const skill of fresh.slice(0, MOST_TRIGGERED)) texts.push(await this.activate(skill));
    const rest = fresh.slice(MOST_TRIGGERED).filter(({ forModel }) => forModel);
    const more = rest.length === 0 ? [] : [`These skills apply, too: ${rest.map(({ id }) => id).join(", ")}`];
    return [...texts, ...more].join("\n\n");
  }

  #takeNews(): string | undefined {
    const news = this.#news.flatMap((id) => this.#registry.find(id) ?? []).filter(({ forModel }) => forModel);
    this.#news = [];
    return news.length === 0 ? undefined : `New skills:\n${skillList(news, this.delimit, LIST_CHARACTERS)}`;
  }

  #below(path: string): string {
    return isAbsolute(path) ? relative(this.#context.root, path) : path.replace(/^\.\//, "");
  }

  /** A skill that cannot be loaded must not fail the turn. */
  #warn(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#context.bus.publish("Notice", { level: "warning", message: `Oxbow could not load a skill: ${message}` });
  }
}

function load(context: SkillsContext): Promise<SkillRegistry> {
  const { extensions, settings } = context;
  return SkillRegistry.load({
    builtIn: builtInSkills(settings),
    skills: extensions.of("skill"),
    files: extensions.of("skill-file"),
    copy: copier(copiesOf(context)),
  });
}

function copiesOf({ roots, session }: SkillsContext): string {
  return join(skillFolder(roots), session);
}

function signatureOf({ extensions }: SkillsContext): string {
  return extensionStamp(extensions, ["skill", "skill-file"]);
}

/** A glob without a slash matches file names in any folder. */
function matchesGlob(glob: string, path: string): boolean {
  try {
    return matchesPath(compileGlob(glob.includes("/") ? glob : `**/${glob}`, "path"), path);
  } catch {
    // An invalid glob matches nothing.
    return false;
  }
}
