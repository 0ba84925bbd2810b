import type { IncomingMessage } from "node:http";
import { Duplex, PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { failure } from "../../../protocol/errors.js";
import { BodyReader, MOST_BODY_BYTES, MOST_VALUES, parseObject } from "./read-body.js";
import { errorHeaders, refuseSocket, statusOf } from "./refusal.js";

const request = (body: Readable, headers: Readonly<Record<string, string>> = {}) =>
  Object.assign(body, { headers }) as unknown as IncomingMessage;
const of = (...pieces: readonly string[]) => request(Readable.from(pieces.map((piece) => Buffer.from(piece))));
const reasonOf = (read: object) => ("failure" in read ? (read.failure as { reason: string }).reason : "read");

describe("the body of a request", () => {
  verifies(["C4"], "is one JSON object, in whatever pieces it comes; an empty one is an empty object", async () => {
    const reader = new BodyReader();
    expect(await reader.read(of('{"a"', ":1}"))).toEqual({ body: { a: 1 } });
    expect(await reader.read(of())).toEqual({ body: {} });
    for (const wrong of ["[]", "1", "{", "null", '"x"']) {
      expect([wrong, reasonOf(await reader.read(of(wrong)))]).toEqual([wrong, "InvalidInput"]);
    }
    expect(reasonOf(await parseObject(Buffer.from([0x22, 0xff, 0x22])))).toBe("InvalidInput");
    expect(reasonOf(await reader.read(request(Readable.from([]), { "content-encoding": "gzip" })))).toBe(
      "InvalidInput",
    );
  });

  verifies(["C4"], "is refused when it is too large, by what it declares and by what comes", async () => {
    const reader = new BodyReader(10);
    expect(reasonOf(await reader.readAny(of("12345", "67890")))).toBe("read");
    expect(reasonOf(await reader.readAny(of("12345", "678901")))).toBe("TooLarge");
    const declared = request(Readable.from([]), { "content-length": "11" });
    expect(reasonOf(await reader.readAny(declared))).toBe("TooLarge");
    expect(reasonOf(await reader.readAny(request(Readable.from([]), { "content-length": "10" })))).toBe("read");
  });

  verifies(["C4"], "waits for its turn when many come at once, and gives its room back", async () => {
    const reader = new BodyReader();
    const large = Buffer.alloc(MOST_BODY_BYTES, " ");
    large.write("1");
    const open = Array.from({ length: 4 }, () => new PassThrough());
    const reading = open.map((stream) => reader.readAny(request(stream)));
    for (const stream of open) stream.write(large);
    await new Promise(setImmediate);
    expect(await reader.readAny(of("1"))).toMatchObject({
      failure: { reason: "TooManyRequests", retryable: true, retry_after_ms: 1000 },
    });
    for (const stream of open) stream.end();
    expect((await Promise.all(reading)).map(reasonOf)).toEqual(Array(4).fill("read"));
    expect(reasonOf(await reader.readAny(of("1")))).toBe("read");
  });

  verifies(["C4"], "is neither too deep nor too rich", async () => {
    const read = async (text: string) => reasonOf(await new BodyReader().readAny(of(text)));
    const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect([await read(deep(100)), await read(deep(101))]).toEqual(["read", "InvalidInput"]);
    const rich = (values: number) => `[${Array(values).fill("1").join()}]`;
    expect(await read(rich(MOST_VALUES - 1))).toBe("read");
    expect(await read(rich(MOST_VALUES + 1))).toBe("TooLarge");
  });
});

describe("a refusal", () => {
  verifies(["C4"], "has the status of its reason, and says when to try again and how to sign in", () => {
    const reasons = [
      "InvalidInput",
      "Unauthorized",
      "Forbidden",
      "NotFound",
      "TurnInProgress",
      "TooLarge",
      "TooManyRequests",
      "ShuttingDown",
      "Internal",
    ] as const;
    expect(reasons.map((reason) => statusOf({ reason, message: "" }))).toEqual([
      400, 401, 403, 404, 409, 413, 429, 503, 500,
    ]);
    expect(errorHeaders({ reason: "TokenExpired", message: "" })).toEqual({
      "www-authenticate": 'Bearer realm="oxbow"',
    });
    expect(errorHeaders({ reason: "TooManyRequests", message: "", retry_after_ms: 1_001 })).toEqual({
      "retry-after": "2",
    });
    expect(errorHeaders({ reason: "NotFound", message: "" })).toEqual({});
  });

  it("goes also to a connection that is not HTTP yet, and not to one that is closed", async () => {
    const written: string[] = [];
    const socket = new Duplex({
      read() {},
      write(piece, _encoding, done) {
        written.push(String(piece));
        done();
      },
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    refuseSocket(socket, { status: 401, failure: failure("Unauthorized") });
    await closed;
    const [head = "", body = ""] = written.join("").split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\nwww-authenticate: Bearer/);
    expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).toMatchObject({ error: { reason: "Unauthorized" } });
    refuseSocket(socket, { status: 401, failure: failure("Unauthorized") });
    expect(written.join("").match(/HTTP/g)).toHaveLength(1);
  });
});
