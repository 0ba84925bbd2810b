import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { checkUrl } from "./check-url.js";
import { classifyAddress } from "./classify-address.js";
import { netPolicy } from "./net-policy.js";

const problem = (url: string) => {
  const verdict = checkUrl(url);
  return verdict.allowed ? "allowed" : verdict.problem;
};
const href = (url: string, allowedHosts: readonly string[] = []) => {
  const verdict = checkUrl(url, netPolicy(allowedHosts));
  return verdict.allowed ? verdict.url.href : verdict.reason;
};

describe("checkUrl", () => {
  verifies(["T8"], "sees this machine through every spelling", () => {
    const spellings = [
      "http://localhost/",
      "http://LocalHost.:8080/",
      "http://a.b.localhost",
      "http://127.9/",
      "http://0x7f000001/",
      "http://0177.1/",
      "http://2130706434/",
      "http://127.0.0.1./",
      "http://１２７．１/",
      "http://⑫⑦.0.0.1",
      "http://127。0。0。1",
      "http://%6c%6fcalhost/",
      "http://loc\u00adalhost/",
      "http://[::1]/",
      "http://[::ffff:127.0.0.1]/",
      "http://[::ffff:7f00:0001]:8080/",
      "http:\\\\127.0.0.1\\x",
      "http:/127.0.0.1",
      " http://127.0.0.1\n",
      "https://example.com@127.0.0.1/",
      "https://example.com:443@[::1]/",
      "http://ip6-localhost/",
    ];
    for (const url of spellings) expect([url, problem(url)]).not.toEqual([url, "allowed"]);
  });

  verifies(["T8"], "takes http and https alone", () => {
    const others =
      "file:///etc/passwd ftp://a.org/ data:text/html,x javascript:1 gopher://a.org/ ws://a.org/ blob:http://a.org/1";
    for (const url of others.split(" ")) expect([url, problem(url)]).toEqual([url, "refused"]);
    expect(problem("jar:http://a.org!/")).toBe("refused");
    expect(problem("HTTPS://A.org/")).toBe("allowed");
  });

  verifies(["T8"], "refuses names that are not of the public internet", () => {
    const names =
      "intranet printer.local nas.lan router.home.arpa metadata.google.internal a.corp x.home y.test z.invalid w.onion " +
      "host.docker.internal metadata localhost.localdomain";
    for (const name of names.split(" ")) expect([name, problem(`http://${name}/`)]).toEqual([name, "refused"]);
    for (const name of "internal.org localhost.dev local.example my-host.co.uk _a.example.com xn--bcher-kva.de".split(
      " ",
    ))
      expect([name, problem(`http://${name}/`)]).toEqual([name, "allowed"]);
  });

  verifies(["T8"], "refuses hosts that must not be looked up", () => {
    const hosts = [
      "a..b.com",
      "foo.09..",
      "0x7f.0.0.0x7g",
      "a.b-",
      "-a.com",
      `${"a".repeat(64)}.com`,
      "a'b.com",
      "a.1com",
      ".",
    ];
    for (const host of hosts) expect([host, problem(`http://${host}/`)]).not.toEqual([host, "allowed"]);
    expect(problem(`http://${"a.".repeat(130)}com/`)).toBe("refused");
  });

  verifies(["T8"], "reports invalid addresses", () => {
    for (const url of [
      "",
      "example.com",
      "http://",
      "http://[::1",
      "http://a b.com/",
      "http://1.2.3.4.5/",
      "http://a:99999/",
    ])
      expect([url, problem(url)]).toEqual([url, "malformed"]);
    expect(problem(`http://a.org/${"x".repeat(9000)}`)).toBe("malformed");
  });

  verifies(["T8"], "takes credentials, the fragment and the root's dot off", () => {
    const secret = ["pass", "word"].join("");
    expect(href(`https://me:${secret}@example.com./a?b=c#d`)).toBe("https://example.com/a?b=c");
    expect(href("https://EXAMPLE.com:443/ü")).toBe("https://example.com/%C3%BC");
  });

  verifies(["T8"], "refuses ports at which no web server is", () => {
    for (const port of [22, 25, 6379, 11211, 6667])
      expect(href(`http://example.com:${port}/`)).toContain("not for web pages");
    for (const port of [80, 443, 3000, 8080, 8443]) expect(problem(`http://example.com:${port}/`)).toBe("allowed");
    expect(href("http://127.0.0.1:22/", ["127.0.0.1"])).toContain("not for web pages");
  });

  verifies(["T8"], "lets the user allow hosts of their network, but no forbidden address", () => {
    const allowed = [
      "docs.corp",
      "127.0.0.1:8080",
      "*.lan",
      "[::1]:3000",
      "Bücher.intern",
      "169.254.169.254",
      "10.0.0.7",
    ];
    const answers = (urls: string) => urls.split(" ").map((url) => checkUrl(url, netPolicy(allowed)).allowed);
    expect(answers("http://docs.corp/ http://DOCS.corp.:81/ http://127.0.0.1:8080/ http://0x7f.1:8080/")).toEqual(
      new Array(4).fill(true),
    );
    expect(
      answers("http://a.lan/ http://b.a.lan/ http://[0:0::1]:3000/ http://xn--bcher-kva.intern/ http://10.0.0.7/"),
    ).toEqual(new Array(5).fill(true));
    expect(answers("http://x.docs.corp/ http://127.0.0.1/ http://127.0.0.1:80/ http://lan/ http://[::1]/")).toEqual(
      new Array(5).fill(false),
    );
    expect(answers("http://169.254.169.254/ http://10.0.0.8/ http://docs.corp@10.0.0.8/")).toEqual(
      new Array(3).fill(false),
    );
  });

  it("names the entry of the settings that cannot be read", () => {
    for (const entry of ["", "http://a.corp", "a/b", "a:b", "*", "*.*.corp", "a@b", "[::1", "1.2.3.4.5"])
      expect(() => netPolicy([entry])).toThrow(`"${entry}" is not a host`);
  });

  it("never allows a host whose address is not public, and never throws", () => {
    const piece = fc.constantFrom(
      "127",
      "0x7f",
      "0177",
      "10",
      "0",
      "1",
      "169",
      "254",
      ".",
      ":",
      "@",
      "[",
      "]",
      "::",
      "a",
      "%",
      "。",
    );
    const any = fc
      .array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 12 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(any, (rest) => {
        const verdict = checkUrl(`http://${rest}`);
        if (!verdict.allowed) return;
        expect(verdict.url.username + verdict.url.password).toBe("");
        if (verdict.isLiteral) expect(classifyAddress(verdict.host).kind).toBe("public");
        else expect(verdict.host).toMatch(/\.[a-z][a-z0-9-]*$/);
      }),
      { numRuns: times(400, 2000) },
    );
  });
});
