/** Describes what a hook does: the five kinds of handlers that settings can have. */
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { type HookEvent, takesModels, takesRequests } from "./hook-events.js";

export interface CommandHandler {
  readonly type: "command";
  /** A shell command, or a program if there are `args`. */
  readonly command: string;
  readonly args?: readonly string[];
}

/** Sends the input to an address. */
export interface HttpHandler {
  readonly type: "http";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The variables that headers may contain. */
  readonly variables: readonly string[];
}

/** Asks a model: once, or as a subagent that can look around. */
export interface ModelHandler {
  readonly type: "prompt" | "agent";
  readonly prompt: string;
  readonly model?: string;
  /** A refusal goes to the model of the turn instead of ending the turn. */
  readonly continuesOnBlock: boolean;
}

/** Calls a tool of an MCP server. */
export interface McpHandler {
  readonly type: "mcp_tool";
  readonly server: string;
  readonly tool: string;
  readonly input: JsonObject;
}

export type HookHandler = CommandHandler | HttpHandler | ModelHandler | McpHandler;

type Table = Readonly<Record<string, unknown>>;

/** The handler, or why it does not run. */
export function readHandler(handler: Table, event: HookEvent): HookHandler | string {
  switch (handler.type) {
    case "command":
      return readCommand(handler, event);
    case "http":
      return readHttp(handler, event);
    case "prompt":
    case "agent":
      return readModel(handler, event);
    case "mcp_tool":
      return readTool(handler, event);
    default: {
      const type = typeof handler.type === "string" ? `of the unknown type ${handler.type}` : "without a type";
      return `a ${event} hook ${type} does not run. There are command, http, prompt, agent and mcp_tool.`;
    }
  }
}

export function commandOf({ command, cmd }: Table): string | undefined {
  return lineOf(command ?? cmd);
}

/** For lists and messages. */
export function shownHandler(handler: HookHandler): string {
  switch (handler.type) {
    case "command":
      return [handler.command, ...(handler.args ?? [])].join(" ");
    case "http":
      return `POST ${handler.url}`;
    case "mcp_tool":
      return `MCP tool ${handler.tool} of ${handler.server}`;
    default:
      return `${handler.type}: ${handler.prompt}`;
  }
}

function readCommand(handler: Table, event: HookEvent): HookHandler | string {
  const command = commandOf(handler);
  if (command === undefined) return `a ${event} hook has no command.`;
  const { args, shell } = handler;
  if (typeof shell === "string" && shell !== "bash" && shell !== "sh" && !Array.isArray(args))
    return `a ${event} hook for ${shell} does not run: Oxbow uses bash.`;
  return { type: "command", command, ...(Array.isArray(args) && { args: args.map(String) }) };
}

function readHttp({ url, headers, allowedEnvVars }: Table, event: HookEvent): HookHandler | string {
  if (!takesRequests(event)) return `a ${event} hook of type http does not run: this event takes commands only.`;
  const address = lineOf(url);
  if (address === undefined || !/^https?:\/\//i.test(address) || !URL.canParse(address))
    return `the url of a ${event} hook is not an address that begins with http:// or https://.`;
  const written = Object.entries(isTable(headers) ? headers : {});
  const broken = written.find(([name, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || lineOf(value) === undefined);
  if (broken !== undefined) return `the header ${broken[0]} of a ${event} hook is not valid.`;
  return {
    type: "http",
    url: address,
    headers: Object.fromEntries(written.map(([name, value]) => [name, String(value)])),
    variables: Array.isArray(allowedEnvVars) ? allowedEnvVars.map(String) : [],
  };
}

function readModel({ type, prompt, model, continueOnBlock }: Table, event: HookEvent): HookHandler | string {
  if (!takesModels(event)) return `a ${event} hook of type ${type} does not run: this event takes no model calls.`;
  if (typeof prompt !== "string" || prompt.trim() === "") return `a ${event} hook of type ${type} has no prompt.`;
  const name = lineOf(model);
  const kind = type === "agent" ? "agent" : "prompt";
  return {
    ...{ type: kind, prompt, continuesOnBlock: kind === "agent" || continueOnBlock === true },
    ...(name !== undefined && { model: name }),
  };
}

function readTool({ server, tool, input }: Table, event: HookEvent): HookHandler | string {
  const [from, name] = [lineOf(server), lineOf(tool)];
  if (from === undefined || name === undefined) return `a ${event} hook of type mcp_tool needs a server and a tool.`;
  return { type: "mcp_tool", server: from, tool: name, input: isJsonObject(input) ? input : {} };
}

function lineOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" && !value.includes("\0") ? value : undefined;
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
