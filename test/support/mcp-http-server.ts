/** An MCP server with an address: streamable HTTP at `/mcp`, the older SSE at `/sse`, and a sign-in with OAuth where a test wants one. */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Rpc {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: object };
}

export interface HttpServerOptions {
  /** Says whether requests need a token. */
  readonly access?: "open" | "signed-in";
  readonly tokenSeconds?: number;
}

export class McpHttpServer {
  readonly tokens = new Set<string>();
  /** Each request: method, path, and whether it had a token. */
  readonly asked: string[] = [];
  readonly grants: string[] = [];
  tokenSeconds: number;
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #codes = new Map<string, string>();
  readonly #refresh = new Set<string>();
  #stream: ServerResponse | undefined;

  private constructor(options: HttpServerOptions) {
    this.#options = options;
    this.tokenSeconds = options.tokenSeconds ?? 3600;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async open(options: HttpServerOptions = {}): Promise<McpHttpServer> {
    const made = new McpHttpServer(options);
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    let body = "";
    for await (const piece of request) body += piece;
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    this.asked.push(`${request.method} ${pathname}${token === undefined ? "" : " with a token"}`);
    if (pathname.startsWith("/.well-known/") || pathname === "/register")
      return json(response, this.#metadata(pathname, body));
    if (pathname === "/authorize") return this.#authorize(searchParams, response);
    if (pathname === "/token") return this.#token(new URLSearchParams(body), response);
    const isAllowed = this.#options.access !== "signed-in" || (token !== undefined && this.tokens.has(token));
    if (!isAllowed) {
      const challenge = `Bearer resource_metadata="${this.url}/.well-known/oauth-protected-resource/mcp"`;
      response.writeHead(401, { "www-authenticate": challenge }).end();
    } else if (pathname === "/sse" && request.method === "GET") {
      this.#stream = response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: /messages\n\n");
    } else if (pathname === "/messages") {
      const answer = reply(JSON.parse(body) as Rpc, token);
      response.writeHead(202).end();
      if (answer !== undefined) this.#stream?.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
    } else if (pathname === "/mcp" && request.method === "POST") {
      const answer = reply(JSON.parse(body) as Rpc, token);
      if (answer === undefined) response.writeHead(202).end();
      else json(response, answer);
    } else response.writeHead(405).end();
  }

  #metadata(pathname: string, body: string): object {
    const { url } = this;
    if (pathname.includes("protected-resource")) return { resource: `${url}/mcp`, authorization_servers: [url] };
    if (pathname === "/register") return { ...(JSON.parse(body) as object), client_id: "client-1" };
    return {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      registration_endpoint: `${url}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
    };
  }

  #authorize(query: URLSearchParams, response: ServerResponse): void {
    const code = randomBytes(8).toString("hex");
    this.#codes.set(code, query.get("code_challenge") ?? "");
    const back = new URL(query.get("redirect_uri") ?? "");
    back.searchParams.set("code", code);
    back.searchParams.set("state", query.get("state") ?? "");
    response.writeHead(302, { location: back.href }).end();
  }

  #token(fields: URLSearchParams, response: ServerResponse): void {
    const grant = fields.get("grant_type") ?? "";
    this.grants.push(grant);
    const challenge = createHash("sha256")
      .update(fields.get("code_verifier") ?? "")
      .digest("base64url");
    const isCode = grant === "authorization_code" && this.#codes.get(fields.get("code") ?? "") === challenge;
    const isRefresh = grant === "refresh_token" && this.#refresh.delete(fields.get("refresh_token") ?? "");
    if (!isCode && !isRefresh) return void response.writeHead(400).end('{"error":"invalid_grant"}');
    const access = randomBytes(16).toString("hex");
    const refresh = randomBytes(16).toString("hex");
    this.tokens.add(access);
    this.#refresh.add(refresh);
    json(response, {
      access_token: access,
      refresh_token: refresh,
      token_type: "Bearer",
      expires_in: this.tokenSeconds,
    });
  }
}

function reply({ id, method, params }: Rpc, token: string | undefined): object | undefined {
  if (id === undefined) return undefined;
  const result = resultOf(method, params, token);
  if (result === undefined) return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
  return { jsonrpc: "2.0", id, result };
}

function resultOf(method: string | undefined, params: Rpc["params"], token: string | undefined): object | undefined {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "web", version: "1" },
      };
    case "tools/list":
      return { tools: [{ name: "say", description: "Says.", inputSchema: { type: "object" } }] };
    case "tools/call":
      // A careless server repeats the token.
      return {
        content: [{ type: "text", text: `said ${JSON.stringify(params?.arguments)} ${token ?? "without a token"}` }],
      };
    default:
      return undefined;
  }
}

function json(response: ServerResponse, value: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}
