/** Tools of servers as tools of a session: with its permissions, ledger, audit and redaction, like every other tool. */
import { safeLine } from "../../base/terminal-text.js";
import type { Tool, ToolContext, ToolOutcome } from "../../engine/ports.js";
import { ownText } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import type { OfferedTool } from "./offered-tools.js";
import { splitSchema } from "./schema-words.js";
import { checkerOf } from "./schemas.js";
import type { McpServer } from "./server.js";
import type { ServerUser } from "./server-requests.js";
import { NotOffered, ServerUnavailable } from "./server-state.js";
import { toolName } from "./tool-names.js";
import { resultOf, serverText } from "./tool-result.js";

export interface ToolPlace {
  readonly user: ServerUser;
  /** Marks text of a server. */
  readonly wrap: (text: string, about: { readonly source: string; readonly kind: string }) => string;
}

export function sessionTool(server: McpServer, offered: OfferedTool, place: ToolPlace): Tool {
  const { config } = server;
  const isReading = config.trustsHints && offered.readOnlyHint;
  const { structure, words } = splitSchema(offered.inputSchema);
  return {
    name: toolName(config.name, offered.name),
    description: describe(server, offered, { place, words }),
    inputSchema: structure,
    set: "command",
    concurrencySafe: isReading,
    mutating: !isReading,
    extension: { path: config.path, needs: [] },
    check: async (args) => (await checkerOf(offered.inputSchema))(args),
    run: (args, context) => runTool(server, offered, { args, context, place }),
  };
}

function describe(
  { config }: McpServer,
  { title, description }: OfferedTool,
  { place: { wrap }, words: ofArguments }: { readonly place: ToolPlace; readonly words: readonly string[] },
): string {
  const said = [title, description].filter((part) => part !== undefined && part !== "").join(": ");
  const words = [
    ...(said === "" ? [] : [said]),
    ...(ofArguments.length === 0 ? [] : ["Arguments:", ...ofArguments]),
  ].join("\n");
  const source = `MCP server ${config.name}`;
  if (words === "") return `A tool of the ${safeLine(source)}.`;
  return wrap(words, { source, kind: "tool-description" });
}

interface Running {
  readonly args: JsonObject;
  readonly context: ToolContext;
  readonly place: ToolPlace;
}

async function runTool(
  server: McpServer,
  offered: OfferedTool,
  { args, context, place }: Running,
): Promise<ToolOutcome> {
  const { signal } = context;
  try {
    const onProgress = fewer((message) => context.progress(`${message}\n`));
    const result = await server.call(offered, args, { user: place.user, signal, onProgress });
    const { status, content, links } = resultOf(result);
    const details = { server: server.config.name, ...(links.length > 0 && { links: [...links] }) };
    return { status, content, details };
  } catch (error) {
    return failedCall(error, { server, signal });
  }
}

const PROGRESS_MS = 100;
const AT_ONCE = 20;
const MOST_PROGRESS = 200;
const MOST_MESSAGE = 200;

/** Each message is an event in the log of the session, so their number is limited. */
function fewer(show: (message: string) => void): (message: string) => void {
  let count = 0;
  let last = Number.NEGATIVE_INFINITY;
  return (message) => {
    const now = performance.now();
    if (count >= MOST_PROGRESS || (count >= AT_ONCE && now - last < PROGRESS_MS)) return;
    count++;
    last = now;
    show(safeLine(message.slice(0, MOST_MESSAGE)));
  };
}

/** Everything that can go wrong is a result for the model. */
function failedCall(
  error: unknown,
  { server, signal }: { readonly server: McpServer; readonly signal: AbortSignal },
): ToolOutcome {
  const { name } = server.config;
  if (signal.aborted) return { status: "cancelled", content: [ownText("Cancelled.")] };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ServerUnavailable) {
    const content = [
      ownText(`«mcp-server-unavailable» ${message.replace(/\.$/, "")}. Plan without its tools, or tell the user.`),
    ];
    return { status: "error", content, details: { server: name, failure: { reason: "MCPServerUnavailable" } } };
  }
  if (error instanceof NotOffered) return { status: "error", content: [ownText(`Not run: ${error.message}.`)] };
  const isLate = (error as { code?: unknown }).code === "REQUEST_TIMEOUT";
  if (isLate)
    return { status: "timeout", content: [ownText(`MCP server '${safeLine(name)}' did not answer in time.`)] };
  const content = [ownText(`MCP server '${safeLine(name)}' refused the call:`), serverText(message)];
  return { status: "error", content, details: { server: name } };
}

/** For the model before the server has said what it offers: the call waits for it. */
export function expectedTool(server: McpServer, name: string, place: ToolPlace): Tool {
  return {
    name,
    description: "",
    inputSchema: { type: "object" },
    set: "command",
    concurrencySafe: false,
    mutating: true,
    extension: { path: server.config.path, needs: [] },
    check: () => [],
    run: async (args, context) => {
      try {
        await server.ready(context.signal);
        const isIt = (tool: OfferedTool) => toolName(server.config.name, tool.name) === name;
        const offered = server.offered([...server.tools, ...server.withheld].find(isIt)?.name ?? name);
        const problems = (await checkerOf(offered.inputSchema))(args);
        if (problems.length > 0) return { status: "error", content: [ownText(`Not run: ${problems.join("; ")}.`)] };
        return await runTool(server, offered, { args, context, place });
      } catch (error) {
        return failedCall(error, { server, signal: context.signal });
      }
    },
  };
}
