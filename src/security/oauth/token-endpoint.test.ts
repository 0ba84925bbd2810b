import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../protocol/json.js";
import type { HttpClient, HttpResponse } from "../../system/http-client.js";
import { HttpError } from "../../system/http-error.js";
import { complaint, ENDED, errorCode, post, readTokens, send } from "./token-endpoint.js";

const HOST = "sign-in.example";
const NOW = 1_800_000_000_000;
const jwt = (claims: object) => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;
const replyOf = (body: JsonObject, status = 200) => ({ status, body, conceal: (text: string) => text });
const read = (body: JsonObject) => readTokens(replyOf({ access_token: "a", ...body }), { host: HOST, now: NOW });
const OPENAI = "https://api.openai.com/auth";

describe("the tokens of an answer", () => {
  const exp = 1_900_000_000;

  it.each<[string, JsonObject, object]>([
    ["nothing more", {}, { access: "a" }],
    ["a lifetime", { expires_in: 60 }, { access: "a", expiresAt: NOW + 60_000 }],
    ["no lifetime that is over", { expires_in: 0 }, { access: "a" }],
    ["a lifetime of one second", { expires_in: 1 }, { access: "a", expiresAt: NOW + 1000 }],
    ["a lifetime as text", { expires_in: "60" }, { access: "a" }],
    ["the token's own end", { access_token: jwt({ exp }) }, { access: jwt({ exp }), expiresAt: exp * 1000 }],
    [
      "a lifetime before the token's own end",
      { access_token: jwt({ exp }), expires_in: 5 },
      { access: jwt({ exp }), expiresAt: NOW + 5000 },
    ],
    ["a refresh token", { refresh_token: "r" }, { access: "a", refresh: "r" }],
    ["a name", { id_token: jwt({ email: "me@x" }) }, { access: "a", identity: "me@x" }],
    ["a name of its own", { access_token: jwt({ email: "a@x" }) }, { access: jwt({ email: "a@x" }), identity: "a@x" }],
    [
      "an account of its own",
      { access_token: jwt({ chatgpt_account_id: "b" }) },
      { access: jwt({ chatgpt_account_id: "b" }), extra: { account_id: "b" } },
    ],
    ["a name in the account", { account: { email_address: "me@y" } }, { access: "a", identity: "me@y" }],
    [
      "an account",
      { id_token: jwt({ [OPENAI]: { chatgpt_account_id: "acc" } }) },
      { access: "a", extra: { account_id: "acc" } },
    ],
    [
      "an account beside",
      { id_token: jwt({ chatgpt_account_id: "acc" }) },
      { access: "a", extra: { account_id: "acc" } },
    ],
    ["an account that no header can carry", { id_token: jwt({ chatgpt_account_id: "a\nb" }) }, { access: "a" }],
    ["claims that are no JSON", { id_token: "a.b.c" }, { access: "a" }],
    ["claims without parts", { id_token: "abc" }, { access: "a" }],
  ])("has %s", (_, body, tokens) => {
    expect(read(body)).toStrictEqual(tokens);
  });

  it.each(["a b", "a\r\nx: y", "é"])("is refused with a token that no header can carry: %j", (access_token) => {
    expect(() => read({ access_token })).toThrow(`${HOST} sent a token that no header can carry.`);
  });

  it("is refused without a token, or with a status that is no success", () => {
    const from = (body: JsonObject, status: number) => () =>
      readTokens(replyOf(body, status), { host: HOST, now: NOW });
    expect(from({}, 200)).toThrow(`${HOST} answered without a token.`);
    for (const status of [199, 300, 400]) expect(from({ access_token: "a" }, status)).toThrow(`HTTP ${status}`);
    for (const status of [200, 299]) expect(from({ access_token: "a" }, status)()).toEqual({ access: "a" });
  });
});

describe("a problem at the token endpoint", () => {
  it.each<[JsonObject, string]>([
    [{ error: "invalid_grant" }, "invalid_grant"],
    [{ error: { code: "token_expired", type: "t" } }, "token_expired"],
    [{ error: { type: "refresh_token_reused" } }, "refresh_token_reused"],
    [{ code: "token_revoked" }, "token_revoked"],
    [{ error: 7 }, ""],
  ])("of %j has the code %j", (body, code) => {
    expect(errorCode(replyOf(body, 400))).toBe(code);
    expect(ENDED.test(code)).toBe(code !== "");
  });

  it.each<[number, JsonObject, string, string]>([
    [400, { error: "access_denied" }, "refused", `${HOST} refused the sign-in.`],
    [400, { error: "x", error_description: "No." }, "unexpected", `${HOST} answered with HTTP 400 (x: No.).`],
    [403, { error: { message: "Not you." } }, "unexpected", `${HOST} answered with HTTP 403 (Not you.).`],
    [404, { message: "Gone." }, "unexpected", `${HOST} answered with HTTP 404 (Gone.).`],
    [429, {}, "unreachable", `${HOST} answered with HTTP 429.`],
    [499, {}, "unexpected", `${HOST} answered with HTTP 499.`],
    [500, {}, "unreachable", `${HOST} answered with HTTP 500.`],
    [200, { message: "Odd." }, "unexpected", `${HOST} answered with HTTP 200 (Odd.).`],
  ])("%i %j is %s", (status, body, problem, message) => {
    expect(complaint(replyOf(body, status), HOST)).toMatchObject({ problem, message });
  });

  const answering = (answer: string | Error) => {
    let destroyed = 0;
    const response = { status: 200, text: async () => answer, destroy: () => destroyed++ } as unknown as HttpResponse;
    const request = async () => {
      if (answer instanceof Error) throw answer;
      return response;
    };
    return { http: { request, close: () => {} } satisfies HttpClient, destroyed: () => destroyed };
  };
  const ask = post(`https://${HOST}/token`, { code: "the-code", refresh_token: "", x: "plain" }, "json");

  it("repeats no secret of the request", async () => {
    const { http, destroyed } = answering('{"message": "the-code is not plain"}');
    const reply = await send(ask, { http, signal: new AbortController().signal });
    expect(complaint(reply, HOST).message).toBe(`${HOST} answered with HTTP 200 ([…] is not plain).`);
    expect(destroyed()).toBe(1);
  });

  it("of the network names the host, and a cancelled request is cancelled", async () => {
    const { http } = answering(new HttpError("connect", "no route"));
    const { signal } = new AbortController();
    await expect(send(ask, { http, signal })).rejects.toMatchObject({
      problem: "unreachable",
      message: `Could not reach ${HOST}: no route.`,
    });
    await expect(send(ask, { http, signal: AbortSignal.abort() })).rejects.toMatchObject({ problem: "cancelled" });
    await expect(send(ask, { http: answering(new Error("odd")).http, signal })).rejects.toThrow(/^odd$/);
  });

  it.each(["code", "code_verifier", "refresh_token", "device_code", "client_secret"])(
    "knows %s as a secret",
    (name) => {
      expect(post("u", { [name]: "s", grant_type: "g" }, "form").secrets).toEqual(["s"]);
    },
  );

  it("sends a form or JSON, with its type", () => {
    expect(post("u", { a: "b c", code: "d" }, "form")).toMatchObject({
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "a=b+c&code=d",
      secrets: ["d"],
    });
    expect(ask).toMatchObject({
      method: "POST",
      headers: { "content-type": "application/json" },
      secrets: ["the-code"],
    });
  });
});
