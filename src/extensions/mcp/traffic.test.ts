import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { ManualClock } from "../../base/clock.js";
import { ServerTraffic } from "./traffic.js";

function watched() {
  const clock = new ManualClock();
  const traffic = new ServerTraffic(clock);
  const transport = { send: async () => {} } as unknown as Transport;
  traffic.watch(transport);
  const got: JSONRPCMessage[] = [];
  transport.onmessage = (message: JSONRPCMessage) => void got.push(message);
  const send = (message: object) => transport.send(message as JSONRPCMessage);
  const receive = (message: object) => transport.onmessage?.(message as JSONRPCMessage);
  const shown = () => traffic.shown((text) => text.replaceAll("hunter", "«redacted»"));
  return { clock, traffic, send, receive, shown, got };
}

describe("the traffic of an MCP server", () => {
  verifies(["E6"], "is what both sides sent, joined by id, with secrets hidden", async () => {
    const { send, receive, shown, got } = watched();
    await send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { key: "hunter" } });
    receive({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } });
    receive({ jsonrpc: "2.0", method: "notifications/message" });
    expect(got).toHaveLength(2);
    expect(shown()).toMatchObject([
      { from: "client", id: "1", method: "tools/call", text: expect.stringContaining("«redacted»") },
      { from: "server", id: "1", failed: true },
      { from: "server", method: "notifications/message" },
    ]);
    expect(shown()[0]).not.toHaveProperty("failed");
  });

  verifies(["E6"], "is forgotten after some minutes, and takes bounded memory", async () => {
    const { clock, receive, shown } = watched();
    receive({ jsonrpc: "2.0", method: "old" });
    clock.advance(11 * 60_000);
    for (let id = 0; id < 600; id++) receive({ jsonrpc: "2.0", id, result: "x".repeat(20_000) });
    const kept = shown();
    expect(kept).toHaveLength(500);
    expect(kept.at(-1)).toMatchObject({ id: "599", bytes: expect.any(Number) });
    expect(Math.max(...kept.map(({ text }) => text.length))).toBeLessThan(8 * 1024);
    expect(kept.every(({ bytes }) => bytes > 20_000)).toBe(true);
  });
});
