/**
 * A part of a live session: a small module that adds something to it. Built-in parts and plugins use this one interface.
 *
 * 1. Hooks, links and subscribers join the chains by their `NN-name`; the same name replaces a built-in one.
 * 2. The built-in hooks and links use the `services` of the part. If two parts supply the same service, the later one wins.
 * 3. A tool with the name of an earlier one replaces it.
 * 4. Parts are closed in reverse order; if one fails, the others are still closed.
 */
import type { Clock } from "../base/clock.js";
import type { ExtensionFiles } from "../base/extension-files.js";
import type { ApprovalGate } from "../chain/approval-gate.js";
import type { ExtraChains, Subscriber } from "../chain/build.js";
import type { ChainServices, CompactionWatcher, Log } from "../chain/services.js";
import type { Command } from "../commands/command.js";
import type { CommandRegistry } from "../commands/registry.js";
import type { PinnedPlace } from "../context/compaction/compact.js";
import type { Bus } from "../engine/bus.js";
import type { RequestLink, Tool, ToolLink, ToolRegistry } from "../engine/ports.js";
import type { NamedHook, Stage, Turn } from "../engine/turn.js";
import type { InputContent } from "../protocol/content.js";
import type { SessionId } from "../protocol/ids.js";

/** `["skills", ["pdf", "review"]]` */
export type LoadedNames = readonly [kind: string, names: readonly string[]];

export interface SessionPart {
  /** For messages about it. */
  readonly name: string;
  readonly services?: Partial<ChainServices>;
  readonly hooks?: Partial<Record<Stage, readonly NamedHook[]>>;
  /** Hooks that come and go between stages; the same object until they change. */
  readonly changingHooks?: () => Partial<Record<Stage, readonly NamedHook[]>>;
  /** Whether it must see all calls of an answer before one of them starts. */
  readonly holdsCalls?: () => boolean;
  readonly links?: { readonly request?: readonly RequestLink[]; readonly tool?: readonly ToolLink[] };
  /** A list, or a function that returns the current list: tools may come and go between iterations. */
  readonly tools?: readonly Tool[] | (() => readonly Tool[]);
  /** A tool that is not in the list and can still be called. */
  findTool?(name: string): Tool | undefined;
  /** A list, or a function that loads it with the first command that a client sends. */
  readonly commands?: readonly Command[] | (() => Promise<readonly Command[]>);
  /** Commands that depend on those of the other parts. */
  laterCommands?(known: CommandRegistry): Promise<readonly Command[]>;
  readonly subscribers?: readonly Subscriber[];
  /** Called before the first stage of a turn and before each of its iterations. Must not throw. */
  refresh?(turn: Turn): Promise<void>;
  /** A section of the system prompt. Called once, when the session opens: the prompt does not change within a session. */
  promptSection?(size: "full" | "small"): string | undefined;
  /** What the model gets with this input. */
  inputNotice?(input: readonly InputContent[]): string | undefined | Promise<string | undefined>;
  /** Texts that a summary of older messages repeats word for word. */
  pinned?(place: PinnedPlace): Promise<readonly string[]> | readonly string[];
  /** Changes whenever `commands` would return others. */
  commandsStamp?(): string;
  /** Rows that `/status` shows about it: label and value. */
  statusRows?(): Promise<readonly (readonly [string, string])[]>;
  /** What it has loaded for the profile, for `/profile`: the kind, and the names. */
  loaded?(): Promise<readonly LoadedNames[]>;
  /** Review calls after the permission rules; they never allow what those deny. */
  readonly gates?: readonly ApprovalGate[];
  /** Take part in compactions. */
  readonly compactions?: readonly CompactionWatcher[];
  close?(): Promise<unknown> | unknown;
}

/** What a part can use. */
export interface PartContext {
  readonly session: SessionId;
  readonly bus: Bus;
  /** The folder that the session works in. */
  readonly root: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The approved files that extend Oxbow in this place. */
  readonly extensions: ExtensionFiles;
}

export type CreatePart = (context: PartContext) => SessionPart | Promise<SessionPart>;

/** What all parts add to the chains. */
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

/** What all parts give the model with an input. */
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
