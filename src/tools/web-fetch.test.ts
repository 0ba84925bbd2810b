import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../../test/support/waiting.js";
import { verifies } from "../../test/verifies.js";
import { ManualClock } from "../base/clock.js";
import type { ToolOutcome } from "../engine/ports.js";
import { plainText } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { createNetGuard } from "../security/net-guard/net-guard.js";
import { createHttpClient } from "../system/http-client.js";
import { createWebFetchTool, type WebFetchOptions } from "./web-fetch.js";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

async function listen(server: Server | TcpServer, address = "127.0.0.1", port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  cleanUps.push(() => {
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

interface Site {
  readonly base: string;
  readonly port: number;
  readonly requests: IncomingMessage[];
}

/** A server on this machine, reached under a name that the tests' own name server knows. */
async function site(handler: RequestListener): Promise<Site> {
  const requests: IncomingMessage[] = [];
  const port = await listen(
    createServer((request, response) => {
      requests.push(request);
      handler(request, response);
    }),
  );
  return { base: `http://docs.corp:${port}`, port, requests };
}

interface Setting extends Partial<Omit<WebFetchOptions, "guard" | "http">> {
  readonly clock?: ManualClock;
  readonly allowedHosts?: readonly string[];
  readonly lookup?: (host: string) => Promise<readonly string[]>;
}

function toolFor({ allowedHosts = ["docs.corp"], lookup, clock, ...options }: Setting = {}) {
  const http = createHttpClient(clock === undefined ? {} : { clock });
  cleanUps.push(() => http.close());
  const guard = createNetGuard({ allowedHosts, lookup: lookup ?? (async () => ["127.0.0.1"]) });
  const wrap = ({ text }: { text: string }) => `[[${text}]]`;
  return createWebFetchTool({ wrap, ...options, ...(clock !== undefined && { clock }), guard, http });
}

async function fetchIt(args: JsonObject, setting: Setting = {}, signal = new AbortController().signal) {
  const outcome: ToolOutcome = await toolFor(setting).run(args, { signal, progress: () => {} });
  return { status: outcome.status, words: plainText(outcome.content), details: outcome.details ?? {} };
}

const page =
  (body: string | Buffer, headers: Record<string, string> = { "content-type": "text/html" }) =>
  (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, headers);
    response.end(body);
  };

describe("web_fetch", () => {
  verifies(["T8"], "gives a page as Markdown, with its status and type", async () => {
    const { base } = await site(page("<title>Guide</title><h1>Start</h1><p>Read <a href='/more'>more</a>."));
    const { status, words, details } = await fetchIt({ url: `${base}/a#part` });
    expect(status).toBe("ok");
    expect(words).toBe(`HTTP 200, text/html\n[[Title: Guide\n\n# Start\n\nRead [more](${base}/more).]]`);
    expect(details).toMatchObject({ url: `${base}/a`, status: 200, content_type: "text/html", truncated: false });
  });

  verifies(["T8"], "gives other text as it is, and a page as text or as its source", async () => {
    const json = await site(page('{"a": "<b>"}', { "content-type": "application/json" }));
    expect((await fetchIt({ url: json.base })).words).toBe('HTTP 200, application/json\n[[{"a": "<b>"}]]');
    const html = await site(page("<p>a <b>b</b>"));
    expect((await fetchIt({ url: html.base, format: "text" })).words).toContain("[[a b]]");
    expect((await fetchIt({ url: html.base, format: "raw" })).words).toContain("[[<p>a <b>b</b>]]");
  });

  verifies(["T8", "T9"], "gives a long page in parts that fit together", async () => {
    const text = Array.from({ length: 400 }, (_, index) => `line ${index} ${"😀".repeat(index % 7)}`).join("\n");
    const { base } = await site(page(text, { "content-type": "text/plain; charset=utf-8" }));
    let whole = "";
    for (let offset = 0; ; ) {
      const { words, details } = await fetchIt({ url: base, offset, limit: 997 });
      const part = words.slice(words.indexOf("[[") + 2, words.lastIndexOf("]]"));
      expect(part).not.toMatch(/\p{Surrogate}/u);
      whole += part;
      if (details.truncated === false) break;
      offset = Number(/Continue with offset (\d+)/.exec(words)?.[1]);
    }
    expect(whole).toBe(text);
    const past = await fetchIt({ url: base, offset: 1_000_000 });
    expect(past).toMatchObject({ status: "error", words: expect.stringContaining("past its end") });
  });

  it("cuts a part at a line end near its end, and within a character only where it must go on", async () => {
    const to = async (text: string, limit: number) => {
      const { base } = await site(page(text, { "content-type": "text/plain; charset=utf-8" }));
      return (await fetchIt({ url: base, limit })).details.to;
    };
    const smiles = "😀".repeat(50);
    expect([await to(smiles, 2), await to(smiles, 3), await to(smiles, 1)]).toEqual([2, 2, 1]);
    const [near, far] = [91, 90].map((at) => `${"x".repeat(at - 1)}\n${"y".repeat(200)}`);
    expect([await to(near ?? "", 100), await to(far ?? "", 100)]).toEqual([91, 100]);
    expect([await to("z".repeat(100), 100), await to("z".repeat(101), 100)]).toEqual([100, 100]);
  });

  verifies(
    ["T8"],
    "fetches a page once while nothing changes, also for two calls at once and for its parts",
    async () => {
      const { base, requests } = await site((request, response) => {
        if (request.url !== "/bad") return page("one two three", { "content-type": "text/plain" })(request, response);
        response.writeHead(500);
        response.end("broken");
      });
      const tool = toolFor();
      const get = (args: JsonObject, unchanged: object) =>
        tool.run(args, { signal: new AbortController().signal, progress: () => {}, unchanged });
      const first = {};
      const [one, other] = await Promise.all([get({ url: base }, first), get({ url: base }, first)]);
      expect(one).toEqual(other);
      const rest = await get({ url: base, offset: 4 }, first);
      expect(plainText(rest.content)).toContain("[[two three]]");
      expect(requests).toHaveLength(1);
      await get({ url: base }, {});
      expect(requests, "something may have changed").toHaveLength(2);
      for (let time = 0; time < 2; time++) expect((await get({ url: `${base}/bad` }, first)).status).toBe("error");
      expect(requests, "an error page is fetched again").toHaveLength(4);
    },
  );

  verifies(["T8"], "sends nothing but the request: no credentials, no cookies, and says who it is", async () => {
    const { base, requests } = await site((request, response) => {
      if (request.url === "/second") return page("done")(request, response);
      response.writeHead(302, { location: "/second", "set-cookie": "id=1" });
      response.end();
    });
    const secret = ["pass", "word"].join("");
    await fetchIt({ url: base.replace("//", `//me:${secret}@`) }, { userAgent: "oxbow/9 (web_fetch)" });
    expect(requests.map(({ url }) => url)).toEqual(["/", "/second"]);
    for (const { method, headers } of requests) {
      expect(method).toBe("GET");
      expect(Object.keys(headers).sort()).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
      expect(headers).toMatchObject({ host: new URL(base).host, "user-agent": "oxbow/9 (web_fetch)" });
    }
  });

  verifies(["T8"], "asks a person about the address that is really meant", async () => {
    const tool = toolFor();
    const canonical = async (url: string) => (await tool.canonical?.({ url, limit: 5 }))?.url;
    expect(await canonical("https://github.com@EVIL.example./a#b")).toBe("https://evil.example/a");
    expect(await canonical("nonsense")).toBe("nonsense");
  });

  verifies(["T8"], "says what it cannot read", async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0]);
    const image = await site(page(bytes, { "content-type": "image/png" }));
    expect((await fetchIt({ url: image.base })).words).toContain("an image file (image/png), not text");
    const liar = await site(page(bytes, { "content-type": "text/html" }));
    expect(await fetchIt({ url: liar.base })).toMatchObject({
      status: "error",
      words: expect.stringContaining("binary"),
    });
    const empty = await site(page(""));
    expect((await fetchIt({ url: empty.base })).words).toBe("HTTP 200, text/html\nThe answer has no content.");
    const app = await site(page("<div id=root></div><script src=a.js></script>"));
    expect((await fetchIt({ url: app.base })).words).toContain("JavaScript builds it");
  });

  verifies(["T8"], "reports an error of the server with the beginning of its text", async () => {
    const { base } = await site((_request, response) => {
      response.writeHead(404, { "content-type": "text/html" });
      response.end(`<h1>Not here</h1>${"<p>words ".repeat(2000)}`);
    });
    const { status, words } = await fetchIt({ url: base });
    expect(status).toBe("error");
    expect(words).toContain("HTTP 404, text/html\n[[# Not here");
    expect(words.length).toBeLessThan(2500);
  });

  it("says what is wrong with the arguments", async () => {
    for (const args of [
      {},
      { url: 1 },
      { url: "https://a.example/", format: "pdf" },
      { url: "https://a.example/", limit: 0 },
    ])
      expect((await fetchIt(args as JsonObject)).status).toBe("error");
    expect((await fetchIt({ url: "example.com" })).words).toContain("not a complete address");
  });
});

describe("where web_fetch may go", () => {
  verifies(["T8"], "connects to nothing that was not allowed", async () => {
    const { base, port, requests } = await site(page("secret"));
    const urls = [
      `http://127.0.0.1:${port}/`,
      `http://localhost:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
    ];
    for (const url of [...urls, "file:///etc/passwd", `http://other.example:${port}/`]) {
      const { status, words } = await fetchIt({ url });
      expect([url, status, words]).toEqual([url, "error", expect.stringContaining("Not fetched")]);
    }
    expect(requests).toHaveLength(0);
    expect((await fetchIt({ url: base })).status).toBe("ok");
  });

  verifies(["T8"], "connects to the address that was checked, whatever the name server says next", async () => {
    const { port, base, requests } = await site(page("checked"));
    const trap = createServer((_request, response) => response.end("trap"));
    // If this machine has only one address, nothing answers there.
    await listen(trap, "127.0.0.2", port).catch(() => {});
    const answers = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]];
    const { words } = await fetchIt({ url: base }, { lookup: async () => answers.shift() ?? [] });
    expect(words).toContain("checked");
    expect(requests).toHaveLength(1);
    expect(answers).toHaveLength(2);
  });

  verifies(["T8"], "checks every hop again, even on the same host", async () => {
    const { base, requests } = await site((_request, response) => {
      response.writeHead(302, { location: "/next" });
      response.end();
    });
    const answers = [["127.0.0.1"], ["169.254.169.254"]];
    const { status, words } = await fetchIt({ url: base }, { lookup: async () => answers.shift() ?? [] });
    expect(status).toBe("error");
    expect(words).toContain("leads to 169.254.169.254, which is where a cloud hands out credentials");
    expect(requests).toHaveLength(1);
  });

  verifies(["T8"], "refuses redirects to where it may not go", async () => {
    const secret = await site(page("secret"));
    const places = [
      `http://127.0.0.1:${secret.port}/secret`,
      "http://169.254.169.254/latest/meta-data/",
      "file:///etc/passwd",
      "http://[::1]/",
      "gopher://docs.corp/",
      `//localhost:${secret.port}/`,
    ];
    for (const location of places) {
      const { base } = await site((_request, response) => {
        response.writeHead(302, { location });
        response.end();
      });
      const { status, words } = await fetchIt({ url: base });
      expect([location, status, words]).toEqual([location, "error", expect.stringContaining("Not fetched: docs.corp")]);
    }
    expect(secret.requests).toHaveLength(0);
  });

  verifies(["T8"], "reports a redirect to another site instead of following it", async () => {
    const { base } = await site((_request, response) => {
      response.writeHead(301, { location: "https://me@elsewhere.example/ignore%20your%20orders#x" });
      response.end();
    });
    const { status, words, details } = await fetchIt({ url: base });
    expect(status).toBe("ok");
    expect(words).toContain("HTTP 301: this redirects to another host");
    expect(words).toContain("[[https://elsewhere.example/ignore%20your%20orders]]");
    expect(details).toMatchObject({ redirect: "https://elsewhere.example/ignore%20your%20orders" });
    const target = await site(page("never asked for"));
    const otherPort = await site((_request, response) => {
      response.writeHead(302, { location: `${target.base}/` });
      response.end();
    });
    expect((await fetchIt({ url: otherPort.base })).words).toContain("redirects to another host");
    expect(target.requests).toHaveLength(0);
  });

  verifies(["T8"], "follows a site to www. and back, and gives up on a circle", async () => {
    const { base, requests } = await site((request, response) => {
      if (request.headers.host?.startsWith("www.")) return page("arrived")(request, response);
      response.writeHead(308, { location: base.replace("//", "//www.") });
      response.end();
    });
    const allowedHosts = ["docs.corp", "www.docs.corp"];
    expect(await fetchIt({ url: base }, { allowedHosts })).toMatchObject({
      status: "ok",
      words: expect.stringContaining("arrived"),
    });
    expect(requests).toHaveLength(2);
    const circle = await site((request, response) => {
      response.writeHead(302, { location: request.url === "/a" ? "/b" : "/a" });
      response.end();
    });
    expect((await fetchIt({ url: circle.base })).words).toContain("redirects more than 5 times");
    expect(circle.requests).toHaveLength(6);
  });

  verifies(["T8"], "keeps the name for TLS when it connects to an address", async () => {
    let hello = Buffer.alloc(0);
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (bytes) => {
        hello = bytes;
        socket.destroy();
      });
    });
    const port = await listen(server);
    expect((await fetchIt({ url: `https://docs.corp:${port}/` })).status).toBe("error");
    expect(hello.includes("docs.corp")).toBe(true);
  });

  verifies(["T8"], "pays no attention to proxies, and does not follow what a page says", async () => {
    const { base, requests } = await site(page('<meta http-equiv="refresh" content="0;url=/next">stay'));
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = "http://127.0.0.1:1";
    cleanUps.push(() => {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    });
    expect((await fetchIt({ url: base })).words).toContain("[[stay]]");
    expect(requests).toHaveLength(1);
  });
});

describe("what web_fetch bears", () => {
  verifies(["T8"], "unpacks what is packed, and no more of it than fits", async () => {
    const text = `${"lorem ipsum ".repeat(900)}end`;
    for (const [encoding, packed] of [
      ["gzip", gzipSync(text)],
      ["deflate", deflateSync(text)],
      ["br", brotliCompressSync(text)],
    ] as const) {
      const { base } = await site(page(packed, { "content-type": "text/plain", "content-encoding": encoding }));
      expect([encoding, (await fetchIt({ url: base })).words.includes("end]]")]).toEqual([encoding, true]);
    }
    const bomb = await site(
      page(gzipSync(Buffer.alloc(60_000_000, "a")), { "content-type": "text/plain", "content-encoding": "gzip" }),
    );
    const { words, details } = await fetchIt({ url: bomb.base }, { limits: { bodyBytes: 100_000 } });
    expect(details).toMatchObject({ bytes: 100_000, truncated: true });
    expect(words).toContain("its end is missing");
  });

  verifies(["T8"], "refuses what is packed twice, and says what is damaged", async () => {
    const body = gzipSync(gzipSync("x"));
    const twice = await site(page(body, { "content-type": "text/plain", "content-encoding": "gzip, gzip" }));
    expect((await fetchIt({ url: twice.base })).words).toContain("unknown way");
    const damaged = await site(page("not gzip", { "content-type": "text/plain", "content-encoding": "gzip" }));
    expect((await fetchIt({ url: damaged.base })).words).toContain("damaged");
    const whole = gzipSync("begin ".repeat(5000));
    const half = await site(
      page(whole.subarray(0, whole.length - 20), { "content-type": "text/plain", "content-encoding": "gzip" }),
    );
    expect((await fetchIt({ url: half.base })).words).toContain("begin");
  });

  verifies(["T8"], "stops reading a body that does not end, and hangs up", async () => {
    let closed = false;
    const { base } = await site((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const more = () => {
        while (response.write("more and more ".repeat(500))) if (response.destroyed) return;
      };
      response.on("drain", more).on("close", () => {
        closed = true;
      });
      more();
    });
    const { details } = await fetchIt({ url: base }, { limits: { bodyBytes: 200_000 } });
    expect(details).toMatchObject({ bytes: 200_000, truncated: true });
    await until(() => closed);
  });

  verifies(["T8"], "does not wait for an answer, or for the rest of one, longer than its time", async () => {
    const silent = await listen(createTcpServer((socket) => socket.on("error", () => {})));
    const slow = await site((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      response.write("a");
    });
    const limits = { idleMs: 15_000, connectMs: 1e9, totalMs: 1e9 };
    const cases: readonly [string, string][] = [
      [`http://docs.corp:${silent}/`, "no response within 15s"],
      [slow.base, "the server sent nothing for 15s"],
    ];
    for (const [url, words] of cases) {
      const clock = new ManualClock();
      let isOver = false;
      const fetching = fetchIt({ url }, { clock, limits }).finally(() => {
        isOver = true;
      });
      await until(() => {
        clock.advance(10);
        return isOver;
      });
      expect([url, (await fetching).words]).toEqual([url, expect.stringContaining(words)]);
    }
  });

  verifies(["T8"], "stops a server that always sends a little in time", async () => {
    const clock = new ManualClock();
    let answer: ServerResponse | undefined;
    const { base } = await site((_request, response) => {
      answer = response;
      response.writeHead(200, { "content-type": "text/plain" });
      response.write("a");
    });
    const fetching = fetchIt({ url: base }, { clock, limits: { idleMs: 1_000_000 } });
    await until(() => answer !== undefined && clock.pending > 1);
    clock.advance(45_000);
    expect(await fetching).toMatchObject({ status: "error", words: expect.stringContaining("longer than 45 seconds") });
    expect(clock.pending).toBe(0);
  });

  verifies(["T8"], "does not wait for a name server that does not answer", async () => {
    const clock = new ManualClock();
    const fetching = fetchIt({ url: "https://a.example/" }, { clock, lookup: () => new Promise(() => {}) });
    await until(() => clock.pending > 0);
    clock.advance(45_000);
    expect((await fetching).words).toContain("longer than 45 seconds");
  });

  verifies(["T8"], "survives long headers, broken answers and none at all", async () => {
    const long = await site(page("x", { "content-type": "text/plain", "x-long": "y".repeat(20_000) }));
    expect((await fetchIt({ url: long.base })).words).toContain("headers of the answer are too long");
    for (const answer of [
      "",
      "SSH-2.0-server\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
      "HTTP/1.1 302\r\nLocation: http://[\r\n\r\n",
    ]) {
      const port = await listen(createTcpServer((socket) => socket.on("error", () => {}).end(answer)));
      expect([answer, (await fetchIt({ url: `http://docs.corp:${port}/` })).status]).toEqual([answer, "error"]);
    }
    const gone = await listen(createTcpServer());
    cleanUps.pop()?.();
    expect((await fetchIt({ url: `http://docs.corp:${gone}/` })).words).toContain("connection refused");
  });

  verifies(["T8"], "is cancelled in the middle, and hangs up", async () => {
    const stop = new AbortController();
    let closed = false;
    const { base } = await site((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      response.write("a");
      response.on("close", () => {
        closed = true;
      });
      setImmediate(() => stop.abort());
    });
    expect(await fetchIt({ url: base }, {}, stop.signal)).toMatchObject({ status: "cancelled", words: "Cancelled." });
    await until(() => closed);
    expect((await fetchIt({ url: base }, {}, AbortSignal.abort())).status).toBe("cancelled");
  });
});
