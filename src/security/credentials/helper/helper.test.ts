import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createPlainServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { skipWithout } from "../../../../test/support/needs.js";
import { until } from "../../../../test/support/waiting.js";
import { verifies } from "../../../../test/verifies.js";
import { type Clock, ManualClock, systemClock } from "../../../base/clock.js";
import { createHttpClient, type HttpClient } from "../../../system/http-client.js";
import { startTimeOf } from "../../../system/process-table.js";
import { reachable } from "../../../system/socket-path.js";
import { CredentialFile } from "../credential-file.js";
import { type CredentialEntry, lentAccount, type OAuthTokens, TokenRefused, type TokenSource } from "../entry.js";
import { askHelper } from "./ask-helper.js";
import { createHelperClient } from "./helper-client.js";
import { HelperLink } from "./helper-link.js";
import {
  CREDENTIAL_HEADER,
  endpointPath,
  type HelperEndpoint,
  privateFolder,
  readEndpoint,
  TOKEN_HEADER,
} from "./helper-protocol.js";
import { HelperServer } from "./helper-server.js";
import { connector } from "./upstream.js";
import { Vault } from "./vault.js";

const SECRET = ["upstream", "secret", "0123456789"].join("-");
/** More than the buffers between two ends hold together. */
const LIMIT = 32 * 1024 * 1024;
const closing: (() => unknown)[] = [];
let folder: string;
let file: CredentialFile;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-helper-"));
  const key = async () => ({ key: Buffer.alloc(32, 1), from: "key-file" as const });
  file = new CredentialFile({ path: join(folder, "creds.enc"), key, clock: systemClock });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rm(folder, { recursive: true, force: true });
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function provider(handle: Handler): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

function entry(baseUrl: string, more: Partial<CredentialEntry> = {}): CredentialEntry {
  return {
    kind: "api_key",
    provider: "someone",
    account: "default",
    endpoint: { baseUrl, headers: { "x-api-key": "{secret}" } },
    addedAt: 1,
    key: SECRET,
    ...more,
  } as CredentialEntry;
}

interface Helper {
  readonly client: HttpClient;
  readonly link: HelperLink;
  readonly started: () => number;
  readonly start: () => Promise<void>;
  readonly servers: HelperServer[];
  readonly note: () => HelperEndpoint;
}

function helper({
  clock = systemClock,
  linkClock = systemClock,
  version = "1",
  source,
  isUnlocked = false,
  onEnd = () => {},
}: {
  clock?: Clock;
  linkClock?: Clock;
  version?: string;
  source?: TokenSource;
  isUnlocked?: boolean;
  onEnd?: () => void;
} = {}): Helper {
  const servers: HelperServer[] = [];
  const start = async () => {
    const vault = new Vault({
      file,
      clock,
      sourceOf: async () => source,
      http: async () => createHttpClient(),
    });
    await vault.open();
    const server = new HelperServer({
      folder: join(folder, "run"),
      version,
      startTime: 0,
      idleMs: 3_600_000,
      isUnlocked,
      vault,
      clock,
      connect: connector(undefined),
      onEnd,
    });
    servers.push(server);
    await server.start();
  };
  const link = new HelperLink({ folder: join(folder, "run"), version, clock: linkClock, start });
  const http = createHttpClient();
  closing.push(() => {
    link.close();
    http.close();
    for (const server of servers) server.end();
  });
  const client = createHelperClient({ link, credential: { provider: "someone", account: "default" }, http });
  const note = () => {
    const found = readEndpoint(join(folder, "run"));
    if (found === undefined) throw new Error("no note");
    return found;
  };
  return { client, link, servers, start, started: () => servers.length, note };
}

const post = (url: string, more: object = {}) => ({ method: "POST" as const, url, body: '{"a":1}', ...more });

describe("the credential helper", () => {
  verifies(["M12"], "adds the key, takes away what the engine says instead, and passes on the rest", async () => {
    const seen: { headers: IncomingMessage["headers"]; target: string | undefined; body: string }[] = [];
    const { url } = await provider(async (request, response) => {
      let body = "";
      for await (const piece of request) body += piece;
      seen.push({ headers: request.headers, target: `${request.method} ${request.url}`, body });
      response.writeHead(200, { "x-of-provider": "yes" }).end("answer");
    });
    await file.put(entry(url));
    const { client, started } = helper();
    for (let round = 0; round < 3; round++) {
      const headers = { authorization: "Bearer mine", "x-api-key": "mine", "anthropic-version": "2023-06-01" };
      const response = await client.request(post("https://anywhere.example/v1/messages?x=1", { headers }));
      expect(response.status).toBe(200);
      expect(response.headers["x-of-provider"]).toBe("yes");
      expect(await response.text(100)).toBe("answer");
    }
    expect(started()).toBe(1);
    expect(seen).toHaveLength(3);
    expect(seen[2]).toMatchObject({ target: "POST /v1/messages?x=1", body: '{"a":1}' });
    expect(seen[2]?.headers).toMatchObject({
      "x-api-key": SECRET,
      "anthropic-version": "2023-06-01",
      host: url.slice(7),
    });
    expect(seen[2]?.headers.authorization).toBeUndefined();
    expect(Object.keys(seen[2]?.headers ?? {}).filter((name) => name.startsWith("x-oxbow"))).toEqual([]);
  });

  verifies(
    ["M12"],
    "passes pieces on as they come, waits for a slow reader, and stops the provider when the engine stops",
    async () => {
      let sent = 0;
      let closed = () => {};
      const stopped = new Promise<void>((resolve) => {
        closed = resolve;
      });
      const { url } = await provider((request, response) => {
        response.on("close", closed);
        if (request.url === "/slow") {
          const more = () => {
            do sent += 65_536;
            while (!response.destroyed && response.write(Buffer.alloc(65_536)));
            response.once("drain", more);
          };
          more();
        } else if (request.url === "/turn") response.end("x");
        else response.write("first");
      });
      await file.put(entry(url));
      const { client } = helper();
      const abort = new AbortController();
      const live = await client.request(post(`${url}/live`, { signal: abort.signal }));
      const reader = live.body[Symbol.asyncIterator]();
      expect(Buffer.from((await reader.next()).value ?? "").toString()).toBe("first");
      abort.abort();
      await stopped;

      const slow = await client.request(post(`${url}/slow`));
      // No client reads, so in the end the server stops sending.
      for (let still = 0, before = -1; still < 20 && sent < LIMIT; before = sent) {
        const turn = await client.request(post(`${url}/turn`));
        await turn.text(10);
        still = sent === before ? still + 1 : 0;
      }
      expect(sent).toBeLessThan(LIMIT);
      slow.destroy();
    },
  );

  verifies(["M12"], "follows no redirect with the key", async () => {
    let elsewhere = 0;
    const other = await provider((_, response) => {
      elsewhere++;
      response.end();
    });
    const { url } = await provider((_, response) => response.writeHead(307, { location: other.url }).end());
    await file.put(entry(url));
    const response = await helper().client.request(post(url));
    expect(response.status).toBe(307);
    expect(elsewhere).toBe(0);
  });

  verifies(
    ["M12"],
    "gives nothing to who has no token, asks for another path, or for a key that is not there",
    async () => {
      let asked = 0;
      const { url } = await provider((_, response) => {
        asked++;
        response.end("x");
      });
      await file.put(entry(`${url}/team`));
      const { client, link, note } = helper();
      await (await client.request(post(`${url}/team/v1`))).text(10);
      await expect(client.request(post(`${url}/other`))).rejects.toMatchObject({
        failure: { reason: "CredentialsUnavailable", message: expect.stringContaining("is only for") },
      });
      const http = createHttpClient();
      const strange = createHelperClient({ link, credential: { provider: "nobody", account: "default" }, http });
      await expect(strange.request(post(url))).rejects.toMatchObject({
        failure: { message: expect.stringContaining("oxbow auth set nobody") },
      });
      const socketPath = reachable(join(folder, "run"), note().socket);
      const wrong: readonly Record<string, string>[] = [{}, { [TOKEN_HEADER]: "0".repeat(64) }];
      for (const headers of wrong) {
        const refused = await http.request({
          ...post("http://oxbow/team/v1"),
          headers: { ...headers, [CREDENTIAL_HEADER]: "someone/default" },
          socketPath,
        });
        expect(refused.status).toBe(401);
        expect(await refused.text(1000)).not.toContain(SECRET);
      }
      for (const path of ["/", "/key", "/status", "/entries", "/someone/default"]) {
        const answer = await askHelper({ socketPath, endpoint: note(), method: "GET", path });
        expect(JSON.stringify(answer ?? {})).not.toContain(SECRET);
      }
      http.close();
      expect(asked).toBe(1);
      expect((await stat(join(folder, "run"))).mode & 0o777).toBe(0o700);
      expect((await stat(endpointPath(join(folder, "run")))).mode & 0o777).toBe(0o600);
    },
  );

  verifies(["M12"], "hides the key when the provider repeats it", async () => {
    const { url } = await provider((request, response) => {
      response.writeHead(401).end(JSON.stringify({ error: `wrong key ${request.headers["x-api-key"]}` }));
    });
    await file.put(entry(url));
    const response = await helper().client.request(post(url));
    expect(await response.text(1000)).toBe(`{"error":"wrong key ${"*".repeat(SECRET.length)}"}`);
  });

  verifies(["M12"], "tells what happened on the way to the provider as if it were not there", async () => {
    const { url, server } = await provider((request) => request.socket.destroy());
    await file.put(entry(url));
    const { client, started } = helper();
    await expect(client.request(post(url))).rejects.toMatchObject({ name: "HttpError", kind: "dropped" });
    server.close();
    server.closeAllConnections();
    await expect(client.request(post(url))).rejects.toMatchObject({ kind: "connect", code: "ECONNREFUSED" });
    expect(started()).toBe(1);
  });

  verifies(["M12"], "is used again after the provider closed the kept connection", async () => {
    let connections = 0;
    const { url, server } = await provider((_, response) => response.end("ok"));
    server.on("connection", () => connections++);
    await file.put(entry(url));
    const { client } = helper();
    expect(await (await client.request(post(url))).text(10)).toBe("ok");
    expect(await (await client.request(post(url))).text(10)).toBe("ok");
    expect(connections).toBe(1);
    server.closeIdleConnections();
    expect(await (await client.request(post(url))).text(10)).toBe("ok");
    expect(connections).toBe(2);
  });

  verifies(["M11"], "uses what has been stored since it started", async () => {
    const { url } = await provider((request, response) => response.end(request.headers["x-api-key"]?.slice(0, 5)));
    await file.put(entry(url));
    const { client, started } = helper();
    await (await client.request(post(url))).text(100);
    await file.put(entry(url, { key: ["other", SECRET].join("-") }));
    expect(await (await client.request(post(url))).text(100)).toBe("other");
    await file.remove({ provider: "someone", account: "default" });
    await expect(client.request(post(url))).rejects.toBeInstanceOf(Error);
    expect(started()).toBe(1);
  });
});

describe("the life of the helper", () => {
  verifies(["M12"], "ends when the file has got another key, and the next one has that", async () => {
    const { url } = await provider((_, response) => response.end("ok"));
    await file.put(entry(url));
    const { client, started } = helper();
    expect(await (await client.request(post(url))).text(10)).toBe("ok");
    await rm(file.path);
    const key = async () => ({ key: Buffer.alloc(32, 2), from: "key-file" as const });
    file = new CredentialFile({ path: file.path, key, clock: systemClock });
    await file.put(entry(url));
    expect(await (await client.request(post(url))).text(10)).toBe("ok");
    expect(started()).toBe(2);
  });

  verifies(
    ["M12"],
    "begins with the first request, and again once when it is lost; then CredentialHelperFailed",
    async () => {
      const { url } = await provider((_, response) => response.end("ok"));
      await file.put(entry(url));
      const { client, started, servers } = helper();
      for (let life = 0; life < 2; life++) {
        expect(await (await client.request(post(url))).text(10)).toBe("ok");
        servers[life]?.end();
      }
      expect(started()).toBe(2);
      await expect(client.request(post(url))).rejects.toMatchObject({ failure: { reason: "CredentialHelperFailed" } });
      expect(started()).toBe(2);
    },
  );

  verifies(["M12"], "is one, however many ask at once, and the record of a dead one is ignored", async () => {
    const { url } = await provider((_, response) => response.end("ok"));
    await file.put(entry(url));
    const many = Array.from({ length: 6 }, () => helper());
    const answers = await Promise.all(many.map(async ({ client }) => (await client.request(post(url))).text(10)));
    expect(answers).toEqual(Array(6).fill("ok"));
    const names = await readdir(join(folder, "run"));
    expect(names.filter((name) => name.endsWith(".sock"))).toHaveLength(1);

    const note = JSON.stringify(many[0]?.note());
    for (const { link, servers } of many) {
      link.close();
      for (const server of servers) server.end();
    }
    await writeFile(endpointPath(join(folder, "run")), note);
    const late = helper();
    expect(await (await late.client.request(post(url))).text(10)).toBe("ok");
    expect(late.started()).toBe(1);
    late.link.close();
    for (const server of late.servers) server.end();
    await writeFile(endpointPath(join(folder, "run")), note);
    const direct = helper();
    await direct.start();
    expect(JSON.stringify(direct.note())).not.toBe(note);
  });

  verifies(["M12"], "ends when no client is connected for a while, and leaves nothing", async () => {
    const clock = new ManualClock();
    const { url } = await provider((_, response) => response.end("ok"));
    await file.put(entry(url));
    const { client, link, servers } = helper({ clock });
    await (await client.request(post(url))).text(10);
    clock.advance(3_600_000);
    expect(readEndpoint(join(folder, "run"))).toBeDefined();
    link.close();
    client.close();
    // It has to see both connections go first.
    while (readEndpoint(join(folder, "run")) !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      clock.advance(3_600_000);
    }
    expect(await readdir(join(folder, "run"))).toEqual([]);
    expect(servers).toHaveLength(1);
  });

  verifies(["M12"], "ends with its folder, as soon as no client is connected", async () => {
    const { url } = await provider((_, response) => response.end("ok"));
    await file.put(entry(url));
    let isUsed = true;
    const ended = new Promise<boolean>((resolve) => {
      const { client, link } = helper({ onEnd: () => resolve(isUsed) });
      void (async () => {
        await (await client.request(post(url))).text(10);
        await rm(join(folder, "run"), { recursive: true });
        isUsed = false;
        link.close();
        client.close();
      })();
    });
    expect(await ended).toBe(false);
    await new Promise<void>((resolve) => {
      void helper({ onEnd: resolve })
        .start()
        .then(() => rm(join(folder, "run"), { recursive: true }));
    });
  });

  verifies(
    ["M12"],
    "ends with an engine that ends in order, unless it has fresh keys or a passphrase opened it",
    async () => {
      await file.put(entry("http://127.0.0.1:1"));
      const about = (start: Helper, path: string, body = "") => {
        const endpoint = start.note();
        const socketPath = reachable(join(folder, "run"), endpoint.socket);
        return askHelper({ socketPath, endpoint, method: path === "/status" ? "GET" : "POST", path, body });
      };
      const unlocked = helper({ isUnlocked: true });
      await unlocked.start();
      expect(await about(unlocked, "/leave")).toEqual({ ends: false });
      await about(unlocked, "/stop");
      const clock = new ManualClock();
      const ended = new Promise<void>((resolve) => {
        void (async () => {
          const lent = helper({ clock, onEnd: resolve });
          await lent.start();
          const key = JSON.stringify([entry("http://127.0.0.1:1", { account: lentAccount("a".repeat(16)) })]);
          expect(await about(lent, "/keys", key)).toEqual({ taken: true });
          expect(await about(lent, "/leave")).toEqual({ ends: false });
          clock.advance(59_999);
          lent.link.use((await lent.link.reach()).endpoint);
          await until(async () => (await about(lent, "/status"))?.connections === 1);
          clock.advance(1);
          expect(await about(lent, "/leave")).toEqual({ ends: true });
          lent.link.close();
          // It has to see the connections go first.
          await until(() => {
            clock.advance(0);
            return readEndpoint(join(folder, "run")) === undefined;
          });
        })();
      });
      await ended;
    },
  );

  verifies(["M12"], "does not stay long for keys of terminals that no engine uses", async () => {
    const clock = new ManualClock();
    await file.put(entry("http://127.0.0.1:1"));
    let hasEnded = false;
    const { start, note } = helper({
      clock,
      onEnd: () => {
        hasEnded = true;
      },
    });
    await start();
    const endpoint = note();
    const socketPath = reachable(join(folder, "run"), endpoint.socket);
    const body = JSON.stringify([entry("http://127.0.0.1:1", { account: lentAccount("a".repeat(16)) })]);
    expect(await askHelper({ socketPath, endpoint, method: "POST", path: "/keys", body })).toEqual({ taken: true });
    clock.advance(30_000);
    expect(hasEnded).toBe(false);
    // It has to see the connection go first.
    for (let minute = 0; !hasEnded; minute++) {
      expect(minute).toBeLessThan(500);
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (minute % 100 === 99) clock.advance(60_000);
    }
  });

  verifies(["M12"], "of another version ends when it is idle, and is used while it is not", async () => {
    const { url } = await provider((_, response) => response.end("ok"));
    await file.put(entry(url));
    const old = helper({ version: "1" });
    await (await old.client.request(post(url))).text(10);
    const busy = helper({ version: "2" });
    expect(await (await busy.client.request(post(url))).text(10)).toBe("ok");
    expect(busy.started()).toBe(0);
    for (const { link, client } of [old, busy]) {
      link.close();
      client.close();
    }
    const next = helper({ version: "2" });
    while (next.started() === 0) {
      expect(await (await next.client.request(post(url))).text(10)).toBe("ok");
      if (next.started() > 0) break;
      next.link.close();
      next.client.close();
    }
    expect(next.note().version).toBe("2");
  });

  verifies(["M12"], "keeps the keys of a terminal when another terminal has another proxy", async () => {
    const { url } = await provider((_, response) => response.end("ok"));
    await file.put(entry(url));
    const first = helper({ version: "1" });
    await first.start();
    const socketPath = reachable(join(folder, "run"), first.note().socket);
    const account = lentAccount("a".repeat(16));
    const body = JSON.stringify([entry(url, { account })]);
    await askHelper({ socketPath, endpoint: first.note(), method: "POST", path: "/keys", body });
    // No engine is connected. A terminal with another proxy looks for a helper of its own.
    const other = helper({ version: "1+proxy" });
    await other.link.reach();
    const http = createHttpClient();
    closing.push(() => http.close());
    const engine = createHelperClient({ link: first.link, credential: { provider: "someone", account }, http });
    expect(await (await engine.request(post(url))).text(10)).toBe("ok");
    expect(other.started()).toBe(0);
  });

  verifies(["M12"], "is ended from outside when it hangs, and another takes its place", async ({ skip }) => {
    skipWithout({ skip }, "linux");
    const { url } = await provider((_, response) => response.end("ok"));
    await file.put(entry(url));
    const clock = new ManualClock();
    const { client, started, link } = helper({ linkClock: clock });
    // Takes connections and says nothing, as a stopped process does.
    const run = privateFolder(join(folder, "run"));
    const hanging = createPlainServer();
    const taken = new Promise<void>((resolve) => hanging.once("connection", () => resolve()));
    await new Promise<void>((resolve) => hanging.listen(join(run, "hanging.sock"), resolve));
    const stopped = spawn("sleep", ["600"], { stdio: "ignore" });
    const ended = new Promise<string | null>((resolve) => stopped.on("exit", (_, signal) => resolve(signal)));
    hanging.on("connection", (socket) => void ended.then(() => socket.destroy()));
    const pid = stopped.pid ?? 0;
    const note: HelperEndpoint = { version: "1", pid, startTime: startTimeOf(pid), socket: "hanging.sock", token: "t" };
    await writeFile(endpointPath(run), JSON.stringify(note));
    const asked = client.request(post(url));
    await taken;
    clock.advance(17_000);
    expect(await ended).toBe("SIGKILL");
    expect(await (await asked).text(10)).toBe("ok");
    expect(started()).toBe(1);
    link.close();
    hanging.close();
  });

  it("is disconnected when it sends an invalid request", async () => {
    const { url } = await provider((_, response) => response.end("ok"));
    await file.put(entry(url));
    const { client, note } = helper();
    await (await client.request(post(url))).text(10);
    const socket = connect(reachable(join(folder, "run"), note().socket));
    socket.write("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    let text = "";
    for await (const piece of socket) text += piece;
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("works where the path of its socket is longer than the kernel allows", async () => {
    const { url } = await provider((_, response) => response.end("ok"));
    await file.put(entry(url));
    folder = join(folder, "x".repeat(120));
    const { client } = helper();
    if (process.platform === "linux") expect(await (await client.request(post(url))).text(10)).toBe("ok");
    folder = join(folder, "..");
  });
});

describe("tokens that end", () => {
  const soon = (): OAuthTokens => ({ access: `${SECRET}-old`, refresh: "once", expiresAt: Date.now() + 60_000 });
  const signIn = (url: string, tokens: OAuthTokens): CredentialEntry => ({
    ...(entry(url) as object),
    kind: "oauth",
    provider: "someone",
    account: "default",
    addedAt: 1,
    endpoint: {
      baseUrl: url,
      headers: { authorization: "Bearer {secret}", "x-account": "{extra.id}", "x-none": "{extra.no}" },
    },
    tokens,
  });

  verifies(["M13"], "are renewed in time, once for all clients, and the new ones are stored", async () => {
    const seen: (string | undefined)[] = [];
    const { url } = await provider((request, response) => {
      seen.push(`${request.headers.authorization} ${request.headers["x-account"]} ${request.headers["x-none"]}`);
      response.end("ok");
    });
    await file.put(signIn(url, soon()));
    let refreshes = 0;
    const source: TokenSource = {
      provider: "someone",
      async refresh(tokens) {
        refreshes++;
        expect(tokens.refresh).toBe("once");
        await new Promise((resolve) => setTimeout(resolve, 20));
        return {
          tokens: {
            access: `${SECRET}-new`,
            refresh: "twice",
            expiresAt: Date.now() + 3_600_000,
            extra: { id: "acc" },
          },
        };
      },
    };
    const { client } = helper({ source });
    const asked = [1, 2, 3].map(async () => (await client.request(post(url))).text(10));
    // As another helper would, of another version or after a crash.
    const vaultOfAnother = new Vault({
      file,
      clock: systemClock,
      sourceOf: async () => source,
      http: async () => client,
    });
    const other = vaultOfAnother.authority({ provider: "someone", account: "default" });
    expect(await Promise.all(asked)).toEqual(Array(3).fill("ok"));
    expect((await other).headers.authorization).toBe(`Bearer ${SECRET}-new`);
    expect(refreshes).toBe(1);
    expect(new Set(seen)).toEqual(new Set([`Bearer ${SECRET}-new acc undefined`]));
    expect((await file.read())[0]).toMatchObject({ tokens: { refresh: "twice" } });
    expect(await readFile(file.path, "utf8")).not.toContain("twice");
  });

  verifies(["M13"], "that cannot be renewed are used to their end, and then the user gets a message", async () => {
    const { url } = await provider((request, response) => response.end(request.headers.authorization?.slice(-3)));
    await file.put(signIn(url, soon()));
    let problem: Error = new Error("the network is down");
    const source: TokenSource = { provider: "someone", refresh: () => Promise.reject(problem) };
    const { client } = helper({ source });
    expect(await (await client.request(post(url))).text(10)).toBe("old");
    await file.put(signIn(url, { ...soon(), expiresAt: 1 }));
    client.close();
    const failureWith = (text: string) => ({
      failure: { reason: "CredentialsUnavailable", message: expect.stringContaining(text) },
    });
    await expect(client.request(post(url))).rejects.toMatchObject(failureWith("could not renew the sign-in"));
    problem = new TokenRefused("Sign in again: oxbow auth set someone");
    const message = expect.stringContaining("Sign in again: oxbow auth set someone");
    await expect(client.request(post(url))).rejects.toMatchObject({ failure: { reason: "SignedOut", message } });
  });
});

it("has a provider that never answers the handshake time out by itself", async () => {
  const clock = new ManualClock();
  const silent = createPlainServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<{ destroy(): void }>();
  silent.on("connection", (socket) => sockets.add(socket));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  await file.put(entry(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`));
  const { client } = helper({ clock });
  const asked = client.request(post("https://127.0.0.1"));
  const outcome = expect(asked).rejects.toMatchObject({ kind: "timeout" });
  while (sockets.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  clock.advance(10_000);
  await outcome;
});
