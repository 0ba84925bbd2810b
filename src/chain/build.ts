/**
 * The chains of one run: the built-in hooks, links and subscribers together with those that come from outside.
 *
 * 1. The names (`NN-name`) give the order within a chain, wherever an entry comes from.
 * 2. An entry from outside replaces a built-in one of the same name. If several from outside have one name, the last one wins.
 */
import type { RequestLink, ToolLink } from "../engine/ports.js";
import type { NamedHook, Stage } from "../engine/turn.js";
import type { Subscriber } from "../feature/part.js";
import { REQUEST_LINKS, STAGES, SUBSCRIBERS, TOOL_LINKS } from "./order.js";
import type { ChainServices } from "./services.js";

export type { Subscriber } from "../feature/part.js";

export interface Chains {
  readonly stages: Readonly<Record<Stage, readonly NamedHook[]>>;
  readonly requestLinks: readonly RequestLink[];
  readonly toolLinks: readonly ToolLink[];
  readonly subscribers: readonly Subscriber[];
}

/** Describes what a part of the runtime or a plugin adds to the chains. */
export interface ExtraChains {
  readonly stages?: Partial<Record<Stage, readonly NamedHook[]>>;
  readonly requestLinks?: readonly RequestLink[];
  readonly toolLinks?: readonly ToolLink[];
  readonly subscribers?: readonly Subscriber[];
}

export function buildChains(services: ChainServices, extra: ExtraChains = {}): Chains {
  const built = <Run>(entries: readonly (Entry<Run> | { readonly name: string; readonly of: string })[]) =>
    entries.flatMap((entry) => ("of" in entry ? [] : [{ name: entry.name, run: entry.create(services) }]));
  const stages = Object.entries(STAGES).map(([stage, hooks]) => [
    stage,
    merge(built(hooks), extra.stages?.[stage as Stage]),
  ]);
  return {
    stages: Object.fromEntries(stages) as Record<Stage, readonly NamedHook[]>,
    requestLinks: merge(built(REQUEST_LINKS), extra.requestLinks),
    toolLinks: merge(built(TOOL_LINKS), extra.toolLinks),
    subscribers: merge(built(SUBSCRIBERS), extra.subscribers),
  };
}

type MoreHooks = Partial<Record<Stage, readonly NamedHook[]>>;

/** The same stages with hooks that come and go: `more` returns the current ones, and the same object until they change. */
export function withChangingHooks(stages: Chains["stages"], more: () => MoreHooks): Chains["stages"] {
  interface Merged {
    readonly base: readonly NamedHook[];
    readonly more: MoreHooks;
    readonly hooks: readonly NamedHook[];
  }
  const merged: Partial<Record<Stage, Merged>> = {};
  const hooksOf = (stage: Stage) => {
    const now = more();
    // The base may change too: it may have changing hooks of another part.
    const base = stages[stage];
    let known = merged[stage];
    if (known?.base !== base || known.more !== now) known = { base, more: now, hooks: joined(base, now[stage] ?? []) };
    merged[stage] = known;
    return known.hooks;
  };
  const names = Object.keys(stages) as Stage[];
  return Object.defineProperties(
    {},
    Object.fromEntries(names.map((stage) => [stage, { enumerable: true, get: () => hooksOf(stage) }])),
  ) as Chains["stages"];
}

/** Tells whether a built-in hook has this stage and name. */
export function isBuiltInHook(stage: Stage, name: string): boolean {
  return STAGES[stage].some((hook) => hook.name === name);
}

interface Entry<Run> {
  readonly name: string;
  create(services: ChainServices): Run;
}

const NAME = /^\d\d-[a-z0-9]+(-[a-z0-9]+)*$/;

function merge<Named extends { readonly name: string }>(
  builtIn: readonly Named[],
  extra: readonly Named[] = [],
): readonly Named[] {
  if (extra.length === 0) return builtIn;
  const misnamed = extra.find(({ name }) => !NAME.test(name));
  if (misnamed !== undefined) {
    throw new Error(`"${misnamed.name}" is not a name for a hook or a link: use NN-name, such as 45-check-style.`);
  }
  return joined(builtIn, extra);
}

function joined<Named extends { readonly name: string }>(
  builtIn: readonly Named[],
  extra: readonly Named[],
): readonly Named[] {
  if (extra.length === 0) return builtIn;
  const byName = new Map([...builtIn, ...extra].map((entry) => [entry.name, entry]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
