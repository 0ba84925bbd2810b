/** Writes settings into the person's own file: what was chosen in a conversation, and `/config set`. What else is in the file stays as it is. */
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { ChosenSettings } from "../../base/chosen-settings.js";
import type { Reader } from "../../base/read-value.js";
import { UsageError } from "../../base/usage-error.js";
import {
  type Argument,
  asValue,
  type Command,
  type CommandResult,
  type CommandSpec,
  EVERYWHERE,
} from "../../feature/command.js";
import type { DeclaredSettings } from "../../feature/setting.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { inWords } from "../../system/errno-words.js";
import type { LoadedSettings, Settings } from "./settings.js";

/** Returns a sentence for the person: where it was saved, or why not, and what overrides it here. */
export async function saveSettings(
  { profilePath, settings }: Pick<LoadedSettings, "profilePath" | "settings">,
  chosen: ChosenSettings,
): Promise<string> {
  const keys = Object.keys(chosen);
  try {
    const before = await readFile(profilePath, "utf8").catch(emptyIfMissing);
    const after = await withKeys(before, chosen);
    if (after === undefined) return `Not saved: write ${keys.join(" and ")} into ${profilePath} yourself.`;
    await mkdir(dirname(profilePath), { recursive: true, mode: 0o700 });
    if (after !== before) await writeFileAtomic(profilePath, after, { mode: 0o600 });
  } catch (error) {
    return inWords(`Not saved: ${(error as Error).message}`);
  }
  const origins = keys.flatMap((key) => settings[key as keyof Settings]?.origin ?? []);
  const stronger = origins.find((origin) => isStronger(origin, profilePath));
  const here = stronger === undefined ? "" : ` In this place ${stronger} overrides it.`;
  return `Saved for new sessions in ${profilePath}.${here}`;
}

/** A flag holds for this start only, so it overrides nothing later. */
function isStronger(origin: string, profilePath: string): boolean {
  return origin !== "default" && !origin.startsWith(`${profilePath} (`) && !origin.startsWith("--");
}

/** The text with these keys at its top level; undefined if the file is not simple enough to change it line by line. */
async function withKeys(before: string, chosen: ChosenSettings): Promise<string | undefined> {
  const { parse } = await import("smol-toml");
  const plain = (text: string) => JSON.parse(JSON.stringify(parse(text))) as Record<string, unknown>;
  const wanted = plain(before);
  let lines = before.split("\n");
  for (const [key, value] of Object.entries(chosen)) {
    const table = lines.findIndex((line) => /^\s*\[/.test(line));
    const at = lines.findIndex((line, index) => (table === -1 || index < table) && isLineOf(line, key));
    const line = value === null ? [] : [`${key} = ${JSON.stringify(value)}`];
    lines = at === -1 ? [...line, ...lines] : lines.toSpliced(at, 1, ...line);
    if (value === null) delete wanted[key];
    else wanted[key] = value;
  }
  const after = lines.join("\n");
  try {
    return isDeepStrictEqual(plain(after), wanted) ? after : undefined;
  } catch {
    return undefined;
  }
}

function isLineOf(line: string, key: string): boolean {
  return new RegExp(`^\\s*(?:${key}|"${key}")\\s*=`).test(line);
}

function emptyIfMissing(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "";
  throw error;
}

const NAME: Argument = { name: "NAME", kind: "text", missing: "Name the setting ('oxbow config keys' lists them)." };

export const CONFIG_SET: CommandSpec = {
  name: "config:set",
  summary: "write a setting into your file: /config set theme dark",
  arguments: [NAME, { name: "VALUE", kind: "line", rest: "text" }],
  reaches: "user",
  places: EVERYWHERE,
};

export const CONFIG_RESET: CommandSpec = {
  name: "config:reset",
  summary: "take a setting out of your file, so that it has its default again",
  arguments: [NAME],
  reaches: "user",
  places: EVERYWHERE,
};

export function settingCommands(load: () => LoadedSettings | Promise<LoadedSettings>): readonly Command[] {
  return [
    { ...CONFIG_SET, run: async (args) => change(await load(), args.text("NAME") ?? "", args.text("VALUE") ?? "") },
    { ...CONFIG_RESET, run: async (args) => change(await load(), args.text("NAME") ?? "", null) },
  ];
}

async function change(loaded: LoadedSettings, name: string, text: string | null): Promise<CommandResult> {
  const [{ SETTINGS }, { nearest }] = await Promise.all([import("./settings.js"), import("../../base/nearest.js")]);
  const known = Object.entries(SETTINGS as DeclaredSettings).filter(([, { about }]) => about !== undefined);
  const declared = known.find(([key]) => key === name)?.[1];
  if (declared === undefined) {
    const near = nearest(
      name,
      known.map(([key]) => key),
    );
    throw new UsageError(`There is no setting '${name}'.${near === undefined ? "" : ` Did you mean '${near}'?`}`);
  }
  const { read, holds = "session" } = declared;
  if (read === undefined) throw new UsageError(`Write ${name} into ${loaded.profilePath} yourself.`);
  const value = text === null ? null : written(name, read, text.trim());
  const saved = await saveSettings(loaded, { [name]: value });
  const isSaved = !saved.startsWith("Not saved");
  const what = value === null ? `${name} has its default.` : `${name} = ${JSON.stringify(value)}.`;
  return {
    text: isSaved ? `${what} ${saved}${holds === "engine" ? ENGINE : ""}` : saved,
    value: asValue({ name, value, saved: isSaved, holds }),
    exitCode: isSaved ? 0 : 1,
  };
}

const ENGINE = " A running engine has it after 'oxbow stop'.";

/** As the file has it. Throws a UsageError that says what the setting expects. */
function written(name: string, read: Reader<unknown>, text: string): string | number | boolean | readonly string[] {
  try {
    const value = read(text);
    if (read.takes === "switch") return value as boolean;
    if (read.takes === "number") return value as number;
    return read.takes === "list" ? (value as readonly string[]) : text;
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${name}: ${error.message}`) : error;
  }
}
