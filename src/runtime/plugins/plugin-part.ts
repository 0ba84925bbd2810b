/** What the plugins of the process add to one session. */
import type { Subscriber } from "../../chain/build.js";
import { type Command, refuse } from "../../commands/command.js";
import type { Tool, ToolOutcome } from "../../engine/ports.js";
import type { NamedHook, Stage } from "../../engine/turn.js";
import type { PluginCommand, PluginTool } from "../../extensions/plugins/api.js";
import type { LoadedPlugin } from "../../extensions/plugins/plugins.js";
import { toolProblem } from "../../extensions/plugins/registrations.js";
import { text } from "../../protocol/content.js";
import type { SessionPart } from "../part.js";
import { isBuiltInTool } from "../parts/executables.js";

export function pluginPart(plugins: readonly LoadedPlugin[], report: (problem: string) => void): SessionPart {
  const sources = new SourceTools(plugins, report);
  const own = plugins.flatMap(({ from, registrations, guard }) =>
    registrations.tools.map((tool) => ({ tool: toolOf(tool, from), guard })),
  );
  return {
    name: "plugins",
    hooks: hooksOf(plugins),
    links: {
      request: plugins.flatMap(({ registrations, guard }) =>
        registrations.requestLinks.map((link) => guard.requestLink(link)),
      ),
      tool: plugins.flatMap(({ registrations, guard }) => registrations.toolLinks.map((link) => guard.link(link))),
    },
    tools: () => [...own.filter(({ guard }) => !guard.isOff).map(({ tool }) => tool), ...sources.tools],
    ...(plugins.some(({ registrations }) => registrations.sources.length > 0) && { refresh: () => sources.refresh() }),
    subscribers: plugins.flatMap(subscriberOf),
    commands: plugins.flatMap(({ registrations }) =>
      registrations.commands.map((command) => commandOf(command, registrations.namespace)),
    ),
  };
}

function hooksOf(plugins: readonly LoadedPlugin[]): Partial<Record<Stage, readonly NamedHook[]>> {
  const hooks: Partial<Record<Stage, NamedHook[]>> = {};
  for (const { registrations, guard } of plugins) {
    for (const { stage, hook } of registrations.hooks) {
      const named: NamedHook = {
        name: hook.name,
        run: (turn) => guard.wait(`${stage}/${hook.name}`, () => hook.run(turn)),
      };
      hooks[stage] = [...(hooks[stage] ?? []), named];
    }
  }
  return hooks;
}

function subscriberOf({ name, registrations, guard }: LoadedPlugin): readonly Subscriber[] {
  const { listeners } = registrations;
  if (listeners.length === 0) return [];
  const run: Subscriber["run"] = (event) => {
    for (const listener of listeners) guard.call("a subscriber", () => listener(event));
  };
  return [{ name: `65-plugin-${name}`, run }];
}

/** The tools of sources, as they were before the last iteration. */
class SourceTools {
  readonly #plugins: readonly LoadedPlugin[];
  readonly #report: (problem: string) => void;
  readonly #told = new Set<string>();
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
    const isTaken = isBuiltInTool(tool?.name ?? "") ? `the tool "${tool.name}" is built in` : undefined;
    const problem = toolProblem(tool) ?? isTaken;
    if (problem === undefined) return true;
    const message = `A tool of the plugin ${plugin} is left out: ${problem}.`;
    if (!this.#told.has(message)) this.#report(message);
    this.#told.add(message);
    return false;
  }
}

/** It counts as a command for permissions: unless a rule allows it, the user is asked. */
function toolOf(tool: PluginTool, path: string): Tool {
  const { name, description, inputSchema, concurrencySafe = false, mutating = true } = tool;
  return {
    ...{ name, description, inputSchema, concurrencySafe, mutating },
    set: "command",
    extension: { path, needs: [] },
    run: async (args, context): Promise<ToolOutcome> => {
      const result = await tool.run(args, context);
      if (typeof result === "string") return { status: "ok", content: [text(result)] };
      if (Array.isArray(result?.content) && typeof result.status === "string") return result;
      return { status: "ok", content: [text(JSON.stringify(result) ?? "")] };
    },
  };
}

function commandOf(command: PluginCommand, namespace: string): Command {
  const { name, summary, usage } = command;
  return {
    name: `${namespace}:${name}`,
    summary,
    ...(usage !== undefined && { usage }),
    arguments: [{ name: "ARGS", kind: "line", optional: true, rest: "text" }],
    users: ["people"],
    places: ["during a turn", "between turns"],
    run: async (args, { signal }) => {
      try {
        const answer = await command.run(args.text("ARGS") ?? "", { signal });
        if (typeof answer === "string") return { text: answer, value: answer };
        return { text: String(answer.text), value: answer.value ?? null };
      } catch (error) {
        return refuse(`/${namespace}:${name} failed: ${(error as Error)?.message ?? String(error)}`);
      }
    },
  };
}
