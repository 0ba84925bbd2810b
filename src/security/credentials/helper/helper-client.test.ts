import { describe, expect, it } from "vitest";
import type { HttpRequest, HttpResponse } from "../../../system/http-client.js";
import { HttpError } from "../../../system/http-error.js";
import { CredentialError } from "../credential-error.js";
import { createHelperClient } from "./helper-client.js";
import { type HelperLink, HelperLost } from "./helper-link.js";
import { ERROR_HEADER, REFUSED_HEADER } from "./helper-protocol.js";

type Answer = { readonly status: number; readonly error?: string; readonly problem?: object } | HttpError;

/** A client whose helpers give these answers, and what happened in order. */
function clientWith(answers: readonly Answer[], kind?: "api_key" | "oauth", unreachable?: Error) {
  const done: string[] = [];
  const left = [...answers];
  const request = async ({ headers = {} }: HttpRequest): Promise<HttpResponse> => {
    const [at, answer] = [answers.length - left.length, left.shift()];
    done.push(`${headers[REFUSED_HEADER] === "1" ? "renewed " : ""}request ${at}`);
    if (answer === undefined || answer instanceof Error) throw answer;
    return {
      status: answer.status,
      headers: answer.error === undefined ? {} : { [ERROR_HEADER]: answer.error },
      body: (async function* () {})(),
      text: async () => JSON.stringify({ code: answer.error, ...answer.problem }),
      release: () => void done.push(`release ${at}`),
      destroy: () => {},
    };
  };
  const link = {
    reach: async () => {
      if (unreachable !== undefined) throw unreachable;
      return { endpoint: { token: "t" }, socketPath: "/s" };
    },
    use: () => {},
    lost: (_: unknown, how: string) => void done.push(how),
    answered: () => void done.push("answered"),
  } as unknown as HelperLink;
  const http = { request, close: () => {} };
  const client = createHelperClient({ link, credential: { provider: "p", account: "a" }, http, ...(kind && { kind }) });
  return { done, ask: () => client.request({ method: "POST", url: "http://x/y?z=1" }) };
}

describe("[M12] a request through the credential helper", () => {
  const dropped = new HttpError("dropped", "gone");
  const absent = new HttpError("connect", "nobody");

  it.each<[string, readonly Answer[], "api_key" | "oauth", number, readonly string[]]>([
    [
      "a refused token",
      [{ status: 401 }, { status: 200 }],
      "oauth",
      200,
      ["request 0", "answered", "release 0", "renewed request 1", "answered"],
    ],
    [
      "a token refused again",
      [{ status: 401 }, { status: 401 }],
      "oauth",
      401,
      ["request 0", "answered", "release 0", "renewed request 1", "answered"],
    ],
    ["a refused key", [{ status: 401 }], "api_key", 401, ["request 0", "answered"]],
    ["another refusal", [{ status: 403 }], "oauth", 403, ["request 0", "answered"]],
    [
      "a helper that is not there",
      [absent, { status: 200 }],
      "oauth",
      200,
      ["request 0", "absent", "request 1", "answered"],
    ],
    [
      "a helper that ends",
      [dropped, dropped, { status: 200 }],
      "oauth",
      200,
      ["request 0", "broken", "request 1", "broken", "request 2", "answered"],
    ],
    [
      "another helper's token",
      [{ status: 403, error: "token" }, { status: 200 }],
      "oauth",
      200,
      ["request 0", "absent", "request 1", "answered"],
    ],
  ])("%s", async (_, answers, kind, status, done) => {
    const client = clientWith(answers, kind);
    expect((await client.ask()).status).toBe(status);
    expect(client.done).toEqual(done);
  });

  it.each([
    [
      "timeout",
      { message: "It took long.", isWorded: true, cause: "ETIMEDOUT" },
      { kind: "timeout", message: "It took long." },
    ],
    [
      "dropped",
      { message: "raw", cause: "ECONNRESET" },
      { kind: "dropped", code: "ECONNRESET", message: expect.not.stringMatching(/^raw$/) },
    ],
    ["connect", { message: "raw", cause: "ENOTFOUND" }, { kind: "connect", code: "ENOTFOUND" }],
    ["signed-out", {}, { failure: { reason: "SignedOut" } }],
    ["locked", { message: "It is locked." }, { failure: { reason: "CredentialsUnavailable" } }],
  ])("says what the helper met: %s", async (error, problem, expected) => {
    await expect(clientWith([{ status: 502, error, problem }]).ask()).rejects.toMatchObject(expected);
  });

  it("says why there is no helper", async () => {
    const without = (error: Error) => clientWith([], "oauth", error).ask();
    await expect(without(new HelperLost())).rejects.toMatchObject({ failure: { reason: "CredentialHelperFailed" } });
    const locked = new CredentialError("locked", "It is locked.");
    await expect(without(locked)).rejects.toMatchObject({ failure: { reason: "CredentialsUnavailable" } });
    const odd = new Error("odd");
    await expect(without(odd)).rejects.toBe(odd);
  });

  it("passes on what went wrong otherwise, as it is", async () => {
    const late = new HttpError("timeout", "late");
    await expect(clientWith([late]).ask()).rejects.toBe(late);
  });
});
