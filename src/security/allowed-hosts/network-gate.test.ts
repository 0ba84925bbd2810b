import { createServer as createHttpServer, request } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { openNetwork } from "../../system/network/network.js";
import { SandboxTestbed } from "../sandbox/sandbox-testbed.js";
import { SOCKET_NAME } from "./network-forwarding.js";
import { describeRefusal, type GateEntrance, isListed, NetworkGate, parseHostList, plainHost } from "./network-gate.js";

describe("[P8] the list of hosts", () => {
  it.each([
    ["example.com", "example.com", 443, true],
    ["example.com", "EXAMPLE.com.", 80, true],
    ["example.com", "a.example.com", 443, false],
    ["example.com", "example.com", 22, false],
    ["example.com:8443", "example.com", 8443, true],
    ["example.com:8443", "example.com", 443, false],
    ["*.example.com", "a.b.example.com", 443, true],
    ["*.example.com", "example.com", 443, false],
    ["*.example.com", "badexample.com", 443, false],
    ["bücher.example", "xn--bcher-kva.example", 443, true],
  ])("%s: %s:%i is %s", (entry, host, port, expected) => {
    expect(isListed(parseHostList([entry]), plainHost(host) ?? "", port)).toBe(expected);
  });

  it.each(["127.0.0.1", "::1", "2130706433", "0x7f.1", "127.1", "0x7f000001", "", "a b", "a..b", "1.2.3.4."])(
    "%j is no name",
    (host) => expect(plainHost(host)).toBeUndefined(),
  );

  it.each(["*", "*.*.com", "http://example.com", "127.0.0.1", "example.com:99999", "", "exam ple.com"])(
    "refuses the entry %j",
    (entry) => expect(() => parseHostList([entry])).toThrow(/cannot be an allowed host/),
  );
});

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A web server on this machine. */
async function webServer(): Promise<number> {
  const server = createHttpServer((incoming, response) => {
    const { host, "proxy-connection": own, "x-mine": mine } = incoming.headers;
    response.end(JSON.stringify({ url: incoming.url, host, own: own ?? null, mine: mine ?? null }));
  });
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return portOf(server);
}

function portOf(server: { address(): unknown }): number {
  return (server.address() as { port: number }).port;
}

describe("[P8] the gate", () => {
  let entrance: GateEntrance;
  let port: number;
  const asked: string[] = [];

  beforeEach(async () => {
    port = await webServer();
    asked.length = 0;
    const gate = new NetworkGate({
      allow: [`allowed.test:${port}`, `inner.test:${port}`],
      resolveSafely: async (host) => {
        asked.push(host);
        if (host === "inner.test") throw new Error("10.0.0.1 is a private address");
        return ["127.0.0.1"];
      },
    });
    entrance = await gate.open("port");
    closing.push(() => entrance.close());
  });

  function ask(
    url: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number | undefined; body: string }> {
    return new Promise((resolve, reject) => {
      request({ host: "127.0.0.1", port: entrance.port ?? 0, path: url, headers, agent: false }, (response) => {
        let body = "";
        response.on("data", (chunk) => {
          body += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode, body }));
      })
        .on("error", reject)
        .end();
    });
  }

  function tunnel(target: string, text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = "";
      const socket = connect(entrance.port ?? 0, "127.0.0.1", () => socket.write(`CONNECT ${target} HTTP/1.1\r\n\r\n`));
      socket.on("error", reject).on("close", () => resolve(answer));
      socket.on("data", (chunk) => {
        if (answer === "" && String(chunk).startsWith("HTTP/1.1 200")) socket.write(text);
        answer += chunk;
      });
    });
  }

  it("survives a command that resets its connection while its host is looked up", async () => {
    const faults: unknown[] = [];
    const note = (error: unknown) => void faults.push(error);
    process.on("uncaughtException", note);
    closing.push(() => process.off("uncaughtException", note));
    let asks = 0;
    let answer = (_: readonly string[]) => {};
    const gate = new NetworkGate({
      allow: [`allowed.test:${port}`],
      resolveSafely: () =>
        asks++ === 0 ? new Promise((resolve) => (answer = resolve)) : Promise.resolve(["127.0.0.1"]),
    });
    entrance = await gate.open("port");
    closing.push(() => entrance.close());
    const socket = connect(entrance.port ?? 0, "127.0.0.1");
    socket.write(`CONNECT allowed.test:${port} HTTP/1.1\r\n\r\n`);
    await expect.poll(() => asks).toBe(1);
    socket.resetAndDestroy();
    await new Promise((resolve) => socket.once("close", resolve));
    expect(await ask(`http://allowed.test:${port}/after`)).toMatchObject({ status: 200 });
    answer(["127.0.0.1"]);
    expect(await ask(`http://allowed.test:${port}/later`)).toMatchObject({ status: 200 });
    expect(faults).toEqual([]);
  });

  it("hands on plain requests without the proxy's own headers", async () => {
    const { status, body } = await ask(`http://allowed.test:${port}/a?b=c`, {
      "proxy-connection": "x",
      "x-mine": "kept",
    });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({ url: "/a?b=c", host: `allowed.test:${port}`, own: null, mine: "kept" });
  });

  it("makes tunnels to the checked address", async () => {
    const answer = await tunnel(`allowed.test:${port}`, "GET /t HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 200 Connection established[\s\S]*"url":"\/t"/);
    expect(asked).toEqual(["allowed.test"]);
    expect(entrance.refusals()).toEqual([]);
  });

  it("goes through the proxy of this machine, with names that only that one knows", async () => {
    const far = entrance;
    const proxy = { value: `http://ann:pw@127.0.0.1:${far.port}`, origin: "HTTPS_PROXY" };
    const network = openNetwork({ httpProxy: proxy, httpsProxy: proxy, noProxy: "direct.test" });
    const gate = new NetworkGate({
      allow: [`allowed.test:${port}`, `inner.test:${port}`, `direct.test:${port}`],
      resolveSafely: async (host) => {
        if (host === "inner.test") throw new Error("10.0.0.1 is a private address");
        return [];
      },
      network: async () => network,
    });
    entrance = await gate.open("port");
    closing.push(() => entrance.close());
    const { body } = await ask(`http://allowed.test:${port}/a?b=c`);
    expect(JSON.parse(body)).toMatchObject({ url: "/a?b=c", host: `allowed.test:${port}` });
    const text = "GET /t HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    expect(await tunnel(`allowed.test:${port}`, text)).toMatch(/^HTTP\/1\.1 200[\s\S]*"url":"\/t"/);
    expect(asked).toEqual(["allowed.test", "allowed.test"]);
    expect(await tunnel(`inner.test:${port}`, text)).toMatch(/^HTTP\/1\.1 403[\s\S]*private address/);
    expect(await tunnel(`other.test:${port}`, text)).toMatch(/^HTTP\/1\.1 403/);
    expect(await tunnel(`direct.test:${port}`, text)).toMatch(/^HTTP\/1\.1 502[\s\S]*no address/);
    expect(asked).toHaveLength(2);
    await far.close();
    expect((await ask(`http://allowed.test:${port}/`)).body).toMatch(/the proxy http:\/\/127\.0\.0\.1:\d+/);
  });

  it("delivers the whole of a long answer after the far side has closed", async () => {
    const size = 3_000_000;
    const server = createServer((socket) => socket.end(Buffer.alloc(size, "x")));
    closing.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const gate = new NetworkGate({ allow: [`big.test:${portOf(server)}`], resolveSafely: async () => ["127.0.0.1"] });
    entrance = await gate.open("port");
    closing.push(() => entrance.close());
    const answer = await tunnel(`big.test:${portOf(server)}`, "");
    expect(answer.length - answer.indexOf("\r\n\r\n") - 4).toBe(size);
  });

  it.each([
    ["a host that is not listed", "other.test", "it is not on the list of allowed hosts"],
    ["an address", "127.0.0.1", "hosts are allowed by name, not by address"],
    ["an address in another spelling", "0x7f.1", "hosts are allowed by name, not by address"],
    ["an IPv6 address", "[::1]", "hosts are allowed by name, not by address"],
    ["a listed host with a private address", "inner.test", "10.0.0.1 is a private address"],
  ])("refuses %s, and says so", async (_, host, why) => {
    const answer = await tunnel(`${host}:${port}`, "");
    expect(answer).toMatch(/^HTTP\/1\.1 403/);
    const [refusal] = entrance.refusals();
    expect(refusal).toMatchObject({ port, reason: why });
    expect(answer).toContain(describeRefusal(refusal ?? { host: "", port: 0, reason: "" }));
  });

  it("refuses plain requests in the same way", async () => {
    expect(await ask(`http://other.test:${port}/`)).toMatchObject({
      status: 403,
      body: expect.stringContaining("network: other.test"),
    });
    expect(await ask("/relative")).toMatchObject({ status: 400 });
    expect(await ask("ftp://allowed.test/")).toMatchObject({ status: 400 });
  });

  it("says when a host cannot be reached", async () => {
    const gate = new NetworkGate({
      allow: ["gone.test"],
      resolveSafely: async () => ["127.0.0.1"],
      connectTimeoutMs: 2000,
    });
    entrance = await gate.open("port");
    closing.push(() => entrance.close());
    expect(await tunnel("gone.test:443", "")).toMatch(/^HTTP\/1\.1 502[\s\S]*could not be reached/);
  });

  it("answers 502 for a status that it cannot hand on", async () => {
    const odd = createServer((socket) => socket.end("HTTP/1.1 042 Odd\r\ncontent-length: 0\r\n\r\n"));
    await new Promise<void>((resolve) => odd.listen(0, "127.0.0.1", resolve));
    closing.push(() => odd.close());
    const gate = new NetworkGate({ allow: [`odd.test:${portOf(odd)}`], resolveSafely: async () => ["127.0.0.1"] });
    entrance = await gate.open("port");
    const { close } = entrance;
    closing.push(() => close());
    expect(await ask(`http://odd.test:${portOf(odd)}/`)).toMatchObject({ status: 502 });
  });

  it("closes with connections open, and removes its socket", async () => {
    const gate = new NetworkGate({ allow: [], resolveSafely: async () => [] });
    const own = await gate.open("socket");
    const socket = connect(join(own.folder ?? "", SOCKET_NAME)).on("error", () => {});
    await new Promise((resolve) => socket.once("connect", resolve));
    await own.close();
    await expect(
      new Promise((_, reject) => connect(join(own.folder ?? "", SOCKET_NAME)).once("error", reject)),
    ).rejects.toThrow(/ENOENT/);
  });
});

needs("sandbox").describe("[P8] a sandbox with allowed hosts", () => {
  let bed: SandboxTestbed;
  beforeEach(() => {
    bed = new SandboxTestbed();
  });
  afterEach(() => bed.close());

  /** Asks the proxy as a program would that takes it from the environment. */
  const fetchScript = (url: string) => `node -e '
    const proxy = new URL(process.env.HTTP_PROXY);
    require("node:http").get({ host: proxy.hostname, port: proxy.port, path: ${JSON.stringify(url)} }, (r) => {
      r.pipe(process.stdout); r.on("end", () => process.exit(r.statusCode === 200 ? 0 : 22));
    }).on("error", (e) => { console.log(e.code); process.exit(1); })'`;

  it.each([
    ["socat", undefined],
    ["a forwarder of its own", ""],
  ])("lets them through by %s, and nothing else", async (_, path) => {
    const port = await webServer();
    const options = {
      policy: { network: { allow: [`allowed.test:${port}`] } },
      sandbox: {
        resolveSafely: async () => ["127.0.0.1"],
        // Without a path there is no socat; bubblewrap itself is looked for in the usual places.
        ...(path === undefined ? {} : { path }),
      },
    };
    const allowed = await bed.inside(fetchScript(`http://allowed.test:${port}/here`), options);
    expect(allowed.output).toContain('"url":"/here"');
    const refused = await bed.inside(fetchScript(`http://other.test:${port}/`), options);
    expect(refused.code).toBe(22);
    expect(refused.hint).toContain(`[network: other.test:${port} was refused by the sandbox`);
    const direct = `node -e 'require("node:net").connect(${port}, "127.0.0.1").on("error", (e) => console.log(e.code))'`;
    expect((await bed.inside(direct, options)).output).toBe("ECONNREFUSED");
  });

  it("does not start without a resolver", async () => {
    await expect(bed.wrap("true", { policy: { network: { allow: ["example.com"] } } })).rejects.toThrow(/resolve/);
  });
});
