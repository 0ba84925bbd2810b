/** A process without plugins does not load their code. */
import type { LoadedPlugin } from "../../extensions/plugins/plugins.js";
import type { PluginsPlace } from "./open-plugins.js";

export async function pluginsOf(place: PluginsPlace): Promise<readonly LoadedPlugin[] | undefined> {
  const { content, loaded } = place;
  if (loaded.settings.plugins.value.length === 0 && content.extensions.of("plugin").length === 0) return undefined;
  const [{ openPlugins }, { ProcessGuard }] = await Promise.all([
    import("./open-plugins.js"),
    import("../../extensions/plugins/process-guard.js"),
  ]);
  const guard = new ProcessGuard(place.notify);
  const plugins = await openPlugins({ ...place, beforeCode: (code) => guard.add(code) });
  guard.catchStrayErrors(plugins);
  return plugins;
}
