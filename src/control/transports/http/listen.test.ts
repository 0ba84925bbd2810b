import { lstat, mkdir, rename, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createServer as createNetServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/support/program.js";
import { verifies } from "../../../../test/verifies.js";
import type { AddressCheck } from "../local-access.js";
import { listenOnPort, listenOnSocket, parseListen } from "./listen.js";
import type { HttpService } from "./server.js";

const servers: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface Made {
  readonly place: string;
  readonly check: () => AddressCheck | undefined;
}

function service() {
  const made: Made[] = [];
  const create = (options: Made): Server => {
    made.push(options);
    const server = createServer();
    servers.push(server);
    return server;
  };
  return { made, service: { createServer: create } as unknown as HttpService };
}

it.each([
  ["8080", { host: "127.0.0.1", port: 8080 }],
  [" localhost:0 ", { host: "localhost", port: 0 }],
  ["[::1]:65535", { host: "::1", port: 65_535 }],
  ["0.0.0.0:1", { host: "0.0.0.0", port: 1 }],
  ["127.0.0.1:65536", undefined],
  ["127.0.0.1", undefined],
  ["a b:1", undefined],
  ["::1:80", undefined],
  ["", undefined],
])("the address %j is %j", (text, expected) => {
  expect(parseListen(text)).toEqual(expected);
});

describe("a listener on a socket", () => {
  verifies(["C4", "C7"], "is the user's alone, makes its folder, and leaves the umask as it was", async () => {
    const path = join(await temporaryFolder(), "new", "s");
    const before = process.umask();
    const { made, service: http } = service();
    await listenOnSocket(http, path);
    expect([(await stat(path)).mode & 0o777, (await stat(join(path, ".."))).mode & 0o777]).toEqual([0o600, 0o700]);
    expect([process.umask(), made[0]?.place, made[0]?.check()]).toEqual([before, "socket", undefined]);
  });

  verifies(["C4"], "takes the place of a socket that no process listens on, and of nothing else", async () => {
    const folder = await temporaryFolder();
    const left = join(folder, "left");
    const crashed = createNetServer();
    await new Promise<void>((resolve) => crashed.listen(left, resolve));
    // The file stays when a process dies; here its server gives up the name first.
    const kept = join(folder, "kept");
    await rename(left, kept);
    await new Promise((resolve) => crashed.close(resolve));
    expect((await lstat(kept)).isSocket()).toBe(true);
    await listenOnSocket(service().service, kept);
    await expect(listenOnSocket(service().service, kept)).rejects.toThrow("another engine listens there");
    const file = join(folder, "file");
    await writeFile(file, "precious");
    await symlink(file, join(folder, "link"));
    await mkdir(join(folder, "folder"));
    for (const name of ["file", "link", "folder"]) {
      await expect(listenOnSocket(service().service, join(folder, name))).rejects.toThrow("not a socket is there");
    }
    expect((await stat(file)).size).toBe(8);
    const longest = process.platform === "linux" ? 107 : 103;
    const long = join(folder, "x".repeat(longest - Buffer.byteLength(folder)));
    await expect(listenOnSocket(service().service, long)).rejects.toThrow("too long");
    await listenOnSocket(service().service, long.slice(0, -1));
  });
});

describe("a listener on a port", () => {
  verifies(["C4", "C7"], "accepts nothing before its port is known, and names it afterwards", async () => {
    const { made, service: http } = service();
    const listening = listenOnPort(http, { host: "localhost", port: 0 }, { origins: [] });
    const early = made[0]?.check();
    const url = await listening;
    expect(url).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\]|localhost):\d+$/);
    expect(made[0]?.place).toBe("loopback");
    expect(made[0]?.check()).not.toBe(early);
    const { hostname, port } = new URL(url);
    const taken = listenOnPort(
      service().service,
      { host: hostname.replace(/[[\]]/g, ""), port: Number(port) },
      { origins: [] },
    );
    await expect(taken).rejects.toThrow(`:${port}: it is in use.`);
  });

  verifies(["C7"], "beyond this machine needs TLS", async () => {
    const { made, service: http } = service();
    await expect(listenOnPort(http, { host: "0.0.0.0", port: 0 }, { origins: [] })).rejects.toThrow("needs TLS");
    expect(made).toEqual([]);
  });
});
