/** All plugins of a process: loaded once, one after the other. */
import type { Clock } from "../../base/clock.js";
import type { JsonObject } from "../../protocol/json.js";
import type { Oxbow } from "./api.js";
import { conflictsOf, type OwnNames } from "./conflicts.js";
import { PluginGuard } from "./guard.js";
import { loadCode, type PluginPlace, type PluginSource } from "./load-plugin.js";
import { type Registrations, registrationsOf } from "./registrations.js";

export interface LoadedPlugin {
  readonly name: string;
  /** The file or the package. */
  readonly from: string;
  /** The path of its code. */
  readonly path: string;
  readonly registrations: Registrations;
  readonly guard: PluginGuard;
}

export interface PluginOptions {
  readonly place: PluginPlace;
  readonly clock: Clock;
  readonly own: OwnNames;
  readonly settingsOf: (plugin: string) => JsonObject;
  readonly log: Oxbow["log"];
  /** Shows the user one line. */
  readonly report: (message: string) => void;
  /** Called before the code of a plugin is loaded. */
  readonly beforeCode?: ((code: { readonly name: string; readonly path: string }) => void) | undefined;
}

/** Two plugins claim one name, or a plugin claims one of Oxbow's: nothing starts until the user has decided. */
export class PluginConflict extends Error {
  override readonly name = "PluginConflict";
}

const REGISTER_MS = 10_000;

/** A plugin that cannot be loaded is left out with a message. Throws a PluginConflict. */
export async function loadPlugins(
  sources: readonly PluginSource[],
  options: PluginOptions,
): Promise<readonly LoadedPlugin[]> {
  const loaded: LoadedPlugin[] = [];
  for (const source of sources) {
    const same = loaded.find(({ name }) => name === source.name);
    if (same !== undefined) {
      throw new PluginConflict(
        `Two plugins have the name ${source.name}: ${same.from} and ${source.from}. Remove or rename one of them.`,
      );
    }
    try {
      loaded.push(await loadOne(source, options));
    } catch (error) {
      const why = (error as Error)?.message ?? String(error);
      options.report(`The plugin ${source.from} is left out: ${why.split("\n", 1)[0]}.`);
    }
  }
  const [conflict] = conflictsOf(loaded, options.own);
  if (conflict !== undefined) throw new PluginConflict(conflict);
  return loaded;
}

async function loadOne(source: PluginSource, options: PluginOptions): Promise<LoadedPlugin> {
  const { name, from } = source;
  const { clock, report, place, settingsOf, log } = options;
  const { register, path } = await loadCode(source, place, (code) => options.beforeCode?.({ name, path: code }));
  const { oxbow, registrations, end } = registrationsOf({ name, settings: settingsOf(name), log });
  let stopTimer = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    const message = `register did not return within ${REGISTER_MS / 1000} seconds`;
    stopTimer = clock.after(REGISTER_MS, () => reject(new Error(message)));
  });
  try {
    await Promise.race([Promise.resolve().then(() => register(oxbow)), late]);
  } finally {
    end();
    stopTimer();
  }
  return { name, from, path, registrations, guard: new PluginGuard({ plugin: name, clock, report }) };
}

/** Each closes even if others fail. */
export async function closePlugins(plugins: readonly LoadedPlugin[]): Promise<void> {
  for (const { registrations, guard } of [...plugins].reverse()) {
    for (const close of [...registrations.closers].reverse()) await guard.wait("onClose", close);
  }
}
