import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { forwardedHead, isBelow, parseHead } from "./request-head.js";

const head = (...lines: string[]) => ["POST /v1/messages?a=1 HTTP/1.1", ...lines].join("\r\n");

describe("the head of a request", () => {
  verifies(["M12"], "is rewritten with the key instead of the engine's own authentication", () => {
    const parsed = parseHead(
      head(
        "Host: oxbow",
        "X-API-Key: mine",
        "authorization: mine",
        "Accept:  text/event-stream ",
        "X-Oxbow-Helper: token",
        "Content-Length: 12",
        "Connection: keep-alive",
        "Accept-Encoding: gzip",
        "X-Custom: mine",
      ),
    );
    if (parsed === undefined) throw new Error("not read");
    expect(parsed.bodyBytes).toBe(12);
    expect(forwardedHead(parsed, { host: "models.example", add: { "x-custom": "theirs" } })).toBe(
      "POST /v1/messages?a=1 HTTP/1.1\r\nhost: models.example\r\naccept: text/event-stream\r\ncontent-length: 12\r\nx-custom: theirs\r\n\r\n",
    );
  });

  verifies(["M12"], "is refused in every form that two readers could understand differently", () => {
    const wrong = [
      "",
      "POST /v1 HTTP/1.0",
      "DELETE /v1 HTTP/1.1",
      "CONNECT other.example:443 HTTP/1.1",
      "POST http://other.example/v1 HTTP/1.1",
      "POST //other.example HTTP/1.1 x",
      "POST /a b HTTP/1.1",
      "POST /a\\b HTTP/1.1",
      "POST /a#b HTTP/1.1",
      "POST /\u0001 HTTP/1.1",
      head("Transfer-Encoding: chunked"),
      head("Content-Length: 1", "Content-Length: 1"),
      head("Content-Length: -1"),
      head("Content-Length: 1, 1"),
      head("Content-Length: 0x10"),
      head("A: b\nHost: other.example"),
      head("A: b\rc"),
      head(" folded: line"),
      head("A : b"),
      head("no colon"),
      head("A: \u0000"),
    ];
    for (const text of wrong) expect(parseHead(text), JSON.stringify(text)).toBeUndefined();
  });

  verifies(["M12"], "goes to paths of the credential's address only", () => {
    const below = ["/team/v1", "/team", "/team?x=/../..", "/team/a%20b", "/team/a..b"];
    for (const target of below) expect(isBelow(target, "/team/"), target).toBe(true);
    const beside = [
      "/",
      "/teams",
      "/other",
      "/team/../other",
      "/team/%2e%2E/other",
      "/team/.%2e/x",
      "/team//x",
      "//team",
    ];
    for (const target of [...beside, "/team/a%2f..%2fb", "/team/..", "/team\\..\\x", "/team%5c.."]) {
      expect(isBelow(target, "/team/"), target).toBe(false);
    }
    expect(isBelow("/anything", "/")).toBe(true);
  });
});

it("reads a head that is not there as none", () => expect(parseHead("\r\n")).toBeUndefined());
