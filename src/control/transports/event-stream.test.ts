import { EventEmitter } from "node:events";
import { createServer, get, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { ManualClock, systemClock } from "../../base/clock.js";
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

  /** A response whose reader takes what it wants, and the stream in it. */
  function held() {
    const written: string[] = [];
    const response = Object.assign(new EventEmitter(), {
      ...{ writableNeedDrain: false, destroyed: false, socket: null, writeHead: () => {}, flushHeaders: () => {} },
      write: (text: string) => written.push(text) > 0 && !response.writableNeedDrain,
      end: () => response.emit("close"),
      destroy: () => {
        response.destroyed = true;
        response.emit("close");
      },
    });
    const clock = new ManualClock();
    let closed = 0;
    const stream = new EventStream(response as unknown as ServerResponse, { clock, onClose: () => closed++ });
    return { response, stream, clock, written, closed: () => closed };
  }

  it("is ready at once for a reader that takes everything, and not for one that is gone", async () => {
    const { response, stream, closed } = held();
    expect(await stream.ready()).toBe(true);
    response.destroyed = true;
    expect(await stream.ready()).toBe(false);
    response.destroyed = false;
    response.emit("close");
    expect(await stream.ready()).toBe(false);
    expect(closed()).toBe(1);
  });

  it("waits for a slow reader, and cuts one that does not read", async () => {
    const slow = held();
    slow.response.writableNeedDrain = true;
    let isReady: boolean | undefined;
    const ready = slow.stream.ready().then((ok) => {
      isReady = ok;
    });
    await Promise.resolve();
    expect(isReady).toBeUndefined();
    slow.response.writableNeedDrain = false;
    slow.response.emit("drain");
    await ready;
    expect(isReady).toBe(true);

    const stuck = held();
    stuck.response.writableNeedDrain = true;
    const refused = stuck.stream.ready();
    await stuck.clock.advance(10 * 60_000);
    expect([await refused, stuck.response.destroyed, stuck.closed()]).toEqual([false, true, 1]);
  });

  it("beats until it ends", async () => {
    const { stream, clock, written } = held();
    await clock.advance(5 * 60_000);
    const beats = written.length;
    expect(beats).toBeGreaterThan(1);
    expect(new Set(written)).toEqual(new Set([": heartbeat\n\n"]));
    stream.end();
    await clock.advance(5 * 60_000);
    expect(written).toHaveLength(beats);
  });
});
