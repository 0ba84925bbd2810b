/** Settings of skills, and where their copies are. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import { type SettingsOf, setting } from "../../feature/setting.js";
import type { Roots } from "../../system/xdg-paths.js";

/** The skills that come with Oxbow. */
export const BUILT_IN_PACK = "builtin";

export const skillSettings = {
  skill_packs: setting({
    about: "folders of skills besides the usual ones",
    guide: "settings",
    fallback: [BUILT_IN_PACK],
    read: readPacks,
  }),
};

export type SkillSettings = SettingsOf<typeof skillSettings>;

/** Reads `builtin`, names of folders in `skill-packs` of the configuration folder, and absolute paths. */
function readPacks(text: string): readonly string[] {
  const packs = text.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  const wrong = packs.find((pack) => !/^[A-Za-z0-9][\w.-]*$/.test(pack) && !isAbsolute(atHome(pack)));
  if (wrong === undefined) return packs;
  throw new UsageError(`expected ${BUILT_IN_PACK}, names of skill packs or absolute paths, got "${wrong}".`);
}

/** Returns the folders of the packs besides the built-in one. */
export function packFolders(packs: readonly string[], config: string): readonly string[] {
  const others = packs.filter((pack) => pack !== BUILT_IN_PACK);
  return others.map((pack) => (isAbsolute(atHome(pack)) ? atHome(pack) : join(config, "skill-packs", pack)));
}

function atHome(path: string): string {
  return path.replace(/^~(?=\/)/, homedir());
}

/** The folder for copies of the files of skills in use, one for each session. */
export function skillFolder({ cache }: Pick<Roots, "cache">): string {
  return join(cache, "skills");
}
