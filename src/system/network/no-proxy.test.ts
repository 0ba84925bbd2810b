import { describe, expect, it } from "vitest";
import { parseNoProxy } from "./no-proxy.js";
import { parseProxyAddress } from "./proxy-address.js";

const CASES: readonly (readonly [list: string, direct: readonly string[], proxied: readonly string[]])[] = [
  [
    "",
    ["http://localhost:11434", "http://127.0.0.1", "http://127.9.9.9", "http://[::1]:80", "http://0.0.0.0:1"],
    ["http://10.0.0.1"],
  ],
  ["", ["http://a.localhost", "http://LOCALHOST.:8080"], ["http://localhost.example.com", "http://notlocalhost"]],
  ["*", ["https://a.b", "http://10.0.0.1"], []],
  [
    "example.com",
    ["https://example.com", "https://a.b.example.com", "https://EXAMPLE.com."],
    ["https://badexample.com", "https://example.com.evil.net"],
  ],
  [".example.com", ["https://example.com", "https://a.example.com"], ["https://badexample.com"]],
  ["*.Example.com", ["https://a.example.com"], ["https://badexample.com"]],
  [
    "a.test b.test,c.test ,, d.test",
    ["http://a.test", "http://b.test", "http://c.test", "http://d.test"],
    ["http://e.test"],
  ],
  ["example.com:8443", ["https://example.com:8443"], ["https://example.com", "http://example.com"]],
  ["example.com:443", ["https://example.com"], ["http://example.com", "https://example.com:8443"]],
  ["10.0.0.0/8", ["http://10.255.0.1:99"], ["http://11.0.0.1", "http://ten.example.com"]],
  ["10.1.2.3", ["http://10.1.2.3", "http://[::ffff:10.1.2.3]"], ["http://10.1.2.30", "http://1.10.1.2.3.example.com"]],
  ["192.168.*", ["http://192.168.7.7"], ["http://192.169.1.1"]],
  ["fd00::/8", ["http://[fd12::1]:3000"], ["http://[fe80::1]"]],
  ["fd12::1, [fd12::2]:80", ["http://[fd12::1]:99", "http://[fd12::2]"], ["http://[fd12::2]:81"]],
  ["bücher.example", ["https://xn--bcher-kva.example", "https://a.bücher.example"], ["https://bucher.example"]],
  ["10.0.0.0/99,/,:,*:80,.,[", [], ["http://10.0.0.1:81", "https://a.test"]],
];

describe("NO_PROXY", () => {
  it.each(CASES)("%s", (list, direct, proxied) => {
    const isDirect = parseNoProxy(list);
    for (const url of direct) expect(isDirect(new URL(url)), url).toBe(true);
    for (const url of proxied) expect(isDirect(new URL(url)), url).toBe(false);
  });
});

describe("the address of a proxy", () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

  it("is read with and without a scheme, a port and a login", () => {
    const cases = [
      ["http://proxy.corp:3128", { shown: "http://proxy.corp:3128", host: "proxy.corp", port: 3128, secure: false }],
      ["proxy.corp:3128/", { shown: "http://proxy.corp:3128", port: 3128 }],
      ["proxy.corp", { port: 80 }],
      ["HTTPS://proxy.corp", { port: 443, secure: true }],
      ["http://[::1]:8080", { host: "::1", port: 8080 }],
      ["http://me:p%40ss%3Aword@proxy:1", { shown: "http://proxy:1", authorization: basic("me:p@ss:word") }],
      ["me:secret@proxy:1", { authorization: basic("me:secret") }],
      ["http://me:p@ss@proxy:1", { shown: "http://proxy:1", authorization: basic("me:p@ss") }],
      ["http://me:100%@proxy:1", { authorization: basic("me:100%") }],
      ["http://me@proxy:1", { authorization: basic("me:") }],
    ] as const;
    for (const [text, expected] of cases) expect(parseProxyAddress(text, "X"), text).toMatchObject(expected);
  });

  it("that cannot be parsed is reported without its password", () => {
    for (const text of [
      "http://me:sec/ret@proxy:1",
      "http://me:sec#ret@proxy:1",
      "socks5://me:secret@proxy",
      "http://me:secret@proxy:99999",
      "http://",
      "me:secret@",
      "http://me:secret@proxy:1/path",
    ]) {
      const read = () => parseProxyAddress(text, "HTTPS_PROXY");
      expect(read, text).toThrow(/^HTTPS_PROXY/);
      expect(read, text).not.toThrow(/sec/);
    }
  });
});
