import { afterEach, describe, expect, it } from "vitest";
import { AuthorizationServer, browse, type ServerOptions } from "../../../test/support/authorization-server.js";
import { ManualClock } from "../../base/clock.js";
import { createHttpClient } from "../../system/http-client.js";
import { type OAuthTokens, TokenRefused } from "../credentials/entry.js";
import { signInByBrowser } from "./browser-flow.js";
import { type BrowserProvider, findOAuthProvider } from "./providers.js";
import { serverCredential, serverEntry, serverTokenSource } from "./server-tokens.js";
import { atTestServer } from "./test-server.js";
import { tokenSource } from "./token-sources.js";

const http = createHttpClient();
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  http.close();
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function signedIn(name: "claude" | "chatgpt", options: ServerOptions = {}) {
  const server = await AuthorizationServer.open(options);
  cleanUps.push(() => server.close());
  const found = findOAuthProvider(name);
  if (found === undefined) throw new Error("no such provider");
  const provider = atTestServer(found, server.url) as BrowserProvider;
  const { signal } = new AbortController();
  const tokens = await signInByBrowser(provider, {
    http,
    clock: new ManualClock(),
    random: (count) => crypto.getRandomValues(new Uint8Array(count)),
    signal,
    person: { notify: () => {} },
    open: (url) => void browse(url),
  });
  const source = tokenSource(name);
  const refresh = (old: OAuthTokens) => source?.refresh(old, { http, signal, now: 1000, endpoint: provider.api });
  return { server, tokens, refresh };
}

describe("renewing tokens", () => {
  it("[M13] uses a new refresh token if one comes, and keeps the other fields of the old one", async () => {
    const { tokens, refresh } = await signedIn("chatgpt", { accountId: "acc-1" });
    const renewed = await refresh({ ...tokens, identity: "someone" });
    expect(renewed?.tokens.access).not.toBe(tokens.access);
    expect(renewed?.tokens.refresh).not.toBe(tokens.refresh);
    expect(renewed?.tokens).toMatchObject({
      identity: "someone",
      expiresAt: 3_601_000,
      extra: { account_id: "acc-1" },
    });
    await expect(refresh(renewed?.tokens ?? tokens)).resolves.toBeDefined();
  });

  it("[M13] keeps the refresh token where none comes", async () => {
    const { tokens, refresh } = await signedIn("claude", { rotation: "kept" });
    const renewed = await refresh(tokens);
    expect(renewed?.tokens.refresh).toBe(tokens.refresh);
    expect(renewed?.tokens.access).not.toBe(tokens.access);
  });

  it("[M13] says to sign in again when it was revoked or used before, without the token", async () => {
    const { server, tokens, refresh } = await signedIn("claude");
    const again = "The sign-in with Claude has expired. Sign in again: oxbow auth set claude";
    const renewed = await refresh(tokens);
    await expect(refresh(tokens)).rejects.toThrow(new TokenRefused(again));
    await expect(refresh(renewed?.tokens ?? tokens)).rejects.toThrow(new TokenRefused(again));
    const { refresh: _, ...without } = tokens;
    await expect(refresh(without)).rejects.toBeInstanceOf(TokenRefused);
    for (const code of ["refresh_token_expired", "refresh_token_invalidated"]) {
      server.instead.set("token", [{ status: 401, body: { error: { code, message: "no" } } }]);
      await expect(refresh(tokens)).rejects.toBeInstanceOf(TokenRefused);
    }
  });

  it("renews the sign-in to an MCP server, and says to sign in again only when it has ended", async () => {
    const { server } = await signedIn("claude");
    const renewal = { tokenUrl: `${server.url}/claude/token`, clientId: "c", method: "none" } as const;
    const { tokens } = serverEntry({
      ...{ server: "files", url: "https://files.example/mcp", access: "old", refresh: "again", now: 1000, renewal },
    });
    const source = serverTokenSource(serverCredential("files"));
    const answers = (status: number, body: object) => server.instead.set("token", [{ status, body }]);
    const renew = () =>
      source.refresh(tokens, {
        http,
        signal: new AbortController().signal,
        now: 1000,
        endpoint: { baseUrl: "", headers: {} },
      });
    answers(200, { access_token: "new", expires_in: 60 });
    expect((await renew()).tokens).toMatchObject({ access: "new", refresh: "again", expiresAt: 61_000 });
    for (const [status, error, isOver] of [
      [400, "invalid_grant", true],
      [401, "token_expired", true],
      [400, "invalid_request", false],
      [503, "invalid_grant", false],
    ] as const) {
      answers(status, { error });
      const problem = await renew().catch((reason) => reason);
      expect([status, error, problem instanceof TokenRefused]).toEqual([status, error, isOver]);
      if (isOver) expect(problem.message).toContain("'files' has expired. Sign in again: oxbow mcp auth files");
    }
  });

  it("treats network problems as temporary", async () => {
    const { server, tokens, refresh } = await signedIn("claude");
    const body = { error: "server_error", error_description: `could not look up ${tokens.refresh}` };
    server.instead.set("token", [
      { status: 503, body },
      { status: 200, body: {} },
      { status: 302, body: {} },
    ]);
    await expect(refresh(tokens)).rejects.toMatchObject({
      problem: "unreachable",
      message: expect.not.stringContaining("refresh-"),
    });
    await expect(refresh(tokens)).rejects.toMatchObject({ message: expect.stringContaining("without a token") });
    await expect(refresh(tokens)).rejects.toMatchObject({ message: expect.stringContaining("HTTP 302") });
    server.instead.set("token", [{ status: 200, body: { access_token: "a\r\nhost: b" } }]);
    await expect(refresh(tokens)).rejects.toMatchObject({ message: expect.stringContaining("no header can carry") });
    await server.close();
    await expect(refresh(tokens)).rejects.toMatchObject({ problem: "unreachable" });
  });
});
