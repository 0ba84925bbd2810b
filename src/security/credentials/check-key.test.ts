import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { bindEndpoint, isOpenlySent } from "./bind-endpoint.js";
import { checkKey } from "./check-key.js";

const body = "abcdefghij0123456789";

describe("a key that the user gives", () => {
  verifies(["M11"], "is taken without the blanks around it", () => {
    expect(checkKey(`  sk-ant-${body}\n`, "anthropic")).toEqual({ ok: true, key: `sk-ant-${body}` });
    expect(checkKey(body, "a-provider-of-my-own")).toEqual({ ok: true, key: body });
  });

  verifies(["M11"], "is refused when it cannot be one, and not repeated", () => {
    const wrong = ["", " \n", `${body}\n${body}`, `${body} ${body}`, `"${body}"`, `'${body}'`, `NAME_KEY=${body}`];
    for (const text of [
      ...wrong,
      `export A=${body}`,
      `Bearer ${body}`,
      `${body}é`,
      `${body}\u0007`,
      "x".repeat(20_000),
    ]) {
      const checked = checkKey(text, "openai");
      expect(checked.ok, JSON.stringify(text)).toBe(false);
      expect(JSON.stringify(checked)).not.toContain(body);
    }
  });

  it("that looks like another provider's is a warning", () => {
    expect(checkKey(body, "anthropic")).toMatchObject({ ok: true, warning: expect.stringContaining("sk-ant-") });
    expect(checkKey(`sk-ant-${body}`, "openai")).toMatchObject({
      ok: true,
      warning: expect.stringContaining("anthropic"),
    });
    expect(checkKey(`sk-${body}`, "openai")).toEqual({ ok: true, key: `sk-${body}` });
  });
});

describe("the address a key is for", () => {
  const authorize = (key: string) => ({ Authorization: `Bearer ${key}` });

  verifies(["M12"], "is the part that all requests to the provider share", () => {
    const bases = {
      "https://api.example": "https://api.example",
      "https://api.example/v1/": "https://api.example",
      "https://api.example/openai/v1": "https://api.example/openai",
      "https://api.example/v1/chat/completions?tenant=1": "https://api.example",
      "http://127.0.0.1:8080/team/v1beta": "http://127.0.0.1:8080/team",
    };
    for (const [baseUrl, bound] of Object.entries(bases)) {
      expect(bindEndpoint({ baseUrl, authorize })).toEqual({
        baseUrl: bound,
        headers: { authorization: "Bearer {secret}" },
      });
    }
  });

  it("is an address of the web without a login", () => {
    for (const baseUrl of ["", "api.example", "file:///etc/passwd", "https://me:word@api.example"]) {
      expect(() => bindEndpoint({ baseUrl, authorize }), baseUrl).toThrow(expect.objectContaining({ code: "refused" }));
    }
    expect(isOpenlySent("http://models.example")).toBe(true);
    expect(isOpenlySent("http://localhost:1")).toBe(false);
    expect(isOpenlySent("https://models.example")).toBe(false);
  });
});
