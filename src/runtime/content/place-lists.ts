/** What a place offers, for clients that list it: profiles and skills. */
import { NO_EXTENSIONS } from "../../base/extension-files.js";
import { builtInSkills } from "../../context/skills/built-in.js";
import { SkillRegistry } from "../../context/skills/registry.js";
import type { ProfileInfo, SkillInfo } from "../../protocol/queries.js";
import type { Place, ProcessParts } from "../open-engine.js";
import { listProfiles } from "../settings/profile-list.js";

export async function profilesOf(
  { loaded, root }: Pick<Place, "loaded" | "root">,
  { variables }: Pick<ProcessParts, "variables">,
): Promise<readonly ProfileInfo[]> {
  const listed = await listProfiles({ loaded, root, variables });
  return listed.map(({ name, scope, description, in_use, problem }) => ({
    ...{ name, scope, in_use },
    ...(description !== undefined && { description }),
    ...(problem !== undefined && { problem }),
  }));
}

export async function skillsOf(place: Pick<Place, "loaded" | "content">): Promise<readonly SkillInfo[]> {
  const registry = await openSkills(place);
  return registry.list().map(({ id, description, scope }) => ({ name: id, description, scope }));
}

export async function skillOf(place: Pick<Place, "loaded" | "content">, name: string) {
  const found = (await openSkills(place)).list().find(({ id }) => id === name);
  return found && { name, description: found.description, scope: found.scope, body: await found.body() };
}

function openSkills({ loaded, content }: Pick<Place, "loaded" | "content">): Promise<SkillRegistry> {
  const files = content?.extensions ?? NO_EXTENSIONS;
  return SkillRegistry.load({
    builtIn: builtInSkills(loaded.settings),
    skills: files.of("skill"),
    files: files.of("skill-file"),
  });
}
