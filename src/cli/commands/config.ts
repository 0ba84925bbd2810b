/** `oxbow config`: each setting and where it came from, and what each key of a settings file does. */

import { resolve } from "node:path";
import { renderTable } from "../../base/text-table.js";
import type { Variables } from "../../base/variables.js";
import { asValue, type Command, FOLDER } from "../../feature/command.js";
import { CONFIG_KEYS, CONFIG_SHOW } from "../../runtime/commands/program.js";
import { placeSettings } from "../../runtime/content/place-settings.js";
import { CONFIG_RESET, CONFIG_SET, settingCommands } from "../../runtime/settings/save-settings.js";
import {
  alignRows,
  rowsValue,
  type SettingKey,
  type SettingRow,
  settingKeys,
  settingRows,
} from "../../runtime/settings/setting-rows.js";
import type { LoadedSettings } from "../../runtime/settings/settings.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { SETTING_FLAGS } from "./run-flags.js";

export const shell: ShellCommand = {
  name: "config",
  specs: [CONFIG_KEYS, { ...CONFIG_SHOW, shellFlags: [...SETTING_FLAGS, FOLDER] }, CONFIG_SET, CONFIG_RESET],
  about: "Shows and changes the settings. Flags count as in a run.",
  open: async (flags, variables) => {
    const load = () => placeSettings(flags, variables, { unapproved: "refuse" });
    return { commands: [showCommand(load, variables), keysCommand(load), ...settingCommands(load)] };
  },
};

export const run = shellRunner(shell);

type Load = () => Promise<LoadedSettings>;

function showCommand(load: Load, variables: Variables): Command {
  return {
    ...CONFIG_SHOW,
    run: async (_args, { warn }) => {
      const loaded = await load();
      for (const warning of loaded.warnings) warn(warning);
      const shown = rows(loaded, variables);
      return { text: alignRows(shown), value: rowsValue(shown) };
    },
  };
}

function keysCommand(load: Load): Command {
  return {
    ...CONFIG_KEYS,
    run: async (_args, { screen, warn }) => {
      const path = await load().then(
        ({ profilePath }) => `The file is ${profilePath}. `,
        // The list says what to write instead.
        (error: Error) => {
          warn(error.message);
          return "";
        },
      );
      const known = settingKeys();
      const columns = [
        { header: "KEY", value: ({ key }: SettingKey) => key, priority: 4 },
        { header: "WHAT IT DOES", value: ({ about }: SettingKey) => about, priority: 3, minWidth: 30 },
        { header: "HOLDS FOR", value: ({ holds }: SettingKey) => holds, priority: 0 },
        { header: "A PROJECT", value: ({ project }: SettingKey) => project, priority: 1 },
        { header: "GUIDE", value: ({ guide }: SettingKey) => `docs/${guide}.md`, priority: 2 },
      ];
      const text = renderTable(columns, known, { width: screen?.width, color: screen?.color ?? false });
      return {
        text: `${text}\n\n${path}'oxbow config show' has the values.`,
        value: asValue(known),
      };
    },
  };
}

function rows({ settings, roots, layers }: LoadedSettings, variables: Variables): readonly SettingRow[] {
  const sessions = variables.OXBOW_SESSIONS;
  return [
    ...settingRows(settings),
    ["settings files", layers.map(({ path }) => path).join(",") || "(none)", "the last one counts"],
    ["config folder", roots.config, "OXBOW_HOME or XDG_CONFIG_HOME"],
    ["data folder", roots.data, "OXBOW_HOME or XDG_DATA_HOME"],
    ["sessions folder", resolve(sessions || roots.data), sessions ? "OXBOW_SESSIONS" : "the data folder"],
    ["state folder", roots.state, "OXBOW_HOME or XDG_STATE_HOME"],
    ["cache folder", roots.cache, "OXBOW_HOME or XDG_CACHE_HOME"],
  ];
}
