import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { systemClock } from "../../base/clock.js";
import { EventStream } from "./event-stream.js";

describe("a stream of events", () => {
  verifies(["C4"], "gives an event to the socket at once, also while other work goes on", async () => {
    let seen: number[] = [];
    const server = createServer((_request, response) => {
      const stream = new EventStream(response, { clock: systemClock, onClose: () => {} });
      const { socket } = response;
      const given = () => (socket?.bytesWritten ?? 0) - (socket?.writableLength ?? 0);
      const before = given();
      stream.send('{"id":1}', "id: 1\n");
      seen = [before, given()];
      stream.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const text = await new Promise<string>((resolve, reject) => {
      get({ host: "127.0.0.1", port, agent: false }, async (response) => {
        let all = "";
        for await (const part of response.setEncoding("utf8")) all += part;
        resolve(all);
      }).on("error", reject);
    });
    expect(text).toBe('id: 1\ndata: {"id":1}\n\n');
    expect(seen[1]).toBeGreaterThan(seen[0] ?? 0);
  });
});
