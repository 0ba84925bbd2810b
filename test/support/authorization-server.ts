/**
 * An authorization server that is as strict as the standards require (RFC 6749, 7636, 8628), with a model behind it that requires the
 * tokens. One for all providers: `/NAME/authorize`, `/NAME/token`, `/NAME/device`, `/NAME/exchange`, `/NAME/api/…`.
 *
 * 1. A code is valid once, for the client, the redirect address and the verifier of its request.
 * 2. A refresh token is valid once. If it is used again, all tokens that came from it are revoked.
 * 3. It has its own clock: `advance` makes tokens old.
 */
import { createHash } from "node:crypto";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ServerOptions {
  /** Says where requests for models go once the token was accepted. */
  readonly upstream?: string;
  readonly accessSeconds?: number;
  /** `once` (the default) or `kept`: no new refresh token comes with a new access token. */
  readonly rotation?: "once" | "kept";
  /** Holds what the person does at the page. */
  readonly person?: "agrees" | "refuses";
  /** Put into tokens as OpenAI does. */
  readonly accountId?: string;
}

interface Grant {
  readonly client: string;
  readonly redirect: string;
  readonly challenge: string;
}

interface Family {
  revoked: boolean;
}

interface Device {
  readonly userCode: string;
  verdict: "pending" | "agreed" | "refused" | "expired";
  slowDowns: number;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly at: number;
}

export class AuthorizationServer {
  readonly url: string;
  readonly seen: SeenRequest[] = [];
  /** Answers that are given instead of the next ones of a path's end, such as `token`. */
  readonly instead = new Map<string, { status: number; body: unknown }[]>();
  person: "agrees" | "refuses";
  accessSeconds: number;
  /** Waited for before the token endpoint answers. */
  beforeToken: () => Promise<void> = async () => {};
  deviceIntervalSeconds = 5;
  deviceSlowDowns = 0;
  #skewMs = 0;
  #count = 0;
  readonly #options: ServerOptions;
  readonly #codes = new Map<string, Grant>();
  readonly #refresh = new Map<string, Family>();
  readonly #access = new Map<string, { until: number; family: Family }>();
  readonly #devices = new Map<string, Device>();
  readonly #accounts = new Set<string>();
  readonly #server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));

  private constructor(options: ServerOptions, port: number) {
    this.#options = options;
    this.person = options.person ?? "agrees";
    this.accessSeconds = options.accessSeconds ?? 3600;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async open(options: ServerOptions = {}): Promise<AuthorizationServer> {
    const probe = createServer();
    const port = await new Promise<number>((resolve) =>
      probe.listen(0, "127.0.0.1", () => resolve((probe.address() as AddressInfo).port)),
    );
    await new Promise((resolve) => probe.close(resolve));
    const server = new AuthorizationServer(options, port);
    await new Promise<void>((resolve, reject) => {
      server.#server.once("error", reject);
      server.#server.listen(port, "127.0.0.1", resolve);
    });
    return server;
  }

  async close(): Promise<void> {
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }

  now(): number {
    return Date.now() + this.#skewMs;
  }

  advance(ms: number): void {
    this.#skewMs += ms;
  }

  /** Revokes all tokens, as when the user removes the program from the account. */
  revokeAll(): void {
    for (const family of this.#refresh.values()) family.revoked = true;
    for (const { family } of this.#access.values()) family.revoked = true;
    this.#accounts.clear();
  }

  /** Tells what the person does with the code that was shown. */
  decide(userCode: string, verdict: "agreed" | "refused" | "expired"): void {
    for (const device of this.#devices.values()) if (device.userCode === userCode) device.verdict = verdict;
  }

  /** Requests whose path ends so. */
  asked(end: string): readonly SeenRequest[] {
    return this.seen.filter(({ path }) => path.split("?")[0]?.endsWith(end));
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<ServerResponse> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    const { method = "", url: path = "", headers } = incoming;
    this.seen.push({ method, path, headers, body, at: this.now() });
    const url = new URL(path, this.url);
    const [, , what = ""] = url.pathname.split("/");
    const planned = this.instead.get(what)?.shift();
    if (planned !== undefined) return json(outgoing, planned.status, planned.body);
    if (what === "authorize") return this.#authorize(url.searchParams, outgoing);
    if (what === "code") return text(outgoing, `${url.searchParams.get("code")}#${url.searchParams.get("state")}`);
    if (what === "token") {
      await this.beforeToken();
      return this.#token(incoming, body, outgoing);
    }
    if (what === "device") return this.#device(url, new URLSearchParams(body), outgoing);
    if (what === "exchange") return this.#exchange(incoming, outgoing);
    if (what === "api") return this.#api(incoming, body, outgoing);
    return json(outgoing, 404, { error: "not_found" });
  }

  #authorize(query: URLSearchParams, outgoing: ServerResponse): ServerResponse {
    const redirect = query.get("redirect_uri") ?? "";
    const challenge = query.get("code_challenge") ?? "";
    const wrong =
      (query.get("response_type") !== "code" && "response_type") ||
      (!query.get("client_id") && "client_id") ||
      (!URL.canParse(redirect) && "redirect_uri") ||
      (query.get("code_challenge_method") !== "S256" && "code_challenge_method") ||
      (!/^[\w-]{43}$/.test(challenge) && "code_challenge") ||
      (!query.get("state") && "state") ||
      (!query.get("scope") && "scope");
    if (wrong) return json(outgoing, 400, { error: "invalid_request", error_description: wrong });
    const back = new URL(redirect);
    back.searchParams.set("state", query.get("state") ?? "");
    if (this.person === "refuses") back.searchParams.set("error", "access_denied");
    else {
      const code = this.#name("code");
      this.#codes.set(code, { client: query.get("client_id") ?? "", redirect, challenge });
      back.searchParams.set("code", code);
    }
    return outgoing.writeHead(302, { location: back.href }).end();
  }

  #token(incoming: IncomingMessage, body: string, outgoing: ServerResponse): ServerResponse {
    const isJson = incoming.headers["content-type"] === "application/json";
    if (incoming.method !== "POST") return json(outgoing, 405, { error: "invalid_request" });
    const fields = new Map<string, string>(
      isJson ? Object.entries(JSON.parse(body) as Record<string, string>) : new URLSearchParams(body),
    );
    const field = (name: string) => fields.get(name) ?? "";
    switch (field("grant_type")) {
      case "authorization_code":
        return this.#redeem(field, outgoing);
      case "refresh_token":
        return this.#renew(field("refresh_token"), outgoing);
      case "urn:ietf:params:oauth:grant-type:device_code":
        return this.#poll(field("device_code"), outgoing);
      default:
        return json(outgoing, 400, { error: "unsupported_grant_type" });
    }
  }

  #redeem(field: (name: string) => string, outgoing: ServerResponse): ServerResponse {
    const grant = this.#codes.get(field("code"));
    this.#codes.delete(field("code"));
    const challenge = createHash("sha256").update(field("code_verifier")).digest("base64url");
    const good =
      grant !== undefined &&
      grant.client === field("client_id") &&
      grant.redirect === field("redirect_uri") &&
      grant.challenge === challenge &&
      field("code_verifier").length >= 43;
    if (!good) return json(outgoing, 400, { error: "invalid_grant", error_description: `bad code ${field("code")}` });
    return json(outgoing, 200, this.#issue({ revoked: false }));
  }

  #renew(token: string, outgoing: ServerResponse): ServerResponse {
    const family = this.#refresh.get(token);
    const used = family === undefined && token.startsWith("refresh");
    if (used) this.revokeAll();
    if (family === undefined || family.revoked) {
      const description = `refresh token ${token} is ${used ? "used" : "unknown"}`;
      return json(outgoing, 400, { error: "invalid_grant", error_description: description });
    }
    if (this.#options.rotation !== "kept") this.#refresh.delete(token);
    return json(outgoing, 200, this.#issue(family));
  }

  #issue(family: Family): Record<string, unknown> {
    const { accountId, rotation = "once" } = this.#options;
    const access = accountId === undefined ? this.#name("access") : this.#jwt(accountId);
    this.#access.set(access, { until: this.now() + this.accessSeconds * 1000, family });
    const first = ![...this.#refresh.values()].includes(family);
    const refresh = this.#name("refresh");
    const renewed = rotation === "once" || first;
    if (renewed) this.#refresh.set(refresh, family);
    return {
      access_token: access,
      token_type: "Bearer",
      expires_in: this.accessSeconds,
      ...(renewed && { refresh_token: refresh }),
    };
  }

  #device(url: URL, fields: URLSearchParams, outgoing: ServerResponse): ServerResponse {
    if (!fields.get("client_id")) return json(outgoing, 400, { error: "invalid_client" });
    const deviceCode = this.#name("device");
    const userCode = `WXYZ-${String(this.#count).padStart(4, "0")}`;
    this.#devices.set(deviceCode, { userCode, verdict: "pending", slowDowns: this.deviceSlowDowns });
    return json(outgoing, 200, {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: `${this.url}${url.pathname}/page`,
      expires_in: 900,
      interval: this.deviceIntervalSeconds,
    });
  }

  /** GitHub reports these with status 200. */
  #poll(deviceCode: string, outgoing: ServerResponse): ServerResponse {
    const device = this.#devices.get(deviceCode);
    if (device === undefined) return json(outgoing, 200, { error: "incorrect_device_code" });
    if (device.slowDowns-- > 0) return json(outgoing, 200, { error: "slow_down", interval: 10 });
    if (device.verdict === "pending") return json(outgoing, 200, { error: "authorization_pending" });
    if (device.verdict === "refused") return json(outgoing, 200, { error: "access_denied" });
    if (device.verdict === "expired") return json(outgoing, 200, { error: "expired_token" });
    this.#devices.delete(deviceCode);
    const account = this.#name("account");
    this.#accounts.add(account);
    return json(outgoing, 200, { access_token: account, token_type: "bearer", scope: "read:user" });
  }

  #exchange({ headers }: IncomingMessage, outgoing: ServerResponse): ServerResponse {
    const account = /^token (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
    if (!this.#accounts.has(account)) return json(outgoing, 401, { message: `Bad credentials ${account}` });
    if (!headers["editor-version"]) return json(outgoing, 400, { message: "missing Editor-Version" });
    const access = this.#name("access");
    const until = this.now() + this.accessSeconds * 1000;
    this.#access.set(access, { until, family: { revoked: false } });
    return json(outgoing, 200, {
      token: access,
      expires_at: Math.floor(until / 1000),
      endpoints: { api: `${this.url}/copilot/api/moved` },
    });
  }

  #api(incoming: IncomingMessage, body: string, outgoing: ServerResponse): ServerResponse {
    const token = /^Bearer (.+)$/.exec(incoming.headers.authorization ?? "")?.[1] ?? "";
    const known = this.#access.get(token);
    if (known === undefined || known.family.revoked || known.until <= this.now()) {
      return json(outgoing, 401, { type: "error", error: { type: "authentication_error", message: "bad token" } });
    }
    // The mock model has one base path for all providers.
    const path = (incoming.url ?? "").replace(/^\/[^/]+\/api(\/moved)?(\/v1)?/, "/v1");
    const { upstream } = this.#options;
    if (upstream === undefined) return json(outgoing, 200, { ok: true });
    const { authorization: _, host: __, ...headers } = incoming.headers;
    // The mock model wants a key of its own, any.
    const keys = { "x-api-key": "any", authorization: "Bearer any" };
    const forward = httpRequest(
      `${upstream}${path}`,
      { method: incoming.method, headers: { ...headers, ...keys } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forward.on("error", () => json(outgoing, 502, { error: "no model" }));
    forward.end(body);
    return outgoing;
  }

  #name(kind: string): string {
    this.#count += 1;
    return `${kind}-${String(this.#count).padStart(4, "0")}-sample`;
  }

  #jwt(accountId: string): string {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = { "https://api.openai.com/auth": { chatgpt_account_id: accountId }, nonce: this.#name("access") };
    return `${part({ alg: "none" })}.${part(claims)}.x`;
  }
}

function json(outgoing: ServerResponse, status: number, body: unknown): ServerResponse {
  return outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function text(outgoing: ServerResponse, body: string): ServerResponse {
  return outgoing.writeHead(200, { "content-type": "text/plain" }).end(body);
}

/** Opens an address like a browser: follows redirects, as a navigation of the user. */
export async function browse(address: string, headers: Readonly<Record<string, string>> = {}): Promise<Visit> {
  const visit = await new Promise<Visit & { location: string | undefined }>((resolve, reject) => {
    const outgoing = httpRequest(
      address,
      { headers: { "sec-fetch-mode": "navigate", ...headers }, agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const body = Buffer.concat(chunks).toString("utf8");
          const { statusCode: status = 0, headers: received } = incoming;
          resolve({ status, body, headers: received, location: received.location });
        });
      },
    );
    outgoing.on("error", reject).end();
  });
  return visit.location === undefined ? visit : browse(visit.location);
}

export interface Visit {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}
