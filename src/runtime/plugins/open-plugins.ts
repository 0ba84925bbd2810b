/** The plugins of a process: those of the user's folder and those that the profile names. */
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { ExtensionFiles } from "../../base/extension-files.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { REQUEST_LINKS, STAGES, TOOL_LINKS } from "../../chain/order.js";
import type { OwnNames } from "../../extensions/plugins/conflicts.js";
import { type PluginSource, sourceOfEntry, sourceOfFile } from "../../extensions/plugins/load-plugin.js";
import {
  type LoadedPlugin,
  loadPlugins,
  PluginConflict,
  type PluginOptions,
} from "../../extensions/plugins/plugins.js";
import { namespaceOf } from "../../feature/command.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { NAMED_PROVIDERS } from "../../providers/named.js";
import type { LogFunction } from "../../system/log.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";
import { BUILT_IN_TOOLS } from "../parts/own-tools.js";
import { isPluginEntry, pluginFiles } from "../settings/plugin-folders.js";
import type { LoadedSettings } from "../settings/settings.js";

export interface PluginsPlace {
  readonly loaded: LoadedSettings;
  readonly content: { readonly extensions: ExtensionFiles };
  readonly variables: Variables;
  readonly root: string;
  readonly clock: Clock;
  readonly log: LogFunction;
  readonly notify: (message: string) => void;
  /** Called before the code of a plugin is loaded. */
  readonly beforeCode?: PluginOptions["beforeCode"];
}

/** Loads the plugins. */
export async function openPlugins(options: PluginsPlace): Promise<readonly LoadedPlugin[]> {
  const { loaded, variables, root, clock, log, notify } = options;
  const { roots, profilePath } = loaded;
  const place = {
    config: dirname(profilePath),
    root,
    home: variables.HOME || homedir(),
    cache: join(roots.cache, "plugins"),
  };
  const ofCode = loaded.settings.plugins.value.filter((entry) => !isPluginEntry(entry, place));
  const named = ofCode.map((entry) => sourceOfEntry(entry, place));
  const entries = named.map((source) => approvedSource(source, options));
  const places = new Set(pluginFiles(loaded.settings, place).map(foundAt));
  const sources = [...userPlugins(options, places), ...entries];
  if (sources.length === 0) return [];
  try {
    return await loadPlugins(sources, {
      place,
      clock,
      own: await ownNames(),
      settingsOf: (plugin) => tableOf(loaded.settings.plugin.value, plugin),
      log: (level, message, fields) => log(level, "plugins", message, fields),
      report: notify,
      beforeCode: options.beforeCode,
    });
  } catch (error) {
    throw error instanceof PluginConflict ? new UsageError(error.message) : error;
  }
}

/** A file that the profile names runs where it is, beside what it imports, in the version that the user approved. */
function approvedSource(source: PluginSource, { content, root }: PluginsPlace): PluginSource {
  const path = foundAt(source.from);
  // A package has no path. Code in the workspace is refused anyway.
  if (!isAbsolute(source.from) || isWithin(path, root)) return source;
  const code = async () => {
    const approved = content.extensions.of("plugin").find((file) => file.path === path && file.scope === "user");
    if (approved === undefined) throw new Error("you have not approved it in this version; 'oxbow ack' shows it");
    await approved.read();
    return source.code();
  };
  return { ...source, code };
}

/** The path under which the search finds it: its folder without links. */
function foundAt(file: string): string {
  return join(realpathOrSelf(dirname(file)), basename(file));
}

/** A plugin has all rights of the program, so plugins of a project are ignored. */
function userPlugins({ content, notify }: PluginsPlace, named: ReadonlySet<string>): readonly PluginSource[] {
  return content.extensions.of("plugin").flatMap((file) => {
    if (named.has(file.path)) return [];
    const source = sourceOfFile(file);
    if (source === undefined) return [];
    if (file.scope !== "project") return [source];
    notify(
      `The plugin ${file.path} is left out: a plugin runs outside the sandbox, so only your own folder may hold one.`,
    );
    return [];
  });
}

function tableOf(tables: unknown, plugin: string): JsonObject {
  const own = isJsonObject(tables as JsonValue) ? (tables as JsonObject)[plugin] : undefined;
  return isJsonObject(own) ? own : {};
}

async function ownNames(): Promise<OwnNames> {
  const { SESSION_SPECS } = await import("../commands/catalogue.js");
  const names = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name);
  const hooks = Object.entries(STAGES).map(([stage, entries]) => [`${stage} hook`, names(entries)] as const);
  const commands = SESSION_SPECS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  return {
    ...Object.fromEntries(hooks),
    "request link": names(REQUEST_LINKS),
    "tool link": names(TOOL_LINKS),
    tool: names(BUILT_IN_TOOLS),
    provider: [...NAMED_PROVIDERS.map(({ name }) => name), "offline", "route"],
    "command namespace": [...new Set(commands.map((name) => namespaceOf(name) ?? name))],
  };
}
