/** The tool by which the model finds tools that are not in its list. */
import type { ToolOutcome } from "../../engine/ports.js";
import { ownText, type ResultContent, text } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import type { OfferedTool } from "./offered-tools.js";
import type { McpServer } from "./server.js";
import { toolName } from "./tool-names.js";

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

interface FoundTool<T> {
  readonly item: T;
  readonly score: number;
}

/** The best first; only those that have something of the query. */
function searchTools<T extends Pick<OfferedTool, "name" | "description"> & { readonly server: string }>(
  tools: readonly T[],
  query: string,
): readonly T[] {
  const wanted = [...new Set(wordsOf(query))];
  if (wanted.length === 0) return [];
  const scored = tools.map((item): FoundTool<T> => {
    const name = wordsOf(item.name);
    const about = new Set(wordsOf(`${item.description} ${item.server}`));
    let score = item.name.toLowerCase() === query.trim().toLowerCase() ? 100 : 0;
    for (const word of wanted) {
      if (name.includes(word)) score += 6;
      else if (name.some((each) => each.startsWith(word) || word.startsWith(each))) score += 4;
      if (about.has(word)) score += 2;
      else if ([...about].some((each) => each.length > 3 && (each.startsWith(word) || word.startsWith(each))))
        score += 1;
    }
    return { item, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || (one.item.name < other.item.name ? -1 : 1))
    .map(({ item }) => item);
}

function wordsOf(text: string): readonly string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1);
}
