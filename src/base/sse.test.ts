import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../test/support/thorough.js";
import { SseDecoder, type SseEvent } from "./sse.js";

function decode(...pieces: readonly (string | Uint8Array)[]): readonly SseEvent[] {
  const decoder = new SseDecoder();
  return pieces.flatMap((piece) => decoder.push(typeof piece === "string" ? Buffer.from(piece) : piece));
}

function data(...pieces: readonly (string | Uint8Array)[]): readonly string[] {
  return decode(...pieces).map((event) => event.data);
}

/** The standard's algorithm on a whole stream, written as plainly as possible. */
function reference(text: string): readonly SseEvent[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  lines.pop();
  const events: SseEvent[] = [];
  let [event, id, buffer] = ["", "", ""];
  for (const line of lines) {
    if (line === "") {
      if (buffer !== "") events.push({ event: event || "message", data: buffer.slice(0, -1), id });
      [event, buffer] = ["", ""];
      continue;
    }
    const [, field, value = ""] = /^([^:]*)(?::\u0020?([\s\S]*))?$/.exec(line) ?? [];
    if (field === "data") buffer += `${value}\n`;
    else if (field === "event") event = value;
    else if (field === "id" && !value.includes("\0")) id = value;
  }
  return events;
}

describe("SseDecoder", () => {
  it("joins data lines, keeps ids and names events", () => {
    expect(decode("id: 7\nevent: add\ndata: a\ndata:b\ndata\n\ndata:  c\n\n")).toEqual([
      { event: "add", data: "a\nb\n", id: "7" },
      { event: "message", data: " c", id: "7" },
    ]);
  });

  it("dispatches at a lone carriage return without waiting for what may follow", () => {
    expect(data("data: a\r\r")).toEqual(["a"]);
    expect(data("data: a\r\r", "\ndata: b\r\n\r\n")).toEqual(["a", "b"]);
    expect(data("data: a\r\n\r", "\n", "data: b\n\n")).toEqual(["a", "b"]);
  });

  it("drops what has no blank line, events without data, comments and unknown fields", () => {
    expect(data("data: a\n")).toEqual([]);
    expect(data("event: x\n\n: ping\n\nfoo: bar\nData: no\n data: no\n\n")).toEqual([]);
    expect(decode("event: x\n\ndata: a\n\n")[0]?.event).toBe("message");
  });

  it("keeps an id with a NUL out and reads only decimal retry times", () => {
    expect(decode("id: a\0b\ndata: 1\n\n")[0]?.id).toBe("");
    const decoder = new SseDecoder();
    decoder.push(Buffer.from("retry: 1500\nretry: 2x\nretry:\n"));
    expect(decoder.retryMs).toBe(1500);
  });

  it("treats line separators of Unicode as text", () => {
    expect(data("data: a\u2028b\u0085c\n\n")).toEqual(["a\u2028b\u0085c"]);
  });

  it("agrees with the standard however the bytes are cut", () => {
    const token = fc.constantFrom(
      "data",
      "data:",
      "data: ",
      "event: e",
      "id: 1",
      "id:\0",
      ":",
      "\n",
      "\n\n",
      "\r",
      "\r\n",
      "x",
      " ",
      "ü",
      "漢",
      "😀",
      "\uFEFF",
    );
    const text = fc.array(token, { maxLength: 40 }).map((tokens) => tokens.join(""));
    fc.assert(
      fc.property(text, fc.infiniteStream(fc.integer({ min: 1, max: 5 })), (stream, sizes) => {
        const bytes = Buffer.from(stream);
        const pieces: Uint8Array[] = [];
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value as number;
          pieces.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(decode(...pieces)).toEqual(reference(stream));
        expect(decode(bytes)).toEqual(reference(stream));
      }),
      { numRuns: times(200, 1000) },
    );
  });
});
