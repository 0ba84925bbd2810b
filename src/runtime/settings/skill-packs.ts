/** Which skills load besides those of the usual folders: `skill_packs` of a profile. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { UsageError } from "../../base/usage-error.js";

/** The skills that come with Oxbow. */
export const BUILT_IN_PACK = "builtin";

/** `builtin`, names of folders in `skill-packs` of the configuration folder, and absolute paths. */
export function readSkillPacks(text: string): readonly string[] {
  const packs = text.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  const wrong = packs.find((pack) => !/^[A-Za-z0-9][\w.-]*$/.test(pack) && !isAbsolute(atHome(pack)));
  if (wrong === undefined) return packs;
  throw new UsageError(`expected ${BUILT_IN_PACK}, names of skill packs or absolute paths, got "${wrong}".`);
}

export function hasBuiltInSkills(packs: readonly string[]): boolean {
  return packs.includes(BUILT_IN_PACK);
}

/** The folders of the others. */
export function packFolders(packs: readonly string[], config: string): readonly string[] {
  const others = packs.filter((pack) => pack !== BUILT_IN_PACK);
  return others.map((pack) => (isAbsolute(atHome(pack)) ? atHome(pack) : join(config, "skill-packs", pack)));
}

function atHome(path: string): string {
  return path.replace(/^~(?=\/)/, homedir());
}
