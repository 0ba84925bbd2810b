/** Joins the parts of a session to one engine: the chains, the ports of the loop, the subscribers and the run. */
import { buildChains, withChangingHooks } from "../chain/build.js";
import type { ChainServices } from "../chain/services.js";
import type { PermissionPrompts } from "../control/permission-prompts.js";
import { Run, type RunOptions } from "../control/run.js";
import type { Bus } from "../engine/bus.js";
import type { EnginePorts, Model, ToolRegistry } from "../engine/ports.js";
import type { SessionId } from "../protocol/ids.js";
import { chainsOf, closeParts, refreshOf, type SessionPart, servicesOf, toolsOf } from "./part.js";

type Required = Pick<ChainServices, "gate" | "log" | "systemPrompt">;

export interface AssemblyOptions {
  readonly session: SessionId;
  readonly bus: Bus;
  readonly model: Model;
  readonly tools: ToolRegistry;
  readonly permissionPrompts: PermissionPrompts;
  /** Holds what every session needs; `parts` supply the rest. */
  readonly services: Required & Partial<ChainServices>;
  readonly parts: readonly SessionPart[];
  /** The tools that the session may use, by name; default: all. */
  readonly mayUse?: (tool: string) => boolean;
  readonly ports: Omit<EnginePorts, "tools" | "requestLinks" | "toolLinks">;
}

export interface Assembly {
  readonly ports: EnginePorts;
  /** Called once. */
  createRun(options?: Partial<RunOptions>): Run;
}

export function assemble(options: AssemblyOptions): Assembly {
  const { session, bus, model, parts, permissionPrompts } = options;
  const tools = onlyThose(toolsOf(options.tools, parts), options.mayUse);
  const approvalGates = parts.flatMap(({ gates = [] }) => gates);
  const services = { ...options.services, ...servicesOf(parts), tools, approvalGates, person: permissionPrompts };
  for (const { compactions = [] } of parts) for (const each of compactions) services.compaction?.watch?.(each);
  const chains = buildChains(services, chainsOf(parts));
  const stages = parts.reduce(
    (known, { changingHooks }) => (changingHooks === undefined ? known : withChangingHooks(known, changingHooks)),
    chains.stages,
  );
  for (const subscriber of chains.subscribers) bus.subscribe((event) => subscriber.run(event));
  const refresh = refreshOf(parts);
  const { mayStartEarly } = options.ports;
  const ports: EnginePorts = {
    ...options.ports,
    mayStartEarly: (call, tool) => mayStartEarly(call, tool) && !parts.some((part) => part.holdsCalls?.() === true),
    ...(refresh && { refresh }),
    tools,
    requestLinks: chains.requestLinks,
    toolLinks: chains.toolLinks,
  };
  return {
    ports,
    createRun: (more = {}) =>
      new Run({
        session,
        bus,
        ports,
        permissionPrompts,
        stages,
        model,
        dispose: () => closeParts(parts),
        ...more,
      }),
  };
}

function onlyThose(registry: ToolRegistry, mayUse: AssemblyOptions["mayUse"]): ToolRegistry {
  if (mayUse === undefined) return registry;
  return {
    list: () => registry.list().filter(({ name }) => mayUse(name)),
    find: (name) => (mayUse(name) ? registry.find(name) : undefined),
    ...(registry.lacks && { lacks: registry.lacks }),
  };
}
