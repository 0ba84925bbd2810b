/** The port of the web client: who gets its files, and who can sign in. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { ManualClock } from "../../src/testkit/index.js";
import { type Served, type ServedOptions, serve } from "../support/served-engine.js";
import { verifies } from "../verifies.js";

async function withWeb(options: ServedOptions = {}): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), "web-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "index.html"), "<title>Oxbow</title>");
  await writeFile(join(folder, "enter.js"), "void 0;");
  await writeFile(join(folder, "secret.key"), "not for pages");
  const served = await serve({ ...options, serve: { web: folder, ...options.serve } });
  onTestFinished(() => served.close());
  return served;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

function ask(address: string, path: string, { method = "GET", headers = {}, body }: Asked = {}): Promise<Answer> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const sent = request({ host: hostname, port, path, method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function openWeb({
  ask: askEngine,
}: Served): Promise<{ address: string; code: { request: string; code: string } }> {
  const { json } = await askEngine("/v1/web", { method: "POST", body: {} });
  const [name = "", digits = ""] = new URL(json.url).hash.slice(1).split(".");
  return { address: json.address, code: { request: name, code: digits } };
}

const signIn = (address: string, code: object, origin: string | undefined = address) =>
  ask(address, "/v1/auth/token", { method: "POST", body: code, ...(origin !== "" && { headers: { origin } }) });

describe("the files of the web client", () => {
  verifies(["U4"], "need no token, and let a page load nothing but them", async () => {
    const served = await withWeb();
    const { address } = await openWeb(served);
    const page = await ask(address, "/");
    expect(page).toMatchObject({ status: 200, text: "<title>Oxbow</title>" });
    const policy = String(page.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(page.headers).toMatchObject({
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
    expect(page.headers["set-cookie"]).toBeUndefined();
    const again = await ask(address, "/", { headers: { "if-none-match": String(page.headers.etag) } });
    expect(again).toMatchObject({ status: 304, text: "" });
  });

  verifies(["U4"], "are those of its folder alone, and stand on no other port", async () => {
    const served = await withWeb();
    const { address } = await openWeb(served);
    for (const path of ["/secret.key", "/..%2fpackage.json", "/../package.json", "/enter.js/x"]) {
      expect((await ask(address, path)).status, path).not.toBe(200);
    }
    expect((await ask(served.url, "/")).status).toBe(401);
    expect((await ask(address, "/v1/health")).status).toBe(401);
  });

  verifies(["U4"], "do not come under another name, nor for a page of another port", async () => {
    const served = await withWeb();
    const { address } = await openWeb(served);
    const { port } = new URL(address);
    const foreign = [{ host: "rebound.example" }, { host: `rebound.example:${port}` }, { host: "127.0.0.1:1" }];
    for (const headers of foreign) expect((await ask(address, "/", { headers })).status).toBe(403);
    for (const origin of ["http://127.0.0.1:1", `https://127.0.0.1:${port}`, "null", "https://page.example"]) {
      expect((await ask(address, "/", { headers: { origin } })).status, origin).toBe(403);
    }
  });
});

describe("signing in", () => {
  verifies(["U4"], "gives a token for the code once, and only to a page of the same address", async () => {
    const served = await withWeb();
    const { address, code } = await openWeb(served);
    expect((await signIn(address, code, "")).status).toBe(401);
    expect((await signIn(address, code, "http://127.0.0.1:1")).status).toBe(403);
    const signed = await signIn(address, code);
    expect(signed.status).toBe(201);
    const { token, claims } = JSON.parse(signed.text);
    expect(claims).toMatchObject({ identity_class: "human", can_mint: false, display_name: "web" });
    expect((await signIn(address, code)).status).toBe(404);
    const headers = { "x-oxbow-token": token };
    expect((await ask(address, "/v1/health", { headers })).status).toBe(200);
    // It makes no other page, and no other token.
    expect((await ask(address, "/v1/web", { method: "POST", body: {}, headers })).status).toBe(403);
    expect((await ask(address, "/v1/auth/tokens", { headers })).status).toBe(403);
    expect((await ask(address, "/v1/auth/token?session=sess_x", { headers })).status).not.toBe(202);
  });

  verifies(["U4"], "ends with three wrong guesses, and after a minute", async () => {
    const clock = new ManualClock();
    const served = await withWeb({ clock });
    const { address, code } = await openWeb(served);
    const wrong = { ...code, code: code.code === "000000" ? "000001" : "000000" };
    for (const _ of [1, 2, 3]) expect((await signIn(address, wrong)).status).toBe(403);
    expect((await signIn(address, code)).status).toBe(404);
    const late = await openWeb(served);
    clock.advance(60_001);
    expect((await signIn(address, late.code)).status).toBe(404);
    const next = await openWeb(served);
    expect(next.address).toBe(address);
    expect((await signIn(address, next.code)).status).toBe(201);
  });

  verifies(["U4"], "is not offered to a token of an agent, nor to one that is limited", async () => {
    const served = await withWeb();
    const session = await served.newSession();
    const { token } = await served.served.tokens.make({ identity_class: "human", sessions: [session], can_mint: true });
    expect((await served.ask("/v1/web", { method: "POST", body: {}, token })).status).toBe(403);
  });

  verifies(["U4", "C7"], "ends when a person sends the client away, and no terminal can be sent away so", async () => {
    const served = await withWeb();
    const { address, code } = await openWeb(served);
    const { token } = JSON.parse((await signIn(address, code)).text);
    const headers = { "x-oxbow-token": token };
    const { client } = JSON.parse((await ask(address, "/v1/handshake", { headers })).text);
    const session = await served.newSession();
    const revoke = (id: string) => {
      const payload = { namespace: "slash", verb: "clients:revoke", payload: { args: id } };
      return served.ask("/v1/commands", { method: "POST", body: { kind: "CustomCommand", session, payload } });
    };
    const { json: own } = await served.ask("/v1/handshake");
    expect((await revoke(own.client)).json.failure.message).toContain("There is no client");
    expect((await ask(address, "/v1/health", { headers })).status).toBe(200);
    expect((await revoke(client)).json.ok).toBe(true);
    expect((await ask(address, "/v1/health", { headers })).status).toBe(401);
  });
});
