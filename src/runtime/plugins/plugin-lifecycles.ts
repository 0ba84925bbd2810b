/** The lifecycles of plugins, as parts of one session. A plugin that is switched off is skipped. */
import type { PluginLifecycle } from "../../extensions/plugins/api.js";
import type { LoadedPlugin } from "../../extensions/plugins/plugins.js";
import { type Lifecycle, lifecyclePart } from "../lifecycle.js";
import type { PartContext, SessionPart } from "../part.js";

export function withLifecycles(
  own: SessionPart,
  plugins: readonly LoadedPlugin[],
  context: Pick<PartContext, "session" | "bus" | "log">,
): SessionPart {
  const parts = plugins.flatMap((plugin) =>
    plugin.registrations.lifecycles.map((lifecycle, index) => {
      const number = index === 0 ? "" : `-${index + 1}`;
      return lifecyclePart({ ...ofPlugin(lifecycle, plugin), name: `plugin-${slug(plugin.name)}${number}` }, context);
    }),
  );
  return parts.length === 0 ? own : joined([own, ...parts]);
}

type Act = (...about: unknown[]) => unknown;

function ofPlugin(lifecycle: PluginLifecycle, { guard }: LoadedPlugin): Omit<Lifecycle, "name"> {
  const acts = Object.entries(lifecycle) as readonly [string, Act][];
  const entries = acts.map(([moment, act]): [string, Act] => [
    moment,
    (...about) => (guard.isOff ? undefined : act.apply(lifecycle, about)),
  ]);
  const { reviewCall, ...rest } = Object.fromEntries(entries) as Omit<Lifecycle, "name">;
  if (reviewCall === undefined) return rest;
  return {
    ...rest,
    // As with its rules, a plugin can only be stricter than the user's own rules.
    reviewCall: async (call, about) => {
      const review = await reviewCall(call, about);
      return review?.decision === "allow" ? undefined : review;
    },
  };
}

/** Keeps the characters that names of hooks allow. */
function slug(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

function joined(parts: readonly [SessionPart, ...SessionPart[]]): SessionPart {
  const [own] = parts;
  const hooks: Record<string, unknown[]> = {};
  for (const [stage, each] of parts.flatMap((part) => Object.entries(part.hooks ?? {}))) {
    hooks[stage] = [...(hooks[stage] ?? []), ...each];
  }
  return {
    ...own,
    hooks: hooks as NonNullable<SessionPart["hooks"]>,
    links: { ...own.links, tool: parts.flatMap(({ links }) => links?.tool ?? []) },
    gates: parts.flatMap(({ gates = [] }) => gates),
    compactions: parts.flatMap(({ compactions = [] }) => compactions),
    subscribers: parts.flatMap(({ subscribers = [] }) => subscribers),
    close: async () => {
      for (const part of [...parts].reverse()) await part.close?.();
    },
  };
}
