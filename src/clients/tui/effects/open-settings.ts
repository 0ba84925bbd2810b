/** Lists the settings with their values and origins, and changes them in place: a choice as a list, all else as a form. */
import type { CallId } from "../../../protocol/ids.js";
import { isJsonObject } from "../../../protocol/json.js";
import type { SettingInfo } from "../../../protocol/queries.js";
import { readSlashAnswer } from "../../../protocol/slash-command.js";
import { type PickerItem, pickerDialog } from "../dialogs/list-picker.js";
import { permissionDialog } from "../dialogs/permission.js";
import { type DialogPlace, matches } from "./open-named.js";

/** What has a list of its own. */
const LISTS = { model: "models", theme: "themes" } as const;

/** `at`: the setting that is selected. */
export async function openSettings(place: DialogPlace, at?: string): Promise<void> {
  const { open, carrier, update } = place;
  let settings = await listed(place);
  if (settings === undefined) return;
  const items = () => (settings ?? []).map((each) => settingItem(each, each.name === at));
  const dialog = pickerDialog<SettingInfo>({
    ...{ name: "settings", title: "Settings", matches },
    scopes: [
      { name: "all", items },
      { name: "changed", items: () => items().filter(({ value: { source } }) => source !== "default") },
    ],
    empty: "No setting matches.",
    // The words of its help find it, too, and the help is shown anyway.
    foundIn: (filter, { about }) => (matches(filter, about) ? "" : undefined),
    actions: {
      "ctrl+x": {
        words: "ctrl-x: the default",
        carryOut: async (setting) => {
          settings = await change(place, setting, null);
          update((state) => state);
        },
      },
    },
  });
  open(dialog, (setting) => {
    if (setting !== undefined) carrier.watch(edit(place, setting));
  });
}

async function listed({ client, state, print }: DialogPlace): Promise<readonly SettingInfo[] | undefined> {
  const reply = await client.query("ListSettings", {}, state().session);
  if (reply.ok) return reply.answer.settings;
  print({ kind: "notice", level: "error", text: reply.failure.message });
  return undefined;
}

const SOURCES: Readonly<Record<SettingInfo["source"], string | undefined>> = {
  default: "",
  user: "you",
  project: "project",
  environment: undefined,
  flag: undefined,
};
const MOST_VALUE = 30;

export function settingItem(setting: SettingInfo, current = false): PickerItem<SettingInfo> {
  const { name, about, value, origin, source, in_use: inUse, guide, kind } = setting;
  const short = value.length > MOST_VALUE ? `${value.slice(0, MOST_VALUE - 1)}…` : value;
  return {
    ...{ value: setting, label: name, current },
    columns: [short, SOURCES[source] ?? origin],
    preview: [
      `${about} (docs/${guide}.md)`,
      `${value} · ${inUse === undefined ? "" : `this session has ${inUse} · `}${origin}`,
      kind === "file" ? "Only in the file." : `Holds ${holdsText(setting)}.`,
    ],
  };
}

function holdsText({ holds, command, name }: SettingInfo): string {
  if (command !== undefined || AT_ONCE.has(name)) return "at once, and for new sessions";
  if (holds === "engine") return "once the engine starts again, after 'oxbow stop'";
  return holds === "client"
    ? "for terminals that open from now on"
    : "from the next start on; /clear keeps the old value";
}

/** The terminal changes these while it runs. */
const AT_ONCE: ReadonlySet<string> = new Set(["theme", "status_line", "vim"]);

async function edit(place: DialogPlace, setting: SettingInfo): Promise<void> {
  const { open, carrier, print } = place;
  const { name, kind, value, choices = ["true", "false"], about, origin, guide } = setting;
  if (name in LISTS) return carrier.openDialog(LISTS[name as keyof typeof LISTS]);
  if (kind === "file") {
    print({
      kind: "notice",
      level: "info",
      text: `Write ${name} into the file yourself (docs/${guide}.md). ${origin}`,
    });
    return;
  }
  /** Undefined: nothing changes. */
  const back = (text: string | null | undefined) =>
    carrier.watch(
      (async () => {
        if (text !== undefined) await change(place, setting, text);
        await openSettings(place, name);
      })(),
    );
  if (kind === "choice" || kind === "switch") {
    const items = choices.map((choice) => ({ value: choice, label: choice, current: choice === value }));
    open(pickerDialog({ ...{ name, title: name, matches }, scopes: [{ name: about, items }], empty: "None." }), back);
    return;
  }
  open(settingForm(setting), ({ decision, message = "{}" }) => {
    const typed =
      decision === "deny" ? undefined : (JSON.parse(message) as Readonly<Record<string, string | null>>)[name];
    back(typed?.trim() === "" ? null : typed);
  });
}

export function settingForm({ name, value, about }: SettingInfo) {
  const isWhole = value !== "(none)" && !value.endsWith("…");
  const field = { name, kind: "text", ...(isWhole && { default: value }), hint: "empty: the default" } as const;
  const question = { call: "" as CallId, tool: "settings", args: {}, summary: name, reason: about, form: [field] };
  return permissionDialog(question);
}

/** Null: the default. Returns what the settings are then. */
async function change(
  place: DialogPlace,
  { name, command }: SettingInfo,
  text: string | null,
): Promise<readonly SettingInfo[] | undefined> {
  const { carrier, print, useSetting } = place;
  const reply = await carrier.slash("config", text === null ? `reset ${name}` : `set ${name} ${text}`);
  const { text: said, value } = reply.ok ? readSlashAnswer(reply.value) : { text: reply.failure.message, value: null };
  const isSaved = isJsonObject(value) && value.saved === true;
  print({ kind: "notice", level: isSaved ? "info" : "error", text: said });
  const settings = await listed(place);
  const now = settings?.find((setting) => setting.name === name);
  if (isSaved && now !== undefined) useSetting(name, text ?? now.value);
  if (isSaved && text !== null && command !== undefined) await useNow(place, command, text);
  return settings;
}

/** A value that only new sessions can have stays as it is here. */
async function useNow({ carrier, print }: DialogPlace, command: string, text: string): Promise<void> {
  const reply = await carrier.slash(command, text);
  if (!reply.ok) print({ kind: "notice", level: "info", text: `Not in this session: ${reply.failure.message}` });
  await carrier.refresh();
}
