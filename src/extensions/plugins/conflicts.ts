/** Two plugins, or a plugin and Oxbow itself, that claim the same name. */
import type { Registrations } from "./registrations.js";

export interface NamedPlugin {
  readonly name: string;
  readonly registrations: Registrations;
}

/** The names that Oxbow itself uses, by what they are: `tool`, `provider`, `command namespace`, `request link` … */
export type OwnNames = Readonly<Record<string, readonly string[] | undefined>>;

/** One sentence for each conflict; empty if there is none. */
export function conflictsOf(plugins: readonly NamedPlugin[], own: OwnNames): readonly string[] {
  const owners = new Map<string, string>();
  for (const [kind, names = []] of Object.entries(own)) {
    for (const name of names) owners.set(`${kind} "${name}"`, "Oxbow itself");
  }
  const conflicts: string[] = [];
  for (const plugin of plugins) {
    for (const claim of new Set(claimsOf(plugin.registrations))) {
      const owner = owners.get(claim);
      if (owner === undefined) owners.set(claim, `the plugin ${plugin.name}`);
      else
        conflicts.push(`The plugin ${plugin.name} and ${owner} both have the ${claim}. Remove or rename one of them.`);
    }
  }
  return conflicts;
}

function claimsOf({
  requestLinks,
  toolLinks,
  hooks,
  tools,
  sources,
  providers,
  transports,
  commands,
  namespace,
}: Registrations): readonly string[] {
  return [
    ...requestLinks.map(({ name }) => `request link "${name}"`),
    ...toolLinks.map(({ name }) => `tool link "${name}"`),
    ...hooks.map(({ stage, hook }) => `${stage} hook "${hook.name}"`),
    ...tools.map(({ name }) => `tool "${name}"`),
    ...sources.map(({ name }) => `tool source "${name}"`),
    ...providers.map(({ name }) => `provider "${name}"`),
    ...transports.map(({ name }) => `transport "${name}"`),
    ...(commands.length === 0 ? [] : [`command namespace "${namespace}"`]),
  ];
}
