/** `/profiles`, `/profile`, `oxbow profiles`: the list, and what each profile sets. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { safeLine } from "../../base/terminal-text.js";
import { renderTable } from "../../base/text-table.js";
import { UsageError } from "../../base/usage-error.js";
import { isInput, lastTurns, requestsIn, summaryText } from "../../context/compaction/summary-message.js";
import type { Run } from "../../control/run.js";
import type { SessionEvents } from "../../extensions/hooks/part.js";
import {
  type Argument,
  asValue,
  BETWEEN_TURNS,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  type CommandSpec,
  EVERYONE,
  EVERYWHERE,
  refuse,
  type Subject,
} from "../../feature/command.js";
import type { Flag } from "../../feature/flags.js";
import type { Message } from "../../protocol/content.js";
import type { CallId } from "../../protocol/ids.js";
import { placeSettings } from "../content/place-settings.js";
import { type Opening, runOf } from "../opening.js";
import type { LoadedNames } from "../part.js";
import type { RunCompaction } from "../parts/compaction.js";
import { withProfile } from "../settings/choose-profile.js";
import { type ListedProfile, listProfiles, type ProfilePlace } from "../settings/profile-list.js";
import { profileNames } from "../settings/project-profiles.js";
import { alignRows, rowsValue, settingRows } from "../settings/setting-rows.js";
import type { LoadedSettings } from "../settings/settings.js";
import { modelName } from "./conversation.js";

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
  const rows = settingRows(loaded.settings).filter(([key, , origin]) => key !== "profile" && origin !== "default");
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

const CWD: Flag = { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" };

const PROFILE_NAME: Argument = { name: "NAME", kind: "text", complete: "profile" };
export const IN_PLACE: Flag = { name: "in-place", help: "change this session instead of starting a new one" };
export const EMPTY: Flag = { name: "empty", help: "start without a summary of this conversation; do not ask" };

export const TURNS: Flag = {
  name: "turns",
  value: "N",
  help: "summarise the last N turns for it, or 'all'; do not ask",
};

export const PROFILES_LIST: CommandSpec = {
  name: "profiles:list",
  aliases: ["profiles"],
  summary: "list the profiles: where each is from, which is in use, what replaces what",
  shellFlags: [CWD],
  users: EVERYONE,
  places: EVERYWHERE,
};

export const PROFILES_SHOW: CommandSpec = {
  name: "profiles:show",
  aliases: ["profile"],
  summary: "show what a profile sets, with the file of each setting; without NAME the one in use, and what it loads",
  arguments: [{ ...PROFILE_NAME, optional: true }],
  shellFlags: [CWD],
  users: EVERYONE,
  places: EVERYWHERE,
};

export const PROFILES_USE: CommandSpec = {
  name: "profiles:use",
  summary:
    "start a new session with a profile, and give it a summary of the last turns; /profiles:NAME is short for it",
  arguments: [PROFILE_NAME],
  flags: [IN_PLACE, TURNS, EMPTY],
  places: BETWEEN_TURNS,
};

/** The limit for the user's own text in the summary. */
const REQUEST_CHARS = 8_000;
/** The turns that go along unless the user says otherwise. */
const USUAL_TURNS = 5;
const UNCHANGED = "The session continues unchanged.";

interface UsePort extends ProfilePlace {
  readonly run: Run;
  readonly compaction: RunCompaction;
  /** The user chose another model than that of the settings. */
  readonly hasOwnModel: boolean;
  readonly isStored: () => Promise<boolean>;
  readonly events: SessionEvents;
  readonly person: Opening["person"];
  readonly newCall: () => CallId;
}

type AskPort = UsePort & Pick<CommandContext, "signal">;

export function sessionProfileCommands(opening: Opening): readonly Command[] {
  const { engine, root, built } = opening;
  const { loaded, variables, sessions, model } = engine;
  const place = { loaded, variables, root };
  const run = runOf(opening);
  const port = (): UsePort => ({
    ...place,
    run,
    compaction: built.get("compaction"),
    hasOwnModel: run.model !== model,
    isStored: async () => (await sessions.choice()).kind !== "none",
    events: built.get("events"),
    person: opening.person,
    newCall: () => engine.ids.next("call"),
  });
  const { arguments: _name, ...short } = PROFILES_USE;
  const taken = [PROFILES_LIST, PROFILES_SHOW, PROFILES_USE].map(({ name }) => name);
  const names = namesHere(opening).filter((name) => !taken.includes(`profiles:${name}`));
  return [
    ...profileCommands(place, () => loadedBy(opening)),
    { ...PROFILES_USE, run: (args, context) => useProfile(args.text("NAME") ?? "", args, { ...port(), ...context }) },
    ...names.map((name): Command => {
      const summary = `continue with the profile ${name}`;
      return {
        ...short,
        name: `profiles:${name}`,
        summary,
        run: (args, context) => useProfile(name, args, { ...port(), ...context }),
      };
    }),
  ];
}

export function namesHere({ engine: { loaded, variables }, root }: Opening): readonly string[] {
  return profileNames({ root, variables, roots: loaded.roots });
}

async function loadedBy({ current, engine }: Opening): Promise<readonly LoadedNames[]> {
  const ofParts = await Promise.all((current.parts ?? []).map((part) => part.loaded?.() ?? []));
  const tools = current.run?.tools.list().map(({ name }) => name) ?? [];
  const plugins = engine.plugins?.map(({ name }) => name) ?? [];
  return [...ofParts.flat(), ["plugins", plugins], ["tools", tools]];
}

async function useProfile(name: string, args: CommandArguments, port: AskPort): Promise<CommandResult> {
  const { run } = port;
  // An invalid profile is reported here, before anything changes.
  const loaded = await loadOther(name, port);
  const model = keepsModel(loaded, port) ? { model: modelName(run) } : {};
  const { session } = run;
  if (args.hasFlag("in-place")) {
    if (!(await port.isStored()) || run.conversation.length === 0) {
      return refuse(`Only a stored session with a conversation can change in place. Use /profiles:${name}.`);
    }
    const refused = await refusedChange(loaded, port);
    if (refused !== undefined) return refuse(refused);
    const text = inPlaceText(loaded);
    return { text, value: { profile: name, session }, follow: { resume: session, profile: name, ...model } };
  }
  const turns = await turnsToCarry(loaded.chosen.name, args, port);
  if (typeof turns !== "number") return turns;
  const carry = turns === 0 ? undefined : await summaryOf(lastTurns(run.conversation, turns), port);
  if (carry !== undefined && typeof carry !== "string") return carry;
  const back = (await port.isStored())
    ? ` The old session is paused; 'oxbow resume ${session}' returns to it.`
    : " The old session was not stored.";
  const knows =
    carry === undefined
      ? "It knows nothing about this conversation."
      : `It knows a summary of ${turnsText(turns, run)}.`;
  return {
    text: `New session with the profile ${loaded.chosen.name}. ${knows}${run.conversation.length === 0 ? "" : back}`,
    value: { profile: name, paused: session, carried: carry !== undefined },
    follow: { after: session, profile: name, ...model, ...(carry !== undefined && { carry }) },
  };
}

/** Tells why hooks keep the session as it is. */
async function refusedChange({ layers, chosen }: LoadedSettings, { events }: UsePort): Promise<string | undefined> {
  const { scope, path } = layers.at(-1) ?? {};
  const source = scope === "project" ? "project_settings" : "user_settings";
  const input = { source, ...(path !== undefined && { file_path: path }) };
  const { refuses, reason } = await events.fire("ConfigChange", { subject: source, input });
  return refuses ? `A hook refused the profile ${chosen.name}: ${reason}` : undefined;
}

/** Counts how many of the last turns the new session knows: by the flags, else the user says it. */
async function turnsToCarry(
  profile: string,
  args: CommandArguments,
  { run, person, newCall, signal }: AskPort,
): Promise<number | CommandResult> {
  const all = turnsIn(run);
  if (args.hasFlag("empty") || all === 0) return 0;
  const asked = args.flag("turns");
  if (asked === "all") return all;
  if (asked !== undefined) {
    return /^[0-9]+$/.test(asked) ? Number(asked) : refuse(`--turns takes a number or 'all', not "${asked}".`);
  }
  const turns = Math.min(USUAL_TURNS, all);
  if (!person.present()) return turns;
  const { decision, unanswered } = await person.ask(
    {
      call: newCall(),
      tool: "a summary",
      args: { profile, turns },
      summary: `take a summary of ${turnsText(turns, run)} into the new session`,
      reason:
        "Otherwise it knows nothing about this one. With --turns N it takes the last N turns, with --turns all every one.",
      once_only: true,
      contained: true,
    },
    signal,
  );
  if (unanswered !== undefined || signal.aborted) return refuse(`There was no answer. ${UNCHANGED}`);
  return decision === "deny" ? 0 : turns;
}

function turnsIn({ conversation }: Run): number {
  return conversation.filter(isInput).length;
}

function turnsText(turns: number, run: Run): string {
  if (turns >= turnsIn(run)) return "this conversation";
  return turns === 1 ? "the last turn" : `the last ${turns} turns`;
}

/** Undefined if there is nothing to summarise. */
async function summaryOf(
  messages: readonly Message[],
  { run, compaction }: UsePort,
): Promise<string | undefined | CommandResult> {
  const result = await compaction.summarizeNow(run, { messages });
  if ("nothing" in result) return undefined;
  if ("text" in result) return summaryText({ summary: result.text, ...requestsIn(messages, REQUEST_CHARS) });
  const reason = "failure" in result ? result.failure.message : "Cancelled.";
  return refuse(`${reason} ${UNCHANGED} With --empty the new one starts without a summary.`);
}

/** A model that the user chose in the session stays, unless the profile names another one. */
function keepsModel({ settings }: LoadedSettings, { loaded, hasOwnModel }: UsePort): boolean {
  const isSame = (key: "model" | "provider") => settings[key].value === loaded.settings[key].value;
  return hasOwnModel && isSame("model") && isSame("provider");
}

function inPlaceText({ chosen }: LoadedSettings): string {
  return `This session now has the profile ${chosen.name}: its model, prompt, tools, permissions and limits.
Warning: the model may be confused, because its earlier answers come from other instructions and tools.
These do not change: the earlier messages, where sessions are stored, and the log. What you allowed for the session no longer counts.`;
}

export const subject: Subject = {
  name: "profiles",
  summary: "show the profiles, or continue with another: /profiles:NAME",
  heading: "Profiles",
  specs: [PROFILES_LIST, PROFILES_SHOW, PROFILES_USE],
  shell: {
    about:
      "A profile is a TOML file of settings: built in, in the folder 'profiles' of your configuration, or in .oxbow/profiles of a project.",
    more: 'Use one: oxbow --profile NAME, OXBOW_PROFILE=NAME, or profile = "NAME" in config.toml (docs/settings.md).',
    open: async ({ flags, variables }) => {
      const loaded = await placeSettings(flags, variables, { unapproved: "ignore" });
      return { commands: profileCommands({ loaded, variables, root: folder(flags.text("cwd")) }) };
    },
  },
};

function folder(given: string | undefined): string {
  try {
    return realpathSync.native(resolve(given ?? process.cwd()));
  } catch (error) {
    throw new UsageError(`--cwd: ${(error as Error).message}`);
  }
}
