/** The part with the additions of plugins; a process without plugins loads none of it. */

import type { LoadedPlugin } from "../../extensions/plugins/plugins.js";
import type { Opening } from "../opening.js";
import type { SessionPart } from "../part.js";
import type { PluginsPlace } from "../plugins/open-plugins.js";

export async function plugins(opening: Opening): Promise<SessionPart> {
  const { plugins: loaded = [], notify } = opening.engine;
  if (loaded.length === 0) return { name: "plugins" };
  const { pluginPart } = await import("../plugins/plugin-part.js");
  const part = pluginPart(loaded, notify, opening);
  if (loaded.every(({ registrations }) => registrations.lifecycles.length === 0)) return part;
  const { withLifecycles } = await import("../plugins/plugin-lifecycles.js");
  return withLifecycles(part, loaded, opening);
}

/** A process without plugins does not load their code. */
export async function pluginsOf(place: PluginsPlace): Promise<readonly LoadedPlugin[] | undefined> {
  const { content, loaded } = place;
  if (loaded.settings.plugins.value.length === 0 && content.extensions.of("plugin").length === 0) return undefined;
  const [{ openPlugins }, { ProcessGuard }] = await Promise.all([
    import("../plugins/open-plugins.js"),
    import("../plugins/process-guard.js"),
  ]);
  const guard = new ProcessGuard(place.notify);
  const plugins = await openPlugins({ ...place, beforeCode: (code) => guard.add(code) });
  guard.catchStrayErrors(plugins);
  return plugins;
}
