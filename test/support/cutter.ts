/** A proxy that cuts connections. */
import { mkdtemp } from "node:fs/promises";
import { connect as connectSocket, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { type Clock, systemClock } from "../../src/base/clock.js";

export interface Cutter {
  /** The socket to connect to, or the port. */
  readonly path: string;
  readonly cuts: number;
  close(): Promise<void>;
}

/** Forwards connections, and cuts those that stream events after a number of bytes that `next` gives. */
export async function cutter(
  base: string,
  { target, next }: { readonly target: string; readonly next: () => number | undefined },
): Promise<Cutter> {
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer((near) => {
    const far = connectSocket(target);
    let left: number | undefined;
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on("data", (bytes) => {
      if (/^GET \/v1\/(sessions\/[^/]+\/events|ws)/.test(bytes.toString("latin1"))) left = next();
      far.write(bytes);
    });
    far.on("data", (bytes) => {
      if (left !== undefined && bytes.length >= left) {
        cuts += 1;
        near.write(bytes.subarray(0, left), () => near.destroy());
        return;
      }
      if (left !== undefined) left -= bytes.length;
      near.write(bytes);
    });
  });
  const path = join(await mkdtemp(join(base, "cut-")), "s");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    get cuts() {
      return cuts;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Waits between attempts take no time. */
export const hastyClock: Clock = {
  ...systemClock,
  after: (ms, action) => systemClock.after(ms <= 10_000 ? 1 : ms, action),
};
