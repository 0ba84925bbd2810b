import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { Envelope } from "../../protocol/envelope.js";
import { failure } from "../../protocol/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import type { HostClient } from "../connected-client.js";
import { FrameConnection } from "./frames.js";

/** A client of the host that answers when the test says so. */
function connection() {
  const written: JsonObject[] = [];
  const waiting: (() => void)[] = [];
  const asked: unknown[] = [];
  const log: string[] = [];
  let deliver: (event: Envelope) => void = () => {};
  const answer = (...what: unknown[]) => {
    asked.push(what);
    return new Promise((resolve) => waiting.push(() => resolve({ ok: true })));
  };
  const client = {
    subscribe: (take: typeof deliver) => {
      deliver = take;
      return () => log.push("unsubscribed");
    },
    close: () => log.push("closed"),
    send: (...args: unknown[]) => answer("send", ...args),
    query: (...args: unknown[]) => answer("query", ...args),
    handshake: ({ protocol_version }: { protocol_version?: string }) =>
      protocol_version === "1"
        ? { ok: true, handshake: { client: "c" } }
        : { ok: false, failure: failure("InvalidInput", { detail: "no" }) },
  } as unknown as HostClient;
  const onReady = () => log.push("ready");
  const frames = new FrameConnection({ client, write: (text) => written.push(JSON.parse(text)), onReady });
  return { frames, written, waiting, asked, log, event: (event: Envelope) => deliver(event) };
}

describe("frames of JSON", () => {
  verifies(["C2"], "are ready once, after the first handshake that succeeds", async () => {
    const { frames, written, log } = connection();
    await frames.take({ frame: "handshake" });
    expect([written.at(-1), log]).toMatchObject([{ frame: "reply", body: { ok: false } }, []]);
    for (let times = 0; times < 2; times++) await frames.take({ frame: "handshake", body: { protocol_version: "1" } });
    expect(written.slice(1)).toEqual(Array(2).fill({ frame: "handshake", body: { client: "c" } }));
    expect(log).toEqual(["ready"]);
  });

  verifies(["C1", "C2"], "get one reply each with their id, in the order of the answers", async () => {
    const { frames, written, waiting, asked } = connection();
    const all = [
      frames.take({ frame: "command", id: 1, body: { kind: "SendInput", session: "s", payload: { a: 1 } } }),
      frames.take({ frame: "query", id: "q", body: { kind: "GetStatus", request: { b: 2 } } }),
      frames.take({ frame: "query", body: { kind: "GetHealth" } }),
    ];
    expect(asked).toEqual([
      ["send", "SendInput", { a: 1 }, "s"],
      ["query", "GetStatus", { b: 2 }, undefined],
      ["query", "GetHealth", {}, undefined],
    ]);
    let isSettled = false;
    const settled = frames.settled().then(() => {
      isSettled = true;
    });
    waiting[1]?.();
    await all[1];
    expect(isSettled).toBe(false);
    waiting[0]?.();
    waiting[2]?.();
    await settled;
    const body = { ok: true };
    expect(written).toEqual([
      { frame: "reply", id: "q", body },
      { frame: "reply", id: 1, body },
      { frame: "reply", body },
    ]);
    await frames.settled();
  });

  verifies(["C2"], "that cannot be read, or are too many at once, are refused with their id", async () => {
    const { frames, written, waiting } = connection();
    await frames.take({ frame: "odd", id: 7, body: {} });
    await frames.take({ frame: "command", id: 8, body: [] });
    const refused = { ok: false, failure: { reason: "InvalidInput" } };
    expect(written.splice(0)).toMatchObject([
      { id: 7, body: refused },
      { id: 8, body: refused },
    ]);
    const all = Array.from({ length: 256 }, () => frames.take({ frame: "query", body: { kind: "GetHealth" } }));
    expect(written).toEqual([]);
    await frames.take({ frame: "query", id: 9, body: { kind: "GetHealth" } });
    expect(written.splice(0)).toMatchObject([
      { id: 9, body: { failure: { reason: "TooManyRequests", retryable: true, retry_after_ms: 1000 } } },
    ]);
    for (const answer of waiting) answer();
    await Promise.all(all);
    expect(written).toHaveLength(256);
  });

  verifies(["C1"], "carry the events of the client until it is closed", () => {
    const { frames, written, event, log } = connection();
    event({ id: 1, kind: "TextDelta", payload: { text: "a" } } as Envelope);
    expect(written).toMatchObject([{ frame: "event", body: { id: 1, kind: "TextDelta" } }]);
    frames.close();
    expect(log).toEqual(["unsubscribed", "closed"]);
  });
});
