/** Settings of plugins. */
import { names } from "../../base/read-value.js";
import { type SettingsOf, setting, tables } from "../../feature/setting.js";

export const pluginSettings = {
  /** Plugins besides those of the user's folder: paths and installed packages. */
  plugins: setting({ about: "files with plugins", guide: "plugins", holds: "engine", fallback: [], read: names }),
  plugin_dirs: setting({
    about: "folders with plugins of Claude Code",
    guide: "plugins",
    flag: {
      name: "plugin-dir",
      value: "DIR",
      repeatable: true,
      complete: "folder",
      help: "a folder with a plugin of Claude Code: skills, commands, agents, hooks, MCP servers (repeatable)",
    },
    fallback: [],
    read: names,
  }),
  plugin: tables({ about: "[plugin.NAME]: the settings of a plugin", guide: "plugins", holds: "engine" }),
};

export type PluginSettings = SettingsOf<typeof pluginSettings>;
