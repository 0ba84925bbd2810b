/** What the plugins of the process add to one session. */
import type { Subscriber } from "../../chain/build.js";
import { type Command, refuse } from "../../commands/command.js";
import type { Tool, ToolOutcome } from "../../engine/ports.js";
import type { HookResult, NamedHook, Stage, Turn } from "../../engine/turn.js";
import type { PluginCommand, PluginHook, PluginTool } from "../../extensions/plugins/api.js";
import { isOutcome, isSendable } from "../../extensions/plugins/guard.js";
import type { LoadedPlugin } from "../../extensions/plugins/plugins.js";
import { isStage, toolProblem } from "../../extensions/plugins/registrations.js";
import { text } from "../../protocol/content.js";
import type { SessionId } from "../../protocol/ids.js";
import type { PartContext, SessionPart } from "../part.js";
import { isBuiltInTool } from "../parts/own-tools.js";

export function pluginPart(
  plugins: readonly LoadedPlugin[],
  report: (problem: string) => void,
  { session, bus }: Pick<PartContext, "session" | "bus">,
): SessionPart {
  for (const { registrations } of plugins) {
    registrations.sessions.set(session, (event) => bus.publish("CustomEvent", event));
  }
  const sources = new SourceTools(plugins, report);
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
  report: (problem: string) => void,
): Promise<readonly Tool[]> {
  const sources = new SourceTools(plugins, report);
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
  readonly #report: (problem: string) => void;
  readonly #reported = new Set<string>();
  tools: readonly Tool[] = [];

  constructor(plugins: readonly LoadedPlugin[], report: (problem: string) => void) {
    this.#plugins = plugins;
    this.#report = report;
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
    if (!this.#reported.has(message)) this.#report(message);
    this.#reported.add(message);
    return false;
  }

  #ownerProblem(plugin: string, tool: string): string | undefined {
    if (isBuiltInTool(tool)) return `the tool "${tool}" is built in`;
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
    reaches: "user",
    users: ["people"],
    places: ["during a turn", "between turns"],
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
