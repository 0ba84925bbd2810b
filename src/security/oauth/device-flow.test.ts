import { afterEach, describe, expect, it } from "vitest";
import { AuthorizationServer } from "../../../test/support/authorization-server.js";
import { ManualClock } from "../../base/clock.js";
import { createHttpClient } from "../../system/http-client.js";
import { TokenRefused } from "../credentials/entry.js";
import { exchangeForCopilot } from "./copilot-token.js";
import { signInByDevice } from "./device-flow.js";
import { type DeviceProvider, findOAuthProvider } from "./providers.js";
import { atTestServer } from "./test-server.js";

const http = createHttpClient();
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  http.close();
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function setUp() {
  const server = await AuthorizationServer.open();
  cleanUps.push(() => server.close());
  const found = findOAuthProvider("copilot");
  if (found === undefined) throw new Error("no such provider");
  const provider = atTestServer(found, server.url) as DeviceProvider;
  const clock = new ManualClock();
  const messages: string[] = [];
  const stop = new AbortController();
  const begin = () => {
    const done = signInByDevice(provider, {
      http,
      clock,
      signal: stop.signal,
      person: { notify: (text) => void messages.push(text) },
    });
    done.catch(() => {});
    return done;
  };
  /** Until the next question to the server is being waited for. */
  const waits = () => expect.poll(() => clock.pending, { interval: 1 }).toBe(1);
  const asked = () => server.asked("/token").length;
  /** Lets the time pass and the question that is due be asked and answered. */
  const pass = async (ms: number) => {
    const before = asked();
    clock.advance(ms);
    await expect.poll(asked, { interval: 1 }).toBe(before + 1);
  };
  const userCode = () => /│ +(\S+) +│/.exec(messages.join(""))?.[1] ?? "";
  return { server, provider, clock, messages, stop, begin, waits, pass, userCode };
}

const INTERVAL = 5500;

describe("signing in by a device code", () => {
  it("[M13] shows the code, asks at the server's pace and gets the token", async () => {
    const { server, messages, clock, begin, waits, pass, userCode } = await setUp();
    const done = begin();
    await waits();
    expect(messages.join("")).toContain(`${server.url}/copilot/device/page`);
    expect(userCode()).toMatch(/^WXYZ-\d{4}$/);
    clock.advance(INTERVAL - 1);
    expect(clock.pending).toBe(1);
    await pass(1);
    await waits();
    server.decide(userCode(), "agreed");
    await pass(INTERVAL);
    expect(await done).toMatch(/^account/);
    expect(clock.pending).toBe(0);
  });

  it("[M13] slows down on request, and continues after an error of the server", async () => {
    const { server, clock, begin, waits, pass, userCode } = await setUp();
    server.deviceSlowDowns = 1;
    const done = begin();
    await waits();
    await pass(INTERVAL);
    await waits();
    // Now ten seconds, as the answer said.
    clock.advance(INTERVAL);
    expect(clock.pending).toBe(1);
    server.instead.set("token", [{ status: 503, body: {} }]);
    await pass(5000);
    await waits();
    server.decide(userCode(), "agreed");
    await pass(15_500);
    await expect(done).resolves.toMatch(/^account/);
  });

  it.each([
    ["refused", "refused", "refused in the browser"],
    ["expired", "expired", "not entered in time"],
  ] as const)("[M13] ends when the code is %s", async (verdict, problem, message) => {
    const { server, begin, waits, pass, userCode } = await setUp();
    const done = begin();
    await waits();
    server.decide(userCode(), verdict);
    await pass(INTERVAL);
    await expect(done).rejects.toMatchObject({ problem, message: expect.stringContaining(message) });
  });

  it("ends with the code's life although the server cannot be reached, and at once when cancelled", async () => {
    const { server, clock, begin, waits, stop } = await setUp();
    const done = begin();
    await waits();
    await server.close();
    for (let turn = 0; turn < 40 && clock.now() < 900_000; turn++) {
      clock.advance(INTERVAL + turn * 5000);
      await expect.poll(() => clock.pending === 1 || clock.now() >= 900_000, { interval: 1 }).toBe(true);
    }
    await expect(done).rejects.toMatchObject({ problem: "expired" });

    const other = await setUp();
    const cancelled = other.begin();
    await other.waits();
    other.stop.abort();
    await expect(cancelled).rejects.toMatchObject({ problem: "cancelled" });
    expect(other.clock.pending).toBe(0);
    stop.abort();
  });

  it("shows no page of another service", async () => {
    const { server, begin, messages } = await setUp();
    const body = { device_code: "d", user_code: "u", verification_uri: "http://evil.example/", interval: 1 };
    server.instead.set("device", [{ status: 200, body }]);
    await expect(begin()).rejects.toMatchObject({ message: expect.stringContaining("sent no code to enter") });
    expect(messages).toEqual([]);
  });
});

describe("the token for Copilot's models", () => {
  async function account() {
    const found = await setUp();
    const done = found.begin();
    await found.waits();
    found.server.decide(found.userCode(), "agreed");
    await found.pass(INTERVAL);
    const token = await done;
    const signal = new AbortController().signal;
    const exchange = () => exchangeForCopilot(found.provider, token, { http, signal, now: 0 });
    return { ...found, token, exchange };
  }

  it("[M13] is had for the account's, with its end and the address of the models", async () => {
    const { server, token, exchange, provider } = await account();
    const { tokens, endpoint } = await exchange();
    expect(tokens).toMatchObject({ access: expect.stringMatching(/^access/), refresh: token });
    expect(tokens.expiresAt).toBeGreaterThan(server.now());
    expect(endpoint).toEqual({ ...provider.api, baseUrl: `${server.url}/copilot/api/moved` });
  });

  it("is never sent to a foreign address", async () => {
    const { server, exchange, provider } = await account();
    for (const api of ["https://evil.example", "http://evil.example", "nonsense"]) {
      server.instead.set("exchange", [{ status: 200, body: { token: "short-lived", endpoints: { api } } }]);
      expect((await exchange()).endpoint).toEqual(provider.api);
    }
  });

  it("[M13] is refused with a reason a person can use, and without the token", async () => {
    const { server, exchange, token } = await account();
    const said = { status: 403, body: { error_details: { message: "No access to Copilot found." } } };
    server.instead.set("exchange", [said]);
    await expect(exchange()).rejects.toMatchObject({
      problem: "not-entitled",
      message: "This GitHub account cannot use Copilot: No access to Copilot found.",
    });
    server.revokeAll();
    const error = await exchange().catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(TokenRefused);
    expect((error as Error).message).toContain("oxbow auth set copilot");
    expect((error as Error).message).not.toContain(token);
  });
});
