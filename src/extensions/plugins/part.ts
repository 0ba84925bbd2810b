/** Describes what the plugins of the process add to one session. */
import type { Tool, ToolOutcome } from "../../engine/ports.js";
import type { HookResult, NamedHook, Stage, Turn } from "../../engine/turn.js";
import { type Command, IN_SESSION, refuse } from "../../feature/command.js";
import type { FeatureContext, SessionPart, Subscriber } from "../../feature/part.js";
import { text } from "../../protocol/content.js";
import type { SessionId } from "../../protocol/ids.js";
import type { PluginCommand, PluginHook, PluginLifecycle, PluginTool } from "./api.js";
import { isOutcome, isSendable } from "./guard.js";
import { type Lifecycle, lifecyclePart } from "./lifecycle.js";
import type { LoadedPlugin } from "./plugins.js";
import { isStage, toolProblem } from "./registrations.js";

interface PluginContext extends Pick<FeatureContext, "session" | "bus" | "log" | "notify"> {
  readonly isBuiltInTool: (name: string) => boolean;
}

/** Returns what they add, with their lifecycles. */
export function pluginPart(plugins: readonly LoadedPlugin[], context: PluginContext): SessionPart {
  return withLifecycles(ownPart(plugins, context), plugins, context);
}

function ownPart(plugins: readonly LoadedPlugin[], context: PluginContext): SessionPart {
  const { session, bus } = context;
  for (const { registrations } of plugins) {
    registrations.sessions.set(session, (event) => bus.publish("CustomEvent", event));
  }
  const sources = new SourceTools(plugins, context);
  const own = toolsOf(plugins);
  return {
    name: "plugins",
    hooks: hooksOf(plugins),
    links: {
      request: plugins.flatMap(({ registrations, guard }) =>
        registrations.requestLinks.map((link) => guard.requestLink(link)),
      ),
      tool: plugins.flatMap(({ registrations, guard }) => registrations.toolLinks.map((link) => guard.toolLink(link))),
    },
    tools: () => [...own.filter(({ guard }) => !guard.isOff).map(({ tool }) => tool), ...sources.tools],
    ...(plugins.some(({ registrations }) => registrations.sources.length > 0) && { refresh: () => sources.refresh() }),
    subscribers: plugins.flatMap(subscriberOf),
    commands: plugins.flatMap(({ registrations }) =>
      registrations.commands.map((command) => commandOf(command, { namespace: registrations.namespace, session })),
    ),
    close: () => {
      for (const { registrations } of plugins) registrations.sessions.delete(session);
    },
  };
}

/** For lists: the tools that a session would have, with those of sources. */
export async function listTools(
  plugins: readonly LoadedPlugin[],
  context: Pick<PluginContext, "notify" | "isBuiltInTool">,
): Promise<readonly Tool[]> {
  const sources = new SourceTools(plugins, context);
  await sources.refresh();
  return [...toolsOf(plugins).map(({ tool }) => tool), ...sources.tools];
}

function toolsOf(plugins: readonly LoadedPlugin[]) {
  return plugins.flatMap(({ from, registrations, guard }) =>
    registrations.tools.map((tool) => ({ tool: toolOf(tool, from), guard })),
  );
}

function hooksOf(plugins: readonly LoadedPlugin[]): Partial<Record<Stage, readonly NamedHook[]>> {
  const hooks: Partial<Record<Stage, NamedHook[]>> = {};
  for (const { registrations, guard } of plugins) {
    for (const { stage, hook } of registrations.hooks) {
      const where = `${stage}/${hook.name}`;
      const named: NamedHook = { name: hook.name, run: (turn) => guard.wait(where, () => runHook(hook, turn)) };
      hooks[stage] = [...(hooks[stage] ?? []), named];
    }
  }
  return hooks;
}

/** Throws if the hook leaves an invalid result; the request is then restored. */
async function runHook(hook: PluginHook, turn: Turn): Promise<HookResult> {
  const { request } = turn;
  try {
    const result = await hook.run(turn);
    if (turn.request !== undefined && turn.request !== request && !isSendable(turn.request)) {
      throw new Error("it left a request that cannot be sent");
    }
    if (result === undefined || result === null) return undefined;
    if ("stop" in result && typeof result.stop === "string") return result;
    if ("next" in result && isStage(result.next)) return result;
    throw new Error("its result is neither a stage nor a reason to stop");
  } catch (error) {
    turn.request = request;
    throw error;
  }
}

function subscriberOf({ name, registrations, guard }: LoadedPlugin): readonly Subscriber[] {
  const { listeners } = registrations;
  if (listeners.length === 0) return [];
  const run: Subscriber["run"] = (event) => {
    // The plugin must not change the event: the log may still use it.
    for (const listener of listeners) guard.call("a subscriber", () => listener(structuredClone(event)));
  };
  return [{ name: `65-plugin-${name}`, run }];
}

/** The tools of sources, as of the last iteration. */
class SourceTools {
  readonly #plugins: readonly LoadedPlugin[];
  readonly #context: Pick<PluginContext, "notify" | "isBuiltInTool">;
  readonly #reported = new Set<string>();
  tools: readonly Tool[] = [];

  constructor(plugins: readonly LoadedPlugin[], context: Pick<PluginContext, "notify" | "isBuiltInTool">) {
    this.#plugins = plugins;
    this.#context = context;
  }

  async refresh(): Promise<void> {
    const lists = await Promise.all(
      this.#plugins.flatMap(({ name, from, registrations, guard }) =>
        registrations.sources.map(async (source) => {
          const tools = (await guard.wait(`the tool source ${source.name}`, () => source.list())) ?? [];
          if (guard.isOff || !Array.isArray(tools)) return [];
          return tools.filter((tool) => this.#isUsable(name, tool)).map((tool) => toolOf(tool, from));
        }),
      ),
    );
    this.tools = lists.flat();
  }

  #isUsable(plugin: string, tool: PluginTool): boolean {
    const problem = toolProblem(tool) ?? this.#ownerProblem(plugin, tool.name);
    if (problem === undefined) return true;
    const message = `A tool of the plugin ${plugin} is left out: ${problem}.`;
    if (!this.#reported.has(message)) this.#context.notify(message);
    this.#reported.add(message);
    return false;
  }

  #ownerProblem(plugin: string, tool: string): string | undefined {
    if (this.#context.isBuiltInTool(tool)) return `the tool "${tool}" is built in`;
    const owner = this.#plugins.find(
      ({ name, registrations }) => name !== plugin && registrations.tools.some((each) => each.name === tool),
    );
    return owner && `the plugin ${owner.name} has the tool "${tool}", too`;
  }
}

/** It counts as a command for permissions: unless a rule allows it, Oxbow asks the user. */
function toolOf(tool: PluginTool, path: string): Tool {
  const { name, description, inputSchema, concurrencySafe = false, mutating = true } = tool;
  return {
    ...{ name, description, inputSchema, concurrencySafe, mutating },
    set: "command",
    extension: { path, needs: [] },
    run: async (args, context): Promise<ToolOutcome> => {
      const result = await tool.run(args, context);
      if (typeof result === "string") return { status: "ok", content: [text(result)] };
      if (isOutcome(result)) return result;
      return { status: "ok", content: [text(JSON.stringify(result) ?? "")] };
    },
  };
}

function commandOf(
  command: PluginCommand,
  { namespace, session }: { readonly namespace: string; readonly session: SessionId },
): Command {
  const { name, summary, usage } = command;
  return {
    name: `${namespace}:${name}`,
    summary,
    ...(usage !== undefined && { usage }),
    arguments: [{ name: "ARGS", kind: "line", optional: true, rest: "text" }],
    // Its code runs with the rights of the user.
    places: IN_SESSION,
    run: async (args, { signal }) => {
      try {
        const answer = await command.run(args.text("ARGS") ?? "", { signal, session });
        if (typeof answer === "string") return { text: answer, value: answer };
        return { text: String(answer.text), value: answer.value ?? null };
      } catch (error) {
        return refuse(`/${namespace}:${name} failed: ${(error as Error)?.message ?? String(error)}`);
      }
    },
  };
}

function withLifecycles(own: SessionPart, plugins: readonly LoadedPlugin[], context: PluginContext): SessionPart {
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
