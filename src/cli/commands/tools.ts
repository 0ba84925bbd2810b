/** `oxbow tools`: what the model may call, by set, and which calls run without asking. */
import { safeLine } from "../../base/terminal-text.js";
import type { Variables } from "../../base/variables.js";
import type { Tool } from "../../engine/ports.js";
import type { offeredLast } from "../../extensions/mcp/commands.js";
import { asValue, type Command } from "../../feature/command.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { TOOLS } from "../../runtime/commands/program.js";
import type { Decision } from "../../security/permissions/facts.js";
import { CATALOG, type ToolDefinition, type ToolName } from "../../tools/catalog.js";
import { printMessage } from "../print-message.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { openPlace } from "./permissions.js";

export const shell: ShellCommand = {
  name: "tools",
  specs: [TOOLS],
  about:
    "Lists the built-in tools and whether a typical call of each runs without asking; then those of folders, of plugins and of MCP servers.",
  more: `free: runs without asking · asks: asks you · denied · depends: on the command or the path
(instead: NAME): the model gets that tool for the same work; calls by this name run, too
('oxbow permissions test COMMAND' explains a decision). The decisions follow your settings and rules in this folder.`,
  open: async (flags, variables) => {
    const place = await openPlace(flags, variables);
    const servers = async () => {
      const [{ offeredLast }, { openShellServers }] = await Promise.all([
        import("../../extensions/mcp/commands.js"),
        import("../../runtime/mcp/open-server.js"),
      ]);
      const unchanged = async () => (text: string) => text;
      const shellPlace = { flags, variables, notify: () => {}, redact: unchanged, root: async () => place.root };
      return offeredLast((await openShellServers(shellPlace)).port);
    };
    const ofPlugins = () => pluginTools(flags, variables, place.root);
    return { commands: [toolsCommand(place, { servers, ofPlugins })], close: place.close };
  },
};

/** Loads the approved plugins as a run does, and ends them. */
async function pluginTools(flags: ParsedFlags, variables: Variables, root: string): Promise<readonly PluginTool[]> {
  const [{ loadSettings }, { enterPlace }, { pluginsOf }, { nodeClock }] = await Promise.all([
    import("../../runtime/settings/settings.js"),
    import("../../runtime/content/enter-place.js"),
    import("../../runtime/plugins/plugins-of.js"),
    import("../../system/node-clock.js"),
  ]);
  const quiet = { notify: () => {}, color: false, width: 80, skipUnapproved: true, allowProjectHooks: false };
  const entered = await enterPlace({ loaded: await loadSettings(flags, variables), variables, root, ...quiet });
  if ("failure" in entered) return [];
  const plugins = await pluginsOf({
    ...entered,
    variables,
    root,
    clock: nodeClock,
    log: () => {},
    notify: printMessage,
  });
  if (plugins === undefined) return [];
  const [{ closePlugins }, { listTools }, { isBuiltInTool }] = await Promise.all([
    import("../../extensions/plugins/plugins.js"),
    import("../../extensions/plugins/part.js"),
    import("../../runtime/parts/own-tools.js"),
  ]);
  const tools = await listTools(plugins, { notify: printMessage, isBuiltInTool });
  await closePlugins(plugins);
  return tools.map(({ name, description, inputSchema, extension }) => {
    return { name, plugin: extension?.path ?? "", description, inputSchema };
  });
}

export const run = shellRunner(shell);

const WORDS: Readonly<Record<Decision, string>> = { allow: "free", ask: "asks", deny: "denied" };

type Servers = Awaited<ReturnType<typeof offeredLast>>;
type PluginTool = Pick<Tool, "name" | "description" | "inputSchema"> & { readonly plugin: string };

function toolsCommand(
  place: Awaited<ReturnType<typeof openPlace>>,
  others: { readonly servers: () => Promise<Servers>; readonly ofPlugins: () => Promise<readonly PluginTool[]> },
): Command {
  return {
    ...TOOLS,
    run: async () => {
      const tools = place.tools.list();
      const permissions = new Map<string, string>();
      for (const { name } of tools) permissions.set(name, await permissionOf(name, place.judge));
      const width = Math.max(...tools.map((tool) => tool.name.length));
      const lines = tools.map((tool) => {
        const { name, set, description } = tool;
        const summary = `${insteadOf(tool, tools)}${firstLine(description)}`;
        return `${name.padEnd(width)}  ${set.padEnd(7)}  ${(permissions.get(name) ?? "").padEnd(7)}  ${summary}`;
      });
      const value = tools.map(({ name, set, mutating, description, inputSchema }) => ({
        ...{ name, set, mutating, permission: permissions.get(name) },
        ...{ description, inputSchema },
      }));
      const isWanted = ({ name }: { readonly name: string }) => place.choice.offers(name, undefined);
      const own = (await place.programs()).filter(({ value }) => isWanted(value));
      const ofPlugins = (await others.ofPlugins()).filter(isWanted);
      const servers = await others.servers();
      const offered = servers.flatMap(({ server, tools: all }) =>
        all.filter(isWanted).map(({ name, description, inputSchema }) => ({ name, server, description, inputSchema })),
      );
      const missing = place.choice.missing(
        (tool) =>
          tools.some(({ name }) => name === tool) ||
          [...offered, ...ofPlugins, ...own.map(({ value }) => value)].some(({ name }) => name === tool),
      );
      const more = own.length === 0 ? [] : ["", "Programs in folders:", ...own.map(({ line }) => line)];
      if (ofPlugins.length > 0) {
        const lines = ofPlugins.map(({ name, description, plugin }) => {
          return `${safeLine(name)}  ${safeLine(firstLine(description))}  (${safeLine(plugin)})`;
        });
        more.push("", "Tools of plugins:", ...lines);
      }
      if (servers.length > 0) {
        const of = (name: string) => `  'oxbow mcp test ${name}' lists its tools; it has not been connected yet.`;
        more.push(
          ...["", "Tools of MCP servers, as they were listed last:"],
          ...offered.map(({ name, description }) => `${safeLine(name)}  ${safeLine(firstLine(description))}`),
          ...servers.filter((each) => each.tools.length === 0).map(({ server }) => `${safeLine(server)}${of(server)}`),
        );
      }
      if (missing.length > 0)
        more.push("", `Your tool set names these, which nothing here offers: ${missing.join(", ")}`);
      return {
        text: [...lines, ...more].join("\n"),
        value: asValue([...value, ...own.map((each) => each.value), ...ofPlugins, ...offered]),
      };
    },
  };
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}

/** Says which tool some models get instead: a request has only one for the same work. */
function insteadOf({ replacedBy }: Pick<Tool, "replacedBy">, tools: readonly Pick<Tool, "name">[]): string {
  if (replacedBy === undefined || !tools.some(({ name }) => name === replacedBy.tool)) return "";
  return `(or ${replacedBy.tool}, by the model) `;
}

/** Uses the same code as a run, so the answer cannot differ from what a run does. */
async function permissionOf(name: string, judge: Awaited<ReturnType<typeof openPlace>>["judge"]): Promise<string> {
  const known: ToolDefinition | undefined = Object.hasOwn(CATALOG, name) ? CATALOG[name as ToolName] : undefined;
  const { samples = [{}] } = known ?? {};
  const verdicts = await Promise.all(samples.map((args) => judge(name, args)));
  const words = new Set(verdicts.flatMap((verdict) => (verdict === undefined ? [] : [WORDS[verdict.decision]])));
  const [only] = words;
  return words.size === 1 && only !== undefined ? only : "depends";
}
