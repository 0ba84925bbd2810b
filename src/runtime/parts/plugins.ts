/** The part with what plugins add; a process without plugins loads none of it. */
import type { Opening } from "../opening.js";
import type { SessionPart } from "../part.js";

export async function plugins({ engine }: Opening): Promise<SessionPart> {
  const { plugins: loaded = [], notify } = engine;
  if (loaded.length === 0) return { name: "plugins" };
  const { pluginPart } = await import("../plugins/plugin-part.js");
  return pluginPart(loaded, notify);
}
