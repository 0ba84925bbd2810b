/** The part with the additions of plugins; a process without plugins loads none of it. */
import type { Opening } from "../opening.js";
import type { SessionPart } from "../part.js";

export async function plugins(opening: Opening): Promise<SessionPart> {
  const { plugins: loaded = [], notify } = opening.engine;
  if (loaded.length === 0) return { name: "plugins" };
  const { pluginPart } = await import("../plugins/plugin-part.js");
  const part = pluginPart(loaded, notify, opening);
  if (loaded.every(({ registrations }) => registrations.lifecycles.length === 0)) return part;
  const { withLifecycles } = await import("../plugins/plugin-lifecycles.js");
  return withLifecycles(part, loaded, opening);
}
