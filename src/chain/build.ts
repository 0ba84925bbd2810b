/** The listing brought to life for one run. */
import type { RequestLink, ToolLink } from "../engine/ports.js";
import type { NamedHook, Stage } from "../engine/turn.js";
import type { Envelope } from "../protocol/envelope.js";
import { listing } from "./listing.js";
import type { ChainServices } from "./services.js";

export interface Chains {
  readonly stages: Record<Stage, NamedHook[]>;
  readonly requestLinks: RequestLink[];
  readonly toolLinks: ToolLink[];
  readonly subscribers: readonly ((event: Envelope) => void)[];
}

export function buildChains(services: ChainServices): Chains {
  const named = <Run>({
    name,
    create,
  }: {
    readonly name: string;
    readonly create: (services: ChainServices) => Run;
  }) => ({
    name,
    run: create(services),
  });
  const stages = Object.entries(listing.stages).map(([stage, hooks]) => [stage, hooks.map(named)]);
  return {
    stages: Object.fromEntries(stages) as Record<Stage, NamedHook[]>,
    requestLinks: listing.request.map(named),
    toolLinks: listing.tool.map(named),
    subscribers: listing.subscribers.map(({ create }) => create(services)),
  };
}
