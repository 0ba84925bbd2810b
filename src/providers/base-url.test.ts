import { describe, expect, it } from "vitest";
import { baseUrlProblem } from "./base-url.js";

const OPENAI = { baseUrlName: "OPENAI_BASE_URL" };

describe("baseUrlProblem", () => {
  it("takes http and https addresses", () => {
    for (const url of ["http://127.0.0.1:8080/v1", "https://api.example.com", "HTTP://[::1]:9/", "http://box/v1/"]) {
      expect(baseUrlProblem(OPENAI, url, { OPENAI_BASE_URL: url }), url).toBeUndefined();
    }
  });

  it("names the variable, its value, and a suggestion", () => {
    const problemOf = (url: string) => baseUrlProblem(OPENAI, url, { OPENAI_BASE_URL: url });
    expect(problemOf("localhost:8080/v1")).toBe(
      'OPENAI_BASE_URL is not an http or https address: "localhost:8080/v1". Did you mean http://localhost:8080/v1?',
    );
    expect(problemOf("htp://box/v1")).toMatch(/Did you mean http:\/\/box\/v1\?/);
    for (const url of [
      "not a url",
      "http://",
      "http:///v1",
      "http://exa mple",
      "http://h:99999",
      "ftp://",
      "file:///etc",
    ]) {
      expect(problemOf(url), url).toMatch(/^OPENAI_BASE_URL is not an http or https address: "/);
    }
  });

  it("names the file of a provider of one's own", () => {
    expect(baseUrlProblem({ origin: "acme.conf" }, "box", {})).toMatch(/^acme.conf is not/);
  });
});
