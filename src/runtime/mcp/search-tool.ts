/** The tool by which the model finds tools that are not in its list. */
import type { ToolOutcome } from "../../engine/ports.js";
import { searchTools } from "../../extensions/mcp/search-tools.js";
import type { McpServer } from "../../extensions/mcp/server.js";
import { toolName } from "../../extensions/mcp/tool-names.js";
import { ownText, type ResultContent, text } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";

export interface SearchPlace {
  readonly servers: () => readonly McpServer[];
  /** They are in the list from the next request on. */
  readonly activate: (found: readonly { readonly server: McpServer; readonly name: string }[]) => void;
}

const MOST_FOUND = 8;
const MOST_NAMES = 400;

export async function search(
  args: JsonObject,
  { place, signal }: { readonly place: SearchPlace; readonly signal: AbortSignal },
): Promise<ToolOutcome> {
  const query = String(args.query ?? "");
  const wanted = typeof args.server === "string" ? args.server.toLowerCase() : undefined;
  const all = place.servers();
  const servers = wanted === undefined ? all : all.filter(({ config }) => config.name.toLowerCase() === wanted);
  if (servers.length === 0) return { status: "error", content: [ownText(`There is no server with this name.`)] };
  await Promise.all(servers.map((server) => server.ready(signal).catch(() => undefined)));
  if (signal.aborted) return { status: "cancelled", content: [ownText("Cancelled.")] };
  const tools = servers.flatMap((server) =>
    server.tools.map((tool) => ({ ...tool, server: server.config.name, from: server })),
  );
  const notes = servers.filter(({ state }) => state !== "ready").map((server) => ownText(server.whyNot()));
  if (query.trim() === "") {
    const names = tools.map(({ server, name }) => toolName(server, name));
    const rest = names.length - MOST_NAMES;
    const list = `${names.slice(0, MOST_NAMES).join("\n")}${rest > 0 ? `\n… and ${rest} more` : ""}`;
    return { status: "ok", content: [...notes, text(list === "" ? "No tools." : list)] };
  }
  const found = searchTools(tools, query).slice(0, MOST_FOUND);
  place.activate(found.map(({ from, name }) => ({ server: from, name })));
  if (found.length === 0)
    return { status: "ok", content: [...notes, ownText("No tool fits. Try other words, or an empty query.")] };
  const shown = found.map((tool): ResultContent => {
    const { name, server, description: about, inputSchema } = tool;
    return text(`${toolName(server, name)}\n${about}\nSchema: ${JSON.stringify(inputSchema)}`);
  });
  const advice = ownText(`You can call ${found.length === 1 ? "it" : "them"} from now on:`);
  return { status: "ok", content: [...notes, advice, ...shown, ...instructionsOf(found.map(({ from }) => from))] };
}

function instructionsOf(servers: readonly McpServer[]): readonly ResultContent[] {
  return [...new Set(servers)].flatMap((server) => {
    const { instructions, config } = server;
    return instructions === undefined
      ? []
      : [text(`What the MCP server ${config.name} says about itself:\n${instructions}`)];
  });
}
