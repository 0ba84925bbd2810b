/** A program outside that listens on a Unix socket is not reached, however and whenever it made the socket. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, existsSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { SandboxTestbed } from "./sandbox-testbed.js";

let bed: SandboxTestbed;
const children: ChildProcess[] = [];
const servers: Server[] = [];

beforeEach(() => {
  bed = new SandboxTestbed();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const server of servers.splice(0)) server.close();
  await bed.close();
});

/** Listens outside on a name relative to the workspace, or on an abstract one; resolves when it does. */
async function listenOutside(kind: "stream" | "datagram", { when }: { readonly when?: string } = {}): Promise<void> {
  const script = `
    use Socket; $| = 1; my ($kind, $when) = @ARGV;
    if ($when) { print "waiting\\n"; select(undef, undef, undef, 0.01) until -e $when; }
    socket(S, PF_UNIX, $kind eq "stream" ? SOCK_STREAM : SOCK_DGRAM, 0) or die $!;
    bind(S, sockaddr_un("host.sock")) or die $!;
    if ($kind eq "stream") { listen(S, 5) or die $!; }
    print "listening\\n";
    if ($kind eq "stream") { while (accept(C, S)) { open(R, ">reached"); close R; syswrite(C, "outside\\n"); close C; } }
    else { recv(S, my $text, 100, 0); open(R, ">reached"); close R; }`;
  const child = spawn("perl", ["-e", script, kind, ...(when === undefined ? [] : [when])], { cwd: bed.workspace });
  children.push(child);
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.stderr.once("data", (text) => reject(new Error(String(text))));
  });
}

/**
 * As a container engine, an agent of ssh, a message bus and a database listen. `@` begins an abstract name, which older versions of Node
 * fill up with NUL characters.
 */
async function listenEverywhere(): Promise<readonly string[]> {
  const id = `oxbow-test-${process.pid}`;
  const runtime = process.env.XDG_RUNTIME_DIR ?? "/run/user/0";
  const folders = ["/run", "/var/run", runtime, "/tmp", bed.outside, bed.workspace].filter(isWritable);
  const names = [...folders.map((folder, index) => `${folder}/${id}-${index}.sock`), `@${id}`];
  for (const name of names) {
    const server = createServer(() => {}).listen(name.replace(/^@/, "\0"));
    await once(server, "listening");
    servers.push(server);
  }
  return names;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const CONNECT = `perl -e 'use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0) or die "no socket: $!\\n"; connect(S, sockaddr_un("host.sock")) or die "no connection: $!\\n"; print <S>'`;
const SEND = `perl -e 'use Socket; socket(S, PF_UNIX, SOCK_DGRAM, 0) or die "no socket: $!\\n"; send(S, "x", 0, sockaddr_un("host.sock")) or die $!'`;
/** Of a pair of datagram sockets either can be sent elsewhere, or connected anew. */
const SEND_FROM_PAIR = `perl -e 'use Socket; socketpair(A, B, PF_UNIX, $ARGV[0], 0) or die "no pair: $!\\n"; send(A, "x", 0, sockaddr_un("host.sock")) or die "not sent: $!\\n"'`;

needs("sandbox").describe("[P8] Unix sockets of programs outside", () => {
  it("bound by a relative path are not reached", async () => {
    await listenOutside("stream");
    const inside = await bed.inside(CONNECT);
    expect(inside.output).toContain("no socket: Address family not supported");
    expect(inside.hint).toContain("Unix sockets");
    const hosts = { policy: { network: { allow: ["allowed.test"] } }, sandbox: { resolveSafely: async () => [] } };
    expect((await bed.inside(CONNECT, hosts)).output).toContain("no socket: Address family not supported");
    expect(existsSync(bed.path("reached"))).toBe(false);
    expect((await bed.unprotected(CONNECT)).output).toBe("outside");
  });

  it("made while the command runs are not reached", async () => {
    await listenOutside("stream", { when: "go" });
    const later = `touch go; until [ -S host.sock ]; do :; done; ${CONNECT}`;
    expect((await bed.inside(later)).output).toContain("no socket");
    expect((await bed.unprotected(CONNECT)).output).toBe("outside");
  });

  it("take no datagrams, also not from one of a pair", async () => {
    await listenOutside("datagram");
    expect((await bed.inside(SEND)).output).toContain("no socket");
    for (const kind of [2, 3, 2 | 0x800, 2 | 0x80000]) {
      expect((await bed.inside(`${SEND_FROM_PAIR} ${kind}`)).output).toContain("no pair");
    }
    // Streams refuse the name, and sequenced packets go to the other end of the pair.
    expect((await bed.inside(`${SEND_FROM_PAIR} 1`)).output).toContain("not sent");
    expect((await bed.inside(`${SEND_FROM_PAIR} 5`)).code).toBe(0);
    expect(existsSync(bed.path("reached"))).toBe(false);
    expect((await bed.unprotected(`${SEND_FROM_PAIR} 2`)).code).toBe(0);
  });

  it("cannot be reached through inherited sockets that are connected again", async () => {
    await listenOutside("stream");
    const reconnect = `perl -e 'use Socket; for my $n (0 .. 9) { open(my $s, "+<&=", $n) or next; connect($s, sockaddr_un("host.sock")) and print "connected $n\\n" }'`;
    expect((await bed.inside(reconnect)).output).toBe("");
  });

  it("allows pairs of connected sockets and its own network", async () => {
    writeFileSync(
      bed.path("child.mjs"),
      'process.on("message", (text) => { process.send(text + " back", () => process.exit()); });',
    );
    const fork =
      'const c = require("child_process").fork("child.mjs"); c.on("message", (m) => console.log(m)); c.send("there and")';
    expect((await bed.inside(`node -e '${fork}'`)).output).toBe("there and back");
    const local =
      'const s = require("net").createServer((c) => c.end("hi")).listen(0, "127.0.0.1", () => require("net").connect(s.address().port).on("data", (d) => { console.log(String(d)); s.close() }))';
    expect((await bed.inside(`node -e '${local}'`)).output).toBe("hi");
    expect((await bed.inside("node -p 'Object.keys(os.networkInterfaces()).length'")).output).toBe("1");
  });

  it.each([
    ["without a network", {}],
    ["with allowed hosts", { network: { allow: ["allowed.test"] } }],
    ["with the network of this machine", { network: "open" as const }],
  ])("are out of reach wherever they are, %s", async (_, policy) => {
    const names = await listenEverywhere();
    const connect = `perl -e 'use Socket; for my $name (@ARGV) { $name =~ s/^@/\\0/; for my $kind (SOCK_STREAM, SOCK_DGRAM) { socket(my $s, PF_UNIX, $kind, 0) or next; for my $form ("S a*", "S a108") { connect($s, pack($form, PF_UNIX, $name)) and print "reached $name\\n" } } }' ${names.join(" ")}`;
    const sandbox = { resolveSafely: async () => ["127.0.0.1"] };
    expect(await bed.inside(connect, { policy, sandbox })).toMatchObject({ code: 0, output: "" });
    const unprotected = new Set((await bed.unprotected(connect)).output.split("\n"));
    expect([...unprotected].filter((line) => line.startsWith("reached"))).toHaveLength(names.length);
  });

  it("work where a person allowed them", async () => {
    await listenOutside("stream");
    expect((await bed.inside(CONNECT, { policy: { unixSockets: "on" } })).output).toBe("outside");
  });
});

needs("util-linux").it("a socket that vanishes while util-linux makes a sandbox stops no command", async () => {
  const own = new SandboxTestbed("util-linux");
  const path = `${own.outside}/brief.sock`;
  const server = createServer(() => {}).listen(path);
  await once(server, "listening");
  try {
    const wrapped = await own.wrap("echo done");
    expect(wrapped.args).toContain(path);
    rmSync(path);
    expect(await own.run(wrapped)).toMatchObject({ code: 0, output: "done" });
    await wrapped.ended();
    expect(existsSync(path)).toBe(false);
  } finally {
    server.close();
    await own.close();
  }
});
