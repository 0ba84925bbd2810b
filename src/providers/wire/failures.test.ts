import { describe, expect, it } from "vitest";
import { responseFailure, streamFailure } from "./failures.js";

const CONTEXT = { provider: "acme", model: "m1", url: "https://host/v1/x", keyName: "ACME_API_KEY" };

function of(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return responseFailure({ status, headers, body: typeof body === "string" ? body : JSON.stringify(body) }, CONTEXT);
}

const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
const PAGE = "<!DOCTYPE html><html><head><title>Bad gateway</title></head><body>\n<p>nginx</p></body></html>";

describe("responseFailure", () => {
  it.each<[string, number, unknown, string, boolean?]>([
    ["a wrong key of Google's", 400, error("API key not valid. Please pass a valid API key."), "AuthFailed"],
    ["an error in a list", 400, JSON.stringify([{ error: { code: 400, message: "bad" } }]), "BadRequest"],
    ["a wrong key", 401, error("invalid x-api-key", { type: "authentication_error" }), "AuthFailed"],
    ["a key without rights", 403, error("no"), "AuthFailed"],
    ["a key that is called invalid", 400, error("no", { code: "invalid_api_key" }), "AuthFailed"],
    ["no money", 402, error("Payment required"), "QuotaExceeded"],
    [
      "no quota, told as a rate",
      429,
      error("You exceeded your current quota", { code: "insufficient_quota" }),
      "QuotaExceeded",
    ],
    ["no credit, told as a bad request", 400, error("Your credit balance is too low"), "QuotaExceeded"],
    ["a missing model", 404, error("model: clod-9", { type: "not_found_error" }), "ModelNotFound"],
    ["a missing model by its code", 400, error("no such thing", { code: "model_not_found" }), "ModelNotFound"],
    ["a model that is not installed", 404, { error: "model 'x' not found" }, "ModelNotFound"],
    ["a wrong path", 404, "404 page not found", "MalformedResponse"],
    ["a wrong path in JSON", 404, { detail: "Not Found" }, "MalformedResponse"],
    ["a wrong method", 405, "", "MalformedResponse"],
    ["a redirect", 301, "", "MalformedResponse"],
    ["too much", 413, PAGE, "ContextTooLong"],
    ["too long", 400, error("This model's maximum context length is 8192 tokens"), "ContextTooLong"],
    ["too long by its code", 400, error("no", { code: "context_length_exceeded" }), "ContextTooLong"],
    ["too long at Anthropic", 400, error("prompt is too long: 210000 tokens > 200000 maximum"), "ContextTooLong"],
    [
      "no quota for the day",
      429,
      error("Requests per day limit reached", { type: "rate_limit_error" }),
      "QuotaExceeded",
    ],
    ["a daily limit", 429, error("You have hit your daily limit."), "QuotaExceeded"],
    ["a daily quota by its id", 429, error("Quota exceeded: GenerateRequestsPerDayPerProject"), "QuotaExceeded"],
    ["too fast", 429, error("slow down", { type: "rate_limit_error" }), "RateLimited", true],
    ["too many tokens a minute", 429, error("Request too large: too many tokens per minute"), "RateLimited", true],
    ["overload", 529, error("Overloaded", { type: "overloaded_error" }), "Overloaded", true],
    ["a busy server", 503, { error: "server busy" }, "Overloaded", true],
    ["a filter", 400, error("no", { code: "content_filter" }), "ContentRefused"],
    ["anything else of ours", 400, error("messages: unexpected role"), "BadRequest"],
    ["an unprocessable one", 422, { detail: [{ msg: "field required" }] }, "BadRequest"],
    ["anything else of theirs", 500, error("oops"), "ProviderFailed", true],
    ["a gateway's page", 502, PAGE, "ProviderFailed", true],
    ["nothing at all", 504, "", "ProviderFailed", true],
    [
      "too little memory",
      500,
      { error: "model requires more system memory (9 GiB) than is available" },
      "ProviderFailed",
    ],
  ])("reads %s", (_, status, body, reason, retryable) => {
    const failure = of(status, body);
    expect(failure).toMatchObject({ reason, status });
    expect(failure.retryable).toBe(retryable);
    expect(failure.message).not.toMatch(/<[a-z_-]+>|\n/);
  });

  it("says what to do", () => {
    expect(of(401, "").message).toBe("acme refused the key (HTTP 401). Check ACME_API_KEY, then run 'oxbow doctor'.");
    expect(of(404, error("The model does not exist")).message).toBe(
      "acme has no model 'm1'. 'oxbow models acme' lists its models.",
    );
    expect(of(401, error("The key has expired.")).message).toContain(
      "refused the key (HTTP 401: The key has expired).",
    );
    expect(of(403, error("not in your country")).message).toContain("refused access (HTTP 403: not in your country).");
    expect(of(402, error("usage limit reached")).message).toContain("left: usage limit reached. Top it up");
    expect(of(502, PAGE).message).toBe('acme failed: a web page ("Bad gateway")');
    expect(of(404, "404 page not found").message).toContain("HTTP 404, 404 page not found. Check the base URL.");
    expect(of(302, "", { location: "https://login.example/" }).message).toContain(
      "a redirect to https://login.example/",
    );
    const routed = error("Provider returned error", { code: 429, metadata: { raw: "m1 is rate-limited upstream" } });
    expect(of(400, routed).message).toContain("m1 is rate-limited upstream");
  });

  it("reads the time to wait in seconds, in milliseconds and as a date by the server's own clock", () => {
    const wait = (headers: Readonly<Record<string, string>>) => of(429, "", headers).retry_after_ms;
    expect(wait({ "retry-after": "2" })).toBe(2000);
    expect(wait({ "retry-after": "0.5" })).toBe(500);
    expect(wait({ "retry-after": "9", "retry-after-ms": "120" })).toBe(120);
    const date = "Thu, 01 Jan 2026 00:00:00 GMT";
    expect(wait({ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT", date })).toBe(30_000);
    expect(wait({ "retry-after": "soon" })).toBeUndefined();
    expect(wait({})).toBeUndefined();
    expect(of(429, "", { "retry-after": "2" }).message).toContain("Retrying in 2s");
    expect(of(529, "", { "retry-after": "3" }).retry_after_ms).toBe(3000);
    const delay = JSON.stringify({
      error: { code: 429, status: "RESOURCE_EXHAUSTED", details: [{}, { retryDelay: "34.07s" }] },
    });
    expect(of(429, delay).retry_after_ms).toBe(34_070);
    expect(of(429, delay, { "retry-after": "2" }).retry_after_ms).toBe(2000);
  });

  it("is one short line without keys", () => {
    const key = ["sk", "abcDEF0123456789abcdef"].join("-");
    const long = of(400, error(`line one\n\tline two ${"x".repeat(2000)}`)).message;
    expect(long).toContain("line one line two");
    expect(long.length).toBeLessThan(400);
    expect(of(400, error(`Incorrect API key provided: ${key}.`)).message).not.toContain(key);
    expect(of(400, error(`header Authorization: Bearer ${key.slice(3)}`)).message).not.toContain(key.slice(3));
    expect(of(400, error("llama-3.3-70b-versatile is not enabled")).message).toContain("llama-3.3-70b-versatile");
  });
});

describe("streamFailure", () => {
  it("classifies by the provider's words, then by a status in the code", () => {
    expect(streamFailure({ type: "error", error: { type: "overloaded_error", message: "o" } }, CONTEXT)).toMatchObject({
      reason: "Overloaded",
      retryable: true,
    });
    expect(streamFailure({ error: { code: 400, message: "bad" } }, CONTEXT)).toMatchObject({
      reason: "BadRequest",
      status: 400,
    });
    expect(streamFailure({ error: { code: "502", message: "bad" } }, CONTEXT)).toMatchObject({
      reason: "ProviderFailed",
    });
    expect(streamFailure({ error: { type: "invalid_request_error", message: "bad" } }, CONTEXT).reason).toBe(
      "BadRequest",
    );
    expect(streamFailure("strange", CONTEXT)).toMatchObject({
      reason: "ProviderFailed",
      message: "acme failed: strange",
    });
  });
});
