/** Skills in use: loads, starts and searches for them again. */

import { isAbsolute, join, relative } from "node:path";
import { extensionStamp } from "../../base/extension-files.js";
import type { PinnedPlace } from "../../context/compaction/compact.js";
import { BUILT_IN_SKILLS } from "../../context/skills/built-in.js";
import { skillCatalogue, skillList } from "../../context/skills/catalogue.js";
import { changesBetween, type Skill, SkillRegistry } from "../../context/skills/registry.js";
import { type Delimit, skillText } from "../../context/skills/skill-text.js";
import { runSkillTool } from "../../context/skills/skill-tool.js";
import { ownTexts, skillsIn } from "../../context/skills/skills-in.js";
import { hasKeyword, pathsIn, touchesGlob } from "../../context/skills/triggers.js";
import type { ToolOutcome } from "../../engine/ports.js";
import { type InputContent, plainText } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { compileGlob, matchesPath } from "../../security/permissions/glob.js";
import { contentMark } from "../../security/untrusted/content-mark.js";
import { wrapApproved } from "../../security/untrusted/untrusted.js";
import type { Opening } from "../opening.js";
import { hasBuiltInSkills } from "../settings/skill-packs.js";
import { copier, removeCopies } from "./skill-copies.js";
import { skillFolder } from "./skill-folder.js";

/** More at once would make the prompt too long; the model gets only the names of the others. */
const MOST_TRIGGERED = 3;
const LIST_CHARACTERS = 4_000;

/** The same text gives the same bytes in every session, so that a provider can cache them. */
const delimit: Delimit = (block) => wrapApproved(block, contentMark([block.source, block.text]));

type Place = Pick<Opening, "engine" | "extensions" | "bus" | "root" | "session" | "current" | "log">;

export class LiveSkills {
  readonly #place: Place;
  readonly #active = new Set<string>();
  #registry: SkillRegistry;
  #signature: string;
  /** Skills that came after the system prompt was made. */
  #news: readonly string[] = [];
  #isListed = false;
  #changed = false;
  #isRestored = false;

  private constructor(place: Place, registry: SkillRegistry) {
    this.#place = place;
    this.#registry = registry;
    this.#signature = signatureOf(place);
  }

  static async open(place: Place): Promise<LiveSkills> {
    return new LiveSkills(place, await load(place));
  }

  get registry(): SkillRegistry {
    return this.#registry;
  }

  isActive({ id }: Skill): boolean {
    return this.#active.has(id) || skillsIn(ownTexts(this.#conversation)).includes(id);
  }

  /** Its text for the model; `body` replaces its instructions. */
  async activate(skill: Skill, body?: string): Promise<string> {
    const text = await skillText(skill, delimit, body);
    this.#active.add(skill.id);
    this.#place.log("debug", "skills", "a skill is used", { skill: skill.id });
    return text;
  }

  run(args: JsonObject): Promise<ToolOutcome> {
    return runSkillTool(args, {
      skills: () => this.#registry.list(),
      find: (name) => this.#registry.find(name),
      isActive: (skill) => this.isActive(skill),
      activate: (skill) => this.activate(skill),
      delimit,
    });
  }

  /** For the system prompt. Later skills come with an input. */
  catalogue(): string | undefined {
    this.#isListed = true;
    return skillCatalogue(this.#registry.list(), delimit);
  }

  /** Searches again; true if something changed since the last time. */
  async reload(): Promise<boolean> {
    await this.#place.extensions.refresh("files");
    await this.follow();
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  /** Takes over the result of the last search; true if it changed. */
  async follow(): Promise<boolean> {
    const signature = signatureOf(this.#place);
    if (signature === this.#signature) return false;
    const before = this.#registry;
    this.#registry = await load(this.#place);
    this.#signature = signature;
    this.#changed = true;
    const changes = changesBetween(before, this.#registry);
    if (this.#isListed) {
      this.#news = [...this.#news.filter((id) => !changes.removed.includes(id)), ...changes.added];
    }
    this.#place.bus.publish("SkillRegistryChanged", changes);
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
    const { engine, session } = this.#place;
    await removeCopies(join(skillFolder(engine.loaded.roots), session));
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
      const text = await skillText(skill, delimit).catch(() => undefined);
      if (text === undefined) continue;
      left -= text.length;
      texts.push(
        left >= 0 ? text : `The skill ${skill.id} is in use. Load it again with the skill tool before you continue.`,
      );
    }
    return texts;
  }

  get #conversation() {
    return this.#place.current.run?.conversation ?? [];
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
    return news.length === 0 ? undefined : `New skills:\n${skillList(news, delimit, LIST_CHARACTERS)}`;
  }

  #below(path: string): string {
    return isAbsolute(path) ? relative(this.#place.root, path) : path.replace(/^\.\//, "");
  }

  /** A skill that cannot be loaded must not fail the turn. */
  #warn(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#place.bus.publish("Notice", { level: "warning", message: `Oxbow could not load a skill: ${message}` });
  }
}

function load({ engine, extensions, session }: Place): Promise<SkillRegistry> {
  const folder = join(skillFolder(engine.loaded.roots), session);
  return SkillRegistry.load({
    builtIn: hasBuiltInSkills(engine.loaded.settings.skill_packs.value) ? BUILT_IN_SKILLS : [],
    skills: extensions.of("skill"),
    files: extensions.of("skill-file"),
    copy: copier(folder),
  });
}

function signatureOf({ extensions }: Place): string {
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
