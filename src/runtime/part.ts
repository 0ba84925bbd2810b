/** Joins what the parts of a session add. */
import type { ExtraChains } from "../chain/build.js";
import type { ChainServices } from "../chain/services.js";
import type { ToolRegistry } from "../engine/ports.js";
import type { NamedHook, Stage, Turn } from "../engine/turn.js";
import type { Command } from "../feature/command.js";
import type { SessionPart as Part, PartContext } from "../feature/part.js";
import type { InputContent } from "../protocol/content.js";

export type { LoadedNames, PartContext } from "../feature/part.js";

export type SessionPart = Part<Partial<ChainServices>>;

export type CreatePart = (context: PartContext) => SessionPart | Promise<SessionPart>;

/** Tells what all parts add to the chains. */
export function chainsOf(parts: readonly SessionPart[]): ExtraChains {
  const stages: Partial<Record<Stage, readonly NamedHook[]>> = {};
  for (const [stage, hooks] of parts.flatMap(({ hooks = {} }) => Object.entries(hooks) as [Stage, NamedHook[]][])) {
    stages[stage] = [...(stages[stage] ?? []), ...hooks];
  }
  return {
    stages,
    requestLinks: parts.flatMap(({ links }) => links?.request ?? []),
    toolLinks: parts.flatMap(({ links }) => links?.tool ?? []),
    subscribers: parts.flatMap(({ subscribers = [] }) => subscribers),
  };
}

export function servicesOf(parts: readonly SessionPart[]): Partial<ChainServices> {
  return Object.assign({}, ...parts.map(({ services }) => services));
}

/** The registry together with the tools of the parts. */
export function toolsOf(registry: ToolRegistry, parts: readonly SessionPart[]): ToolRegistry {
  const isNeeded = parts.some(
    ({ tools = [], findTool }) => typeof tools === "function" || tools.length > 0 || findTool !== undefined,
  );
  if (!isNeeded) return registry;
  const added = () => {
    const lists = parts.map(({ tools = [] }) => (typeof tools === "function" ? tools() : tools));
    return new Map(lists.flat().map((tool) => [tool.name, tool]));
  };
  return {
    list: () => {
      const more = added();
      return [...registry.list().filter(({ name }) => !more.has(name)), ...more.values()];
    },
    find: (name) => {
      const listed = added().get(name) ?? registry.find(name);
      if (listed !== undefined) return listed;
      for (const part of parts) {
        const found = part.findTool?.(name);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    ...(registry.lacks && { lacks: registry.lacks }),
  };
}

/** The function to run before each iteration; undefined if no part needs it. */
export function refreshOf(parts: readonly SessionPart[]): ((turn: Turn) => Promise<void>) | undefined {
  const refreshing = parts.filter(({ refresh }) => refresh !== undefined);
  if (refreshing.length === 0) return undefined;
  return async (turn) => {
    for (const part of refreshing) await part.refresh?.(turn);
  };
}

/** Tells what all parts give the model with an input. */
export async function noticeOf(
  parts: readonly SessionPart[],
  input: readonly InputContent[],
): Promise<string | undefined> {
  const notices: string[] = [];
  for (const part of parts) {
    const notice = await part.inputNotice?.(input);
    if (notice !== undefined) notices.push(notice);
  }
  return notices.length === 0 ? undefined : notices.join("\n\n");
}

/** The commands of all parts, in the order of the parts. */
export async function commandsOf(parts: readonly SessionPart[]): Promise<readonly Command[]> {
  const each = parts.map(({ commands = [] }) => (typeof commands === "function" ? commands() : commands));
  return (await Promise.all(each)).flat();
}

export async function closeParts(parts: readonly SessionPart[]): Promise<void> {
  const faults: unknown[] = [];
  for (const part of [...parts].reverse()) {
    try {
      await part.close?.();
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
}
