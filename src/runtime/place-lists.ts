/** Describes what a place offers, for clients that list it: profiles and skills. */

import { basename, dirname } from "node:path";
import { type ExtensionFile, type ExtensionFiles, type ExtensionKind, NO_EXTENSIONS } from "../base/extension-files.js";
import { builtInSkills } from "../context/skills/built-in.js";
import { SkillRegistry } from "../context/skills/registry.js";
import type { ExtensionSection, PlaceStatus, ProfileInfo, SettingInfo, SkillInfo } from "../protocol/queries.js";
import { branchOf } from "../system/git/branch.js";
import { shownPath } from "../system/path-bytes.js";
import { placeSettings } from "./content/place-settings.js";
import type { Place, ProcessParts } from "./open-engine.js";
import type { OpenedRun } from "./opening.js";
import { listProfiles } from "./settings/profile-list.js";
import { settingInfos } from "./settings/setting-rows.js";

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

/** A file that cannot be read now changes nothing for new sessions: they do not open. */
export async function settingsOf({ loaded, root }: Pick<Place, "loaded" | "root">): Promise<readonly SettingInfo[]> {
  const { flags, variables } = loaded.sources;
  const fresh = await placeSettings(flags, variables, { root, unapproved: "ignore" }).catch(() => loaded);
  return settingInfos(fresh, loaded);
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

const SECTIONS: readonly { readonly title: string; readonly kinds: readonly ExtensionKind[] }[] = [
  { title: "Skills", kinds: ["skill"] },
  { title: "Agents", kinds: ["agent"] },
  { title: "MCP servers", kinds: ["mcp"] },
  { title: "Hooks", kinds: ["hook", "event-hooks"] },
  { title: "Tools", kinds: ["tool"] },
  { title: "Commands", kinds: ["command", "prompt"] },
  { title: "Plugins", kinds: ["plugin"] },
];

/** Sections without content are left out. */
export function extensionSections(files: ExtensionFiles | undefined): readonly ExtensionSection[] {
  return SECTIONS.flatMap(({ title, kinds }) => {
    const found = kinds.flatMap((kind) => files?.of(kind) ?? []).filter(isUsed);
    const byName = new Map(found.map((file) => [nameOf(file), file.scope] as const));
    const items = [...byName].map(([name, scope]) => ({ name, state: scope }));
    return items.length === 0 ? [] : [{ title, items }];
  });
}

const RUN_KINDS: ReadonlySet<ExtensionKind> = new Set(["hook", "tool", "command"]);

/** Files beside a program are not extensions themselves. */
function isUsed({ kind, executable }: ExtensionFile): boolean {
  return executable || !RUN_KINDS.has(kind);
}

/** A skill is named by its folder, most others by their file, and an entry of a file by the entry. */
function nameOf({ kind, name, entry }: ExtensionFile): string {
  const plain = kind === "skill" ? dirname(name) : name.replace(/\.md$/, "");
  const shown = plain === "." ? basename(name) : plain;
  return shownPath(entry === undefined ? shown : `${entry} (${name})`);
}

export async function placeStatus(opened: OpenedRun, { root, content, loaded }: Place): Promise<PlaceStatus> {
  const { run, permissions, effort, sandbox, costs, toolbox, folders } = opened;
  const background = toolbox.inBackground();
  const branch = branchOf(root);
  const limits = await costs.limitsOf(run.model).catch(() => undefined);
  const facts = limits && (await costs.facts(run.model));
  const state = sandbox.state?.kind;
  return {
    cwd: root,
    profile: loaded.chosen.name,
    mode: permissions.planning ? "plan" : permissions.mode,
    ...(effort.level !== undefined && { effort: effort.level }),
    ...(branch !== undefined && { branch }),
    ...(state !== undefined && { sandbox: state }),
    ...(limits !== undefined && { context_window: limits.reads }),
    ...(facts?.price !== undefined && { price: { input: facts.price.input, output: facts.price.output } }),
    ...(facts !== undefined && { images: facts.abilities.images }),
    ...(background > 0 && { background }),
    ...(folders.roots.length > 0 && { folders: [...folders.roots] }),
    instructions: content?.files ?? [],
  };
}
