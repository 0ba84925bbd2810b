import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { AuthorizationServer, browse, type ServerOptions } from "../../../test/support/authorization-server.js";
import { ManualClock } from "../../base/clock.js";
import { createHttpClient } from "../../system/http-client.js";
import { type BrowserFlowOptions, signInByBrowser } from "./browser-flow.js";
import { challengeOf } from "./pkce.js";
import { type BrowserProvider, findOAuthProvider } from "./providers.js";
import { atTestServer } from "./test-server.js";

const http = createHttpClient();
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  http.close();
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function setUp(name: "claude" | "chatgpt", options: ServerOptions = {}) {
  const server = await AuthorizationServer.open(options);
  cleanUps.push(() => server.close());
  const found = findOAuthProvider(name);
  if (found === undefined) throw new Error("no such provider");
  const provider = atTestServer(found, server.url) as BrowserProvider;
  const clock = new ManualClock();
  const messages: string[] = [];
  const stop = new AbortController();
  const flow = (over: Partial<BrowserFlowOptions> = {}, row: Partial<BrowserProvider> = {}) =>
    signInByBrowser(
      { ...provider, ...row },
      {
        http,
        clock,
        random: (count) => crypto.getRandomValues(new Uint8Array(count)),
        signal: stop.signal,
        person: { notify: (text) => void messages.push(text) },
        ...over,
      },
    );
  return { server, provider, clock, messages, stop, flow };
}

/** The address a page is to be opened at, once it is known. */
function opening() {
  let opened: (url: string) => void = () => {};
  const address = new Promise<string>((resolve) => {
    opened = resolve;
  });
  return { open: (url: string) => opened(url), address };
}

describe("signing in by the browser", () => {
  it("[M13] takes the redirect, redeems the code with its verifier and tells the browser how it ended", async () => {
    const { server, messages, clock, flow } = await setUp("claude");
    const { open, address } = opening();
    const [tokens, page] = await Promise.all([flow({ open }), address.then((url) => browse(url))]);
    expect(tokens).toEqual({
      access: expect.stringMatching(/^access/),
      refresh: expect.stringMatching(/^refresh/),
      expiresAt: clock.wall() + 3_600_000,
    });
    expect(page.status).toBe(200);
    expect(page.body).toContain("Signed in with Claude.");
    expect(page.headers["access-control-allow-origin"]).toBeUndefined();
    expect(page.headers["cache-control"]).toBe("no-store");
    const asked = new URL(await address);
    expect(messages.join("")).toContain(asked.href);
    const sent = JSON.parse(server.asked("/token")[0]?.body ?? "") as Record<string, string>;
    expect(challengeOf(sent.code_verifier ?? "")).toBe(asked.searchParams.get("code_challenge"));
    expect(sent.state).toBe(asked.searchParams.get("state"));
    // The listener is gone.
    await expect(browse(asked.searchParams.get("redirect_uri") ?? "")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("[M13] sends a form where the provider wants one, and keeps the account the token names", async () => {
    const { server, flow } = await setUp("chatgpt", { accountId: "acc-7" });
    const { open, address } = opening();
    const [tokens] = await Promise.all([flow({ open }), address.then((url) => browse(url))]);
    expect(tokens.extra).toEqual({ account_id: "acc-7" });
    const [{ headers, body } = { headers: {}, body: "" }] = server.asked("/token");
    expect(headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(new URLSearchParams(body).has("state")).toBe(false);
  });

  it("ignores foreign answers: other hosts, scripts, methods, paths and states", async () => {
    const { flow } = await setUp("claude");
    const { open, address } = opening();
    const done = flow({ open });
    const url = new URL(await address);
    const redirect = url.searchParams.get("redirect_uri") ?? "";
    const state = url.searchParams.get("state") ?? "";
    const good = `${redirect}?code=stolen-code&state=${state}`;
    const visits = await Promise.all([
      browse(good, { host: "evil.example" }),
      browse(good, { "sec-fetch-mode": "cors" }),
      browse(good, { origin: "https://evil.example" }),
      browse(`${redirect}?code=stolen-code&state=other`),
      browse(`${redirect}?code=stolen-code`),
      browse(`${redirect}?error=access_denied`),
      browse(`${new URL(redirect).origin}/favicon.ico`),
      browse(`${new URL(redirect).origin}//`),
    ]);
    expect(visits.map(({ status }) => status)).toEqual([403, 403, 403, 400, 400, 400, 404, 404]);
    await browse(url.href);
    await expect(done).resolves.toMatchObject({ access: expect.stringMatching(/^access/) });
  });

  it("takes one answer only", async () => {
    const { server, flow } = await setUp("claude");
    const { open, address } = opening();
    const done = flow({ open });
    const url = new URL(await address);
    const redirect = url.searchParams.get("redirect_uri") ?? "";
    const state = url.searchParams.get("state") ?? "";
    const [first, second] = await Promise.all([
      browse(`${redirect}?code=no-such-code&state=${state}`),
      browse(`${redirect}?code=another-code&state=${state}`).catch(() => ({ status: 0 })),
      expect(done).rejects.toMatchObject({ problem: "unexpected", message: expect.stringContaining("invalid_grant") }),
    ]);
    expect([first.status, second.status].sort()).not.toContain(200);
    expect(server.asked("/token")).toHaveLength(1);
  });

  it("does not wait for a closed browser", async () => {
    const { server, flow } = await setUp("claude");
    const { open, address } = opening();
    const done = flow({ open });
    const location = await new Promise<string>((resolve) => {
      void address.then((url) => get(url, ({ headers }) => resolve(headers.location ?? "")));
    });
    // The token endpoint answers when the browser has hung up and the listener had time to see it.
    server.beforeToken = async () => {
      visit.destroy();
      for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    const visit = get(location, { agent: false }).on("error", () => {});
    await expect(done).resolves.toMatchObject({ access: expect.stringMatching(/^access/) });
  });

  it("says what went wrong without the code in it", async () => {
    const { server, flow } = await setUp("claude");
    const { open, address } = opening();
    const done = flow({ open }).catch((error: Error) => error.message);
    const url = new URL(await address);
    const back = `${url.searchParams.get("redirect_uri")}?code=secret-code-1&state=${url.searchParams.get("state")}`;
    const page = await browse(back);
    expect(page.body).toContain("Not signed in with Claude.");
    expect(await done).toBe(`${new URL(server.url).host} answered with HTTP 400 (invalid_grant: bad code […]).`);
  });

  it("[M13] ends when the person refuses, when it takes too long, and when it is cancelled", async () => {
    const refused = await setUp("claude", { person: "refuses" });
    const one = opening();
    const refusal = refused.flow({ open: one.open });
    await Promise.all([
      one.address.then((url) => browse(url)),
      expect(refusal).rejects.toMatchObject({ problem: "refused" }),
    ]);

    const late = await setUp("claude");
    const two = opening();
    const waiting = late.flow({ open: two.open });
    await two.address;
    late.clock.advance(5 * 60_000);
    await expect(waiting).rejects.toMatchObject({ problem: "expired" });
    expect(late.clock.pending).toBe(0);

    const stopped = await setUp("claude");
    const three = opening();
    const stopping = stopped.flow({ open: three.open });
    const redirect = new URL(await three.address).searchParams.get("redirect_uri") ?? "";
    stopped.stop.abort();
    await expect(stopping).rejects.toMatchObject({ problem: "cancelled" });
    await expect(browse(redirect)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(stopped.clock.pending).toBe(0);
  });

  it("says so when its fixed port is taken, and takes the next that is registered", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    cleanUps.push(() => taken.close());
    const { port } = taken.address() as AddressInfo;
    const { flow, provider } = await setUp("chatgpt");
    const open = () => {};
    await expect(flow({ open }, { redirect: { ...provider.redirect, ports: [port] } })).rejects.toMatchObject({
      problem: "port-taken",
      message: expect.stringContaining(`port ${port} is in use`),
    });
    const { open: opened, address } = opening();
    const [tokens] = await Promise.all([
      flow({ open: opened }, { redirect: { ...provider.redirect, ports: [port, 0] } }),
      address.then((url) => browse(url)),
    ]);
    expect(tokens.access).toMatch(/^access/);
  });
});

describe("signing in without a browser", () => {
  /** Answers questions one after the other, then waits. */
  function typist(...answers: ((url: string) => string | Promise<string>)[]) {
    const questions: string[] = [];
    const messages: string[] = [];
    return {
      questions,
      messages,
      notify: (text: string) => void messages.push(text),
      ask: async (question: string, signal: AbortSignal): Promise<string | undefined> => {
        questions.push(question);
        const next = answers.shift();
        if (next !== undefined) return next(/https?:\S+/.exec(messages.join("\n"))?.[0] ?? "");
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
      },
    };
  }

  it("[M13] takes the code that the provider's page shows", async () => {
    const { flow, provider, server } = await setUp("claude");
    const person = typist(async (url) => (await browse(url)).body);
    await expect(flow({ person })).resolves.toMatchObject({ access: expect.stringMatching(/^access/) });
    expect(JSON.parse(server.asked("/token")[0]?.body ?? "")).toMatchObject({ redirect_uri: provider.codePage });
    expect(person.questions).toEqual(["Paste the code that the page shows: "]);
  });

  it("takes the address a browser elsewhere ended at, and asks again after a useless paste", async () => {
    const { flow } = await setUp("chatgpt");
    const ended = async (url: string) => {
      // The browser of another machine goes to its own localhost, where nothing listens.
      const answer = await fetch(url, { redirect: "manual" });
      return answer.headers.get("location") ?? "";
    };
    const person = typist(
      () => "",
      () => "what?",
      async (url) => (await ended(url)).replace(/state=[^&]+/, "state=foreign"),
      ended,
    );
    await expect(flow({ person })).resolves.toMatchObject({ access: expect.stringMatching(/^access/) });
    expect(person.messages.slice(1)).toEqual([
      "Oxbow finds no code in this line. Copy the whole line.\n",
      "This belongs to another sign-in. Use the address shown last.\n",
    ]);
  });

  it("still takes the redirect while it waits for a paste, and gives up when the input ends", async () => {
    const forwarded = await setUp("chatgpt");
    const person = typist();
    const done = forwarded.flow({ person });
    await expect.poll(() => person.questions.length).toBe(1);
    await browse(/https?:\S+/.exec(person.messages.join(""))?.[0] ?? "");
    await expect(done).resolves.toMatchObject({ access: expect.stringMatching(/^access/) });

    const closed = await setUp("claude");
    const gone = { notify: () => {}, ask: async () => undefined };
    await expect(closed.flow({ person: gone })).rejects.toMatchObject({ problem: "cancelled" });
    await expect(closed.flow()).rejects.toMatchObject({ problem: "refused" });
  });
});
