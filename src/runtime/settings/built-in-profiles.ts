/** The profiles that come with Oxbow. */
import { parseLayer } from "../../feature/layer.js";
import type { Layer } from "../../feature/setting.js";

const LOADERS: Readonly<Record<string, () => Promise<{ readonly default: string }>>> = {
  default: () => import("../../../assets/profiles/default.toml"),
  oxbow: () => import("../../../assets/profiles/oxbow.toml"),
};

export const BUILT_IN_PROFILES: readonly string[] = Object.keys(LOADERS);

export async function builtInProfile(name: string): Promise<Layer | undefined> {
  if (!Object.hasOwn(LOADERS, name)) return undefined;
  const text = (await LOADERS[name]?.())?.default ?? "";
  return parseLayer({ scope: "built-in", path: `built-in profile ${name}`, text });
}
