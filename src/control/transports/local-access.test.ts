import { describe, expect, it } from "vitest";
import { LocalAccess, type LocalAccessOptions, loopbackAddress } from "./local-access.js";

const TOKEN = ["a", "token", "for", "tests"].join("-");

function access(options: Partial<LocalAccessOptions> = {}): LocalAccess {
  return new LocalAccess({ address: "127.0.0.1", port: 4000, token: TOKEN, origins: [], ...options });
}

describe("where a server may listen", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["localhost", "127.0.0.1"],
    ["::1", "::1"],
    ["[::1]", "::1"],
    ["127.1.2.3", "127.1.2.3"],
  ])("%s is %s", (host, address) => {
    expect(loopbackAddress(host)).toBe(address);
  });

  it.each(["0.0.0.0", "::", "", "192.168.1.2", "example.com", "127.0.0.1.example.com", "127.1", "::ffff:127.0.0.1"])(
    "never %j",
    (host) => {
      expect(() => loopbackAddress(host)).toThrow(/^Refused to listen on/);
    },
  );
});

describe("the Host header", () => {
  it.each(["127.0.0.1:4000", "localhost:4000", "LOCALHOST:4000", "[::1]:4000"])("may be %s", (host) => {
    expect(access().refuseAddress({ host })).toBeUndefined();
  });

  it.each([
    "evil.example:4000",
    "127.0.0.1",
    "127.0.0.1:4001",
    "localhost.evil.example:4000",
    "127.0.0.1:4000.evil.example",
    "",
    undefined,
  ])("may not be %s", (host) => {
    expect(access().refuseAddress(host === undefined ? {} : { host })?.status).toBe(403);
  });

  it("may leave out the port that goes without saying, and name the address listened on", () => {
    expect(access({ port: 80 }).refuseAddress({ host: "localhost" })).toBeUndefined();
    expect(access({ address: "127.0.0.9" }).refuseAddress({ host: "127.0.0.9:4000" })).toBeUndefined();
  });
});

describe("the Origin header", () => {
  const host = "127.0.0.1:4000";

  it.each(["http://127.0.0.1:4000", "http://localhost:4000", "http://[::1]:4000"])(
    "may be the server's own %s",
    (origin) => {
      expect(access().refuseAddress({ host, origin })).toBeUndefined();
      expect(access().isAllowedForeign(origin)).toBe(false);
    },
  );

  it.each(["http://evil.example", "https://127.0.0.1:4000", "http://localhost:5173", "null", ""])(
    "may not be %j",
    (origin) => {
      expect(access().refuseAddress({ host, origin })?.status).toBe(403);
    },
  );

  it("may be one that was allowed by name, however that was spelled", () => {
    const open = access({ origins: ["http://LocalHost:5173/"] });
    expect(open.refuseAddress({ host, origin: "http://localhost:5173" })).toBeUndefined();
    expect(open.isAllowedForeign("http://localhost:5173")).toBe(true);
    expect(open.refuseAddress({ host, origin: "http://localhost:5174" })?.status).toBe(403);
    expect(() => access({ origins: ["*"] })).toThrow('"*" is not an origin');
  });
});

describe("the token", () => {
  it("is taken from either header or the query", () => {
    expect(access().refuseToken({ "x-oxbow-token": TOKEN }, undefined)).toBeUndefined();
    expect(access().refuseToken({ authorization: `bearer ${TOKEN}` }, undefined)).toBeUndefined();
    expect(access().refuseToken({}, TOKEN)).toBeUndefined();
  });

  it.each([
    [{}, undefined, "A token is required"],
    [{ "x-oxbow-token": "" }, undefined, "The token is wrong"],
    [{ "x-oxbow-token": `${TOKEN}x` }, undefined, "The token is wrong"],
    [{ authorization: `Basic ${TOKEN}` }, undefined, "A token is required"],
    [{}, "", "The token is wrong"],
  ])("is refused in %j and %j", (headers, inQuery, message) => {
    const refusal = access().refuseToken(headers, inQuery);
    expect(refusal?.status).toBe(401);
    expect(refusal?.message).toContain(message);
    expect(refusal?.message).not.toContain(TOKEN);
  });

  it("is not asked for when there is none", () => {
    const { token: _none, ...open } = { address: "127.0.0.1", port: 4000, token: TOKEN, origins: [] };
    expect(new LocalAccess(open).refuseToken({}, undefined)).toBeUndefined();
  });
});
