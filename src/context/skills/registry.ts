/**
 * The skills of a session.
 *
 * 1. If two skills have one name, the more local one wins: project before user before built-in. The other one is reported.
 * 2. A skill that cannot be read is reported and left out; the others work.
 * 3. Only the front matter stays in memory. The body and the files of a skill are read on demand, and each time the bytes must be the
 *    approved ones.
 */
import type { ExtensionFile, ExtensionScope } from "../../base/extension-files.js";
import { readFrontMatter } from "../../base/front-matter.js";
import type { BuiltInSkill } from "./built-in.js";
import { readSkill, type SkillFacts } from "./read-skill.js";

export interface Skill extends SkillFacts {
  readonly scope: ExtensionScope;
  /** The path of its SKILL.md, for messages; absent for a built-in one. */
  readonly path?: string;
  /** The approved files that belong to it, relative to its folder, sorted. */
  readonly files: readonly string[];
  /** The instructions without the front matter. */
  body(): Promise<string>;
  /** Undefined when it has no such file, or that file is not approved. */
  file(path: string): ExtensionFile | undefined;
  /** The folder of private copies of its approved files; undefined when it has none besides SKILL.md. */
  folder(): Promise<string | undefined>;
}

export interface SkillProblem {
  /** The SKILL.md. */
  readonly path: string;
  /** A sentence without its full stop. */
  readonly message: string;
  /** `left out`: the skill is not available. */
  readonly effect: "left out" | "loaded";
}

export interface SkillSources {
  readonly builtIn?: readonly BuiltInSkill[];
  /** Approved files of the kind `skill`, the most global first. */
  readonly skills: readonly ExtensionFile[];
  /** Approved files of the kind `skill-file`. */
  readonly files: readonly ExtensionFile[];
  /** Copies the approved files of a skill to a folder that commands can read; returns that folder. */
  readonly copy?: (skill: string, files: ReadonlyMap<string, ExtensionFile>) => Promise<string>;
}

export class SkillRegistry {
  readonly problems: readonly SkillProblem[];
  readonly #skills: ReadonlyMap<string, Skill>;

  private constructor(skills: ReadonlyMap<string, Skill>, problems: readonly SkillProblem[]) {
    this.#skills = skills;
    this.problems = problems;
  }

  static async load({ builtIn = [], skills, ...rest }: SkillSources): Promise<SkillRegistry> {
    const byId = new Map<string, Skill>(builtIn.map((skill) => [keyOf(skill.facts.id), builtInSkill(skill)]));
    const problems: SkillProblem[] = [];
    for (const file of skills) {
      const skill = await loadOne(file, rest, problems);
      if (skill === undefined) continue;
      const shadowed = byId.get(keyOf(skill.id));
      if (shadowed?.path !== undefined) {
        const message = `name collision: ${file.path} has the same name and is more local`;
        problems.push({ path: shadowed.path, message, effect: "left out" });
      }
      byId.set(keyOf(skill.id), skill);
    }
    const sorted = [...byId].sort(([a], [b]) => (a < b ? -1 : 1));
    return new SkillRegistry(new Map(sorted), problems);
  }

  /** Sorted by name. */
  list(): readonly Skill[] {
    return [...this.#skills.values()];
  }

  /** Ignores case, and accepts `skills:` before it. */
  find(name: string): Skill | undefined {
    return this.#skills.get(keyOf(name.replace(/^\/?skills?:/i, "")));
  }
}

function keyOf(id: string): string {
  return id.normalize("NFKC").toLowerCase();
}

async function loadOne(
  file: ExtensionFile,
  { files, copy }: Pick<SkillSources, "files" | "copy">,
  problems: SkillProblem[],
): Promise<Skill | undefined> {
  const folder = file.name.split("/").at(-2) ?? file.name;
  const { path } = file;
  let read: ReturnType<typeof readSkill>;
  try {
    read = readSkill(await file.read(), folder);
  } catch (error) {
    read = { refused: error instanceof Error ? error.message : String(error) };
  }
  if ("refused" in read) {
    problems.push({ path, message: read.refused, effect: "left out" });
    return undefined;
  }
  problems.push(...read.problems.map((message) => ({ path, message, effect: "loaded" as const })));
  const { facts } = read;
  const named = file.plugin === undefined ? facts : { ...facts, id: `${file.plugin}:${facts.id}` };
  return fileSkill(file, named, { files: filesOf(file, files), copy });
}

/** By their path below the folder of the skill. */
function filesOf(skill: ExtensionFile, files: readonly ExtensionFile[]): ReadonlyMap<string, ExtensionFile> {
  const base = skill.name.slice(0, skill.name.lastIndexOf("/") + 1);
  const own = files.filter(({ source, name }) => source === skill.source && name.startsWith(base));
  return new Map(own.map((file) => [file.name.slice(base.length), file] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function fileSkill(
  file: ExtensionFile,
  facts: SkillFacts,
  { files, copy }: { readonly files: ReadonlyMap<string, ExtensionFile>; readonly copy: SkillSources["copy"] },
): Skill {
  return {
    ...facts,
    scope: file.scope,
    path: file.path,
    files: [...files.keys()],
    body: async () => withPluginRoot(bodyOf(await file.read()), file),
    file: (path) => files.get(path.replace(/^\.\//, "")),
    folder: async () => (files.size === 0 ? undefined : copy?.(facts.id.replaceAll(":", "-"), files)),
  };
}

function builtInSkill({ facts, load }: BuiltInSkill): Skill {
  return {
    ...facts,
    scope: "built-in",
    files: [],
    body: async () => bodyOf(await load()),
    file: () => undefined,
    folder: async () => undefined,
  };
}

/** The skill of a plugin may name files of the plugin. */
function withPluginRoot(body: string, { plugin, source }: ExtensionFile): string {
  return plugin === undefined ? body : body.replace(/\$\{CLAUDE_PLUGIN_ROOT\}/g, () => source);
}

function bodyOf(text: string): string {
  const found = readFrontMatter(text);
  return "fault" in found ? "" : found.body.trim();
}

/** Tells what a new search changed, by name. */
export function changesBetween(
  before: SkillRegistry | undefined,
  after: SkillRegistry,
): { readonly added: readonly string[]; readonly removed: readonly string[] } {
  const known = new Set((before?.list() ?? []).map(({ id }) => id));
  const now = new Set(after.list().map(({ id }) => id));
  return {
    added: [...now].filter((id) => !known.has(id)),
    removed: [...known].filter((id) => !now.has(id)),
  };
}
