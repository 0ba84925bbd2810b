/** All profiles of a folder: where each was found, which one is in use, and what replaces or adds to what. */
import { join } from "node:path";
import type { ExtensionScope } from "../../base/extension-files.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { parseLayer, readLayer } from "../../feature/layer.js";
import type { Layer } from "../../feature/setting.js";
import { discoverContent } from "../../security/trust/discover.js";
import { passContent } from "../../security/trust/pass-content.js";
import { readTrusted } from "../../security/trust/read-trusted.js";
import { discoverOptions } from "../content/content-options.js";
import { gateOptions } from "../content/project-instructions.js";
import { BUILT_IN_PROFILES, builtInProfile, namesIn, profileFile } from "./choose-profile.js";
import type { LoadedSettings } from "./settings.js";

export interface ListedProfile {
  /** `config.toml` for settings that always apply. */
  readonly name: string;
  readonly scope: ExtensionScope;
  readonly path: string;
  readonly description?: string;
  readonly in_use: boolean;
  /** Says what replaces it, or what it adds to. */
  readonly note?: string;
  /** The reason why it cannot be used. */
  readonly problem?: string;
}

export interface ProfilePlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  /** Free of symbolic links. */
  readonly root: string;
}

export async function listProfiles(place: ProfilePlace): Promise<readonly ListedProfile[]> {
  const { loaded } = place;
  const { roots, chosen, layers } = loaded;
  const own = namesIn(join(roots.config, "profiles"));
  const config = layers.find(({ path }) => path === join(roots.config, "config.toml"));
  const isNamed = (name: string) => name === chosen.name && (chosen.file === undefined || chosen.onlyProject === true);
  const builtIn = BUILT_IN_PROFILES.map(async (name) => {
    const isReplaced = own.includes(name);
    const listed = described({ name, scope: "built-in", path: "(built in)" }, await builtInProfile(name));
    const note = isReplaced ? { note: `replaced by ${profileFile(roots, name)}` } : {};
    return { ...listed, in_use: isNamed(name) && !isReplaced, ...note };
  });
  const users = own.map(async (name) => {
    const path = profileFile(roots, name);
    return { ...(await read({ name, scope: "user", path }, () => readLayer(path))), in_use: isNamed(name) };
  });
  const byPath = chosen.file !== undefined && !chosen.onlyProject && chosen.file !== config?.path ? [chosen.file] : [];
  return [
    ...(config === undefined
      ? []
      : [alwaysUsed(described({ name: "config.toml", scope: "user", path: config.path }, config))]),
    ...(await Promise.all(builtIn)),
    ...(await Promise.all(users)),
    ...byPath.map((path): ListedProfile => ({ name: chosen.name, scope: "user", path, in_use: true })),
    ...(await ofProject(place, { isNamed, known: [...BUILT_IN_PROFILES, ...own] })),
  ];
}

async function ofProject(
  { loaded, variables, root }: ProfilePlace,
  { isNamed, known }: { readonly isNamed: (name: string) => boolean; readonly known: readonly string[] },
): Promise<readonly ListedProfile[]> {
  const look = { color: false, width: 80, skipUnapproved: true, allowProjectHooks: false, notify: () => {} };
  const options = { loaded, variables, root, ...look };
  const { profile: _one, ...all } = discoverOptions(options);
  const found = await discoverContent({ ...all, kinds: new Set(["profile"] as const) });
  const { load } = await passContent(found, gateOptions(options));
  const items = found.items.filter(({ owner, entry }) => owner === "project" && entry === undefined);
  const listed = items.map(async (item): Promise<ListedProfile> => {
    const { source = "", name: file = "" } = item;
    const path = join(item.root, item.path);
    const isConfig = path === join(source, "config.toml");
    const name = isConfig ? file : file.replace(/\.toml$/, "");
    const facts = { name, scope: "project", path } as const;
    const approved = load.find((each) => each.root === item.root && each.path === item.path);
    if (approved === undefined) return { ...facts, in_use: false, problem: "not approved: run 'oxbow ack'" };
    const text = async () => new TextDecoder().decode(await readTrusted(approved));
    const one = await read(facts, async () => parseLayer({ scope: "project", path, text: await text() }));
    if (isConfig) return alwaysUsed(one);
    const note = known.includes(name) ? { note: `adds to the profile ${name} of yours or of Oxbow` } : {};
    return { ...one, in_use: isNamed(name), ...note };
  });
  const unusable = found.unusable.map(({ root: at, path, problem }): ListedProfile => {
    return { name: path, scope: "project", path: join(at, path), in_use: false, problem };
  });
  return [...(await Promise.all(listed)), ...unusable];
}

type Facts = Pick<ListedProfile, "name" | "scope" | "path">;

async function read(facts: Facts, load: () => Promise<Layer | undefined>): Promise<ListedProfile> {
  try {
    return described(facts, await load());
  } catch (error) {
    if (error instanceof UsageError) return { ...facts, in_use: false, problem: error.message };
    throw error;
  }
}

function described(facts: Facts, layer: Layer | undefined): ListedProfile {
  const description = layer?.profile.description;
  return { ...facts, in_use: false, ...(typeof description === "string" && { description }) };
}

function alwaysUsed(listed: ListedProfile): ListedProfile {
  return listed.problem === undefined ? { ...listed, in_use: true, note: "always in use" } : listed;
}
