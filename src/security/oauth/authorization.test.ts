import { describe, expect, it } from "vitest";
import { authorizationUrl, readAnswer, readPaste } from "./authorization.js";
import { challengeOf, newProof } from "./pkce.js";
import { type BrowserProvider, OAUTH_PROVIDERS } from "./providers.js";
import { atTestServer, whereSignedIn } from "./test-server.js";

const browsers = OAUTH_PROVIDERS.filter((provider): provider is BrowserProvider => provider.flow === "browser");

describe("proof of who asked", () => {
  it("has the challenge of the standard's own example", () => {
    // RFC 7636, appendix B.
    expect(challengeOf("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")).toBe(
      "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    );
  });

  it("is new and long each time", () => {
    let seed = 0;
    const random = (count: number) => Uint8Array.from({ length: count }, () => seed++ % 256);
    const [one, other] = [newProof(random), newProof(random)];
    expect(new Set([one.verifier, one.state, other.verifier, other.state]).size).toBe(4);
    expect(one.verifier).toMatch(/^[\w-]{43}$/);
  });
});

describe("the address to open", () => {
  it.each(browsers.map((provider) => [provider.name, provider] as const))("[M13] is whole for %s", (_, provider) => {
    const url = new URL(authorizationUrl(provider, { challenge: "c", state: "s" }, "http://localhost:1/x"));
    expect(url.origin + url.pathname).toBe(provider.authorizeUrl);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      ...provider.authorizeExtra,
      response_type: "code",
      client_id: provider.clientId,
      redirect_uri: "http://localhost:1/x",
      scope: provider.scope,
      code_challenge: "c",
      code_challenge_method: "S256",
      state: "s",
    });
  });

  it("is https everywhere, and can be led to this machine only", () => {
    for (const provider of OAUTH_PROVIDERS) {
      const addresses = Object.values(provider).filter((value) => typeof value === "string" && /^https?:/.test(value));
      expect(addresses.length).toBeGreaterThan(1);
      for (const address of [...addresses, provider.api.baseUrl]) expect(address).toMatch(/^https:/);
      for (const server of ["https://evil.example", "http://127.0.0.1.evil.example", "http://10.0.0.1", "x"]) {
        expect(() => atTestServer(provider, server)).toThrow("of this machine");
      }
      const moved = atTestServer(provider, "http://127.0.0.1:9/x");
      expect(moved.tokenUrl).toBe(`http://127.0.0.1:9/${provider.name}/token`);
      expect(whereSignedIn(provider, moved.api)).toEqual(moved);
      expect(whereSignedIn(provider, provider.api)).toBe(provider);
    }
  });
});

describe("the answer", () => {
  const read = (query: string) => readAnswer(new URLSearchParams(query), "mine");

  it("is believed with the right state only", () => {
    expect(read("code=abc&state=mine")).toEqual({ code: "abc" });
    expect(read("code=abc&state=other")).toBe("foreign");
    expect(read("code=abc")).toBe("foreign");
    expect(read("error=access_denied&state=other")).toBe("foreign");
    expect(read("error=access_denied&state=mine")).toMatchObject({ error: { problem: "refused" } });
    expect(read("state=mine")).toMatchObject({ error: { problem: "unexpected" } });
  });

  it("cannot act on the terminal", () => {
    const answer = read(
      `state=mine&error=x&error_description=${encodeURIComponent(`\u001b[2Jbad\n${"long".repeat(99)}`)}`,
    );
    const message = typeof answer === "object" && "error" in answer ? answer.error.message : "";
    expect(message).toMatch(/^The sign-in page reported a problem: bad long/);
    expect(message.length).toBeLessThan(260);
  });

  it.each([
    ["http://localhost:1455/auth/callback?code=abc-123&state=mine", { code: "abc-123" }],
    [' "http://localhost:1455/auth/callback?code=abc-123&state=mine" ', { code: "abc-123" }],
    ["abc-123#mine", { code: "abc-123" }],
    ["abc-123", { code: "abc-123" }],
    ["code=abc-123&state=mine", { code: "abc-123" }],
    ["?code=abc-123&state=mine", { code: "abc-123" }],
    ["abc-123#other", "foreign"],
    ["http://localhost:1455/?code=abc-123&state=other", "foreign"],
    ["http://localhost:1455/auth/callback", "unclear"],
    ["what now?", "unclear"],
    ["", "unclear"],
  ])("is found in a paste: %j", (pasted, expected) => {
    expect(readPaste(pasted, "mine")).toEqual(expected);
  });
});
