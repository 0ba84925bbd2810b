/** `/profiles`, `/profile`, `oxbow profiles`: the list, and what each profile sets. */
import { safeLine } from "../../base/terminal-text.js";
import { renderTable } from "../../base/text-table.js";
import {
  type Argument,
  asValue,
  type Command,
  type CommandContext,
  type CommandPlace,
  type CommandResult,
  type CommandSpec,
  type CommandUser,
} from "../../feature/command.js";
import type { Flag } from "../../feature/flags.js";
import { placeSettings } from "../content/place-settings.js";
import type { LoadedNames } from "../part.js";
import { withProfile } from "../settings/choose-profile.js";
import { type ListedProfile, listProfiles, type ProfilePlace } from "../settings/profile-list.js";
import { alignRows, rowsValue, settingRows } from "../settings/setting-rows.js";
import type { LoadedSettings } from "../settings/settings.js";

/** `loads` tells what a session has loaded with its profile. */
export function profileCommands(
  place: ProfilePlace,
  loads: () => Promise<readonly LoadedNames[]> = async () => [],
): readonly Command[] {
  return [
    { ...PROFILES_LIST, run: (_args, context) => list(place, context) },
    { ...PROFILES_SHOW, run: (args) => show(args.text("NAME"), place, loads) },
  ];
}

async function list(place: ProfilePlace, { screen }: CommandContext): Promise<CommandResult> {
  const profiles = await listProfiles(place);
  const { chosen } = place.loaded;
  const columns = [
    { header: "", value: ({ in_use }: ListedProfile) => (in_use ? "*" : ""), priority: 3 },
    { header: "profile", value: ({ name }: ListedProfile) => name, priority: 3 },
    { header: "scope", value: ({ scope }: ListedProfile) => scope, priority: 1 },
    { header: "where", value: ({ path }: ListedProfile) => path, priority: 0 },
    {
      header: "about",
      value: ({ problem, note, description }: ListedProfile) => problem ?? note ?? description,
      priority: 2,
    },
  ];
  const table = renderTable(columns, profiles, { width: screen?.width, color: screen?.color ?? false });
  const text = `${table}\n\n* in use. The profile is ${chosen.name} (${chosen.origin}).`;
  return { text, value: asValue({ profile: chosen.name, origin: chosen.origin, profiles }) };
}

async function show(
  name: string | undefined,
  place: ProfilePlace,
  loads: () => Promise<readonly LoadedNames[]>,
): Promise<CommandResult> {
  const loaded = name === undefined ? place.loaded : await loadOther(name, place);
  const rows = settingRows(loaded.settings).filter(([, , origin]) => origin !== "default");
  const files = loaded.layers.map(({ scope, path }) => `${scope.padEnd(8)}  ${path}`);
  const { chosen, warnings } = loaded;
  const inUse = name === undefined ? await loads() : [];
  const labels = Math.max(0, ...inUse.map(([kind]) => kind.length));
  const parts = [
    `profile ${chosen.name} (${name === undefined ? chosen.origin : "shown, not in use"})`,
    files.length === 0
      ? "No file sets anything: all settings have their defaults."
      : `files, the last one counts:\n${files.join("\n")}`,
    rows.length === 0 ? "" : alignRows(rows),
    inUse.map(([kind, names]) => `${kind.padEnd(labels)}  ${names.map(safeLine).join(", ") || "none"}`).join("\n"),
    warnings.join("\n"),
  ];
  return {
    text: parts.filter((part) => part !== "").join("\n\n"),
    value: asValue({
      profile: chosen.name,
      files: loaded.layers.map(({ scope, path }) => ({ scope, path })),
      settings: rowsValue(rows),
      warnings,
      ...(inUse.length > 0 && {
        loaded: Object.fromEntries(inUse.map(([kind, names]) => [kind.toLowerCase().replaceAll(" ", "_"), names])),
      }),
    }),
  };
}

/** With the flags and variables of this run, which also apply. */
export function loadOther(name: string, { loaded, variables, root }: ProfilePlace): Promise<LoadedSettings> {
  const flags = withProfile(loaded.sources.flags, { name, root });
  return placeSettings(flags, variables, { unapproved: "refuse" });
}

const READERS: readonly CommandUser[] = ["people", "agents"];
const EVERYWHERE: readonly CommandPlace[] = ["during a turn", "between turns", "without a session"];
const CWD: Flag = { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" };

const PROFILE_NAME: Argument = { name: "NAME", kind: "text", complete: "profile" };
export const IN_PLACE: Flag = { name: "in-place", help: "change this session instead of starting a new one" };
export const EMPTY: Flag = { name: "empty", help: "start without a summary of this conversation; do not ask" };

export const TURNS: Flag = {
  name: "turns",
  value: "N",
  help: "summarise the last N turns for it, or 'all'; do not ask",
};

export const PROFILES_NAMESPACE = { profiles: "show the profiles, or continue with another: /profiles:NAME" };

export const PROFILES_LIST: CommandSpec = {
  name: "profiles:list",
  aliases: ["profiles"],
  summary: "list the profiles: where each is from, which is in use, what replaces what",
  shellFlags: [CWD],
  users: READERS,
  reaches: "user",
  places: EVERYWHERE,
};

export const PROFILES_SHOW: CommandSpec = {
  name: "profiles:show",
  aliases: ["profile"],
  summary: "show what a profile sets, with the file of each setting; without NAME the one in use, and what it loads",
  arguments: [{ ...PROFILE_NAME, optional: true }],
  shellFlags: [CWD],
  users: READERS,
  reaches: "user",
  places: EVERYWHERE,
};

export const PROFILES_USE: CommandSpec = {
  name: "profiles:use",
  summary:
    "start a new session with a profile, and give it a summary of the last turns; /profiles:NAME is short for it",
  arguments: [PROFILE_NAME],
  flags: [IN_PLACE, TURNS, EMPTY],
  users: ["people"],
  reaches: "user",
  places: ["between turns"],
};
