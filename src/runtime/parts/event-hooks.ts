/** Event hooks: commands that the user configured for moments of a session. Nothing is loaded for a session without them. */
import type { CreateBuiltIn } from "./built-in.js";

export const eventHooks: CreateBuiltIn = async (opening) => {
  const files = opening.extensions.of("event-hooks");
  if (files.length === 0 && opening.engine.loaded.settings.hooks.value.length === 0) return { name: "event-hooks" };
  const { openEventHooks } = await import("./hooks/open-event-hooks.js");
  return openEventHooks(opening, files);
};
