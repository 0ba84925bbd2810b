/** A person opens a port of the session's network; commands get no way out of it. */
import { connect, createServer, type Server } from "node:net";
import { afterEach, beforeEach, expect } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { until } from "../../../test/support/waiting.js";
import { SandboxTestbed } from "../sandbox/sandbox-testbed.js";
import { SessionSpace } from "../sandbox/session-space.js";
import { SessionPorts } from "./session-ports.js";

let bed: SandboxTestbed;
let space: SessionSpace;
let ports: SessionPorts;
const ends: (() => unknown)[] = [];

function portsOf(of: SessionSpace): SessionPorts {
  const made = new SessionPorts({ holder: () => of.holder(), path: "/usr/bin:/bin", workspace: bed.workspace });
  ends.push(() => made.closeAll());
  return made;
}

beforeEach(() => {
  bed = new SandboxTestbed();
  space = new SessionSpace();
  ports = portsOf(space);
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await bed.close();
  await space.close();
});

/** Echoes what it gets, in capitals. */
async function serve(port: number, { host = "127.0.0.1", of = space } = {}): Promise<void> {
  const script = `require("net").createServer((s) => s.on("data", (d) => s.end(String(d).toUpperCase()))).listen(${port}, "${host}", () => console.log("up"))`;
  const wrapped = await bed.wrap(`node -e '${script}'`, { sandbox: { space: of } });
  let output = "";
  const server = await bed.start(wrapped, (chunk) => {
    output += chunk.toString();
  });
  ends.push(() => wrapped.ended());
  ends.push(() => server.stop());
  await until(() => output.includes("up"));
}

function ask(port: number, words: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    socket.on("close", () => resolve(text));
    socket.write(words);
  });
}

const { it } = needs("sandbox");

it("lists what listens in the session, and nothing of this machine or of another session", async () => {
  expect(await ports.listening()).toEqual([]);
  const outside: Server = createServer();
  await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve));
  ends.push(() => outside.close());
  const other = new SessionSpace();
  ends.push(() => other.close());
  await serve(8201);
  await serve(8202, { of: other });
  await serve(8203, { host: "0.0.0.0" });
  expect((await ports.listening()).map(({ port }) => port)).toEqual([8201, 8203]);
  expect((await portsOf(other).listening()).map(({ port }) => port)).toEqual([8202]);
});

for (const host of ["127.0.0.1", "0.0.0.0", "::1"]) {
  it(`leads connections to a server on ${host}, until it is closed`, async () => {
    await serve(8211, { host });
    const { at } = await ports.open(8211);
    expect(await Promise.all(["one", "two", "three"].map((words) => ask(at, words)))).toEqual(["ONE", "TWO", "THREE"]);
    expect(ports.opened()).toEqual([{ port: 8211, at }]);
    expect(ports.close(8211)).toBe(true);
    await expect(ask(at, "four")).rejects.toThrow("ECONNREFUSED");
    expect([ports.opened(), ports.close(8211)]).toEqual([[], false]);
  });
}

it("takes another port of this machine if that one is taken, and says so", async () => {
  const taken = createServer();
  const port = await new Promise<number>((resolve) =>
    taken.listen(0, "127.0.0.1", () => resolve((taken.address() as { port: number }).port)),
  );
  ends.push(() => taken.close());
  await serve(port);
  const { at } = await ports.open(port);
  expect(at).not.toBe(port);
  expect(await ask(at, "x")).toBe("X");
});

it("opens only numbers of ports that listen here", async () => {
  await serve(8221);
  for (const wrong of [0, -1, 80.5, 70_000, Number.NaN, 22, 8222]) {
    await expect(ports.open(wrong), String(wrong)).rejects.toThrow(/number from 1|Nothing listens/);
  }
  await expect(ports.open(22)).rejects.toThrow("Listening: 8221.");
  expect(ports.opened()).toEqual([]);
});

it("gives commands no way out, and ends with the session", async () => {
  await serve(8231);
  const { at } = await ports.open(8231);
  expect(await ask(at, "a")).toBe("A");
  const sockets = await bed.inside("cat /proc/net/tcp /proc/net/tcp6 | awk '$4 == \"0A\"' | wc -l", {
    sandbox: { space },
  });
  expect(sockets.output.trim()).toBe("1");
  ports.closeAll();
  await expect(ask(at, "b")).rejects.toThrow("ECONNREFUSED");
});
