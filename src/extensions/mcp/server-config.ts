/** One MCP server, as Oxbow uses it, whatever file it was written in. */

export type McpScope = "user" | "project" | "local" | "session";

export interface StdioTransport {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** The variables that the server names; it gets no others besides the basic ones. */
  readonly env: Readonly<Record<string, string>>;
  /** The file that some of the variables are from, absolute. */
  readonly envFile?: string;
  readonly cwd?: string;
}

export interface RemoteTransport {
  /** `http`: streamable HTTP, and SSE if the server knows only that. */
  readonly kind: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ServerConfig {
  readonly name: string;
  readonly scope: McpScope;
  /** The file that names it. */
  readonly path: string;
  readonly transport: StdioTransport | RemoteTransport;
  /** Of its program, or of the script that the program runs. */
  readonly sha256?: string;
  /** More tools than this are not offered at once. */
  readonly eagerTools: number;
  readonly enabledTools?: readonly string[];
  readonly disabledTools: readonly string[];
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** Says that the server is believed about tools that only read. */
  readonly trustsHints: boolean;
  /** Holds what the sandbox lets it reach. */
  readonly network: "open" | "off";
  readonly sandbox: "on" | "off";
  /** Folders beside the workspace that it may change. */
  readonly writable: readonly string[];
  /** The server may ask for answers of the model. */
  readonly sampling: "ask" | "off";
  /** Variables that are named and not set. */
  readonly unset: readonly string[];
}

export const EAGER_TOOLS = 20;
export const START_TIMEOUT_MS = 30_000;
export const CALL_TIMEOUT_MS = 300_000;
