/** A program outside that listens on a Unix socket is not reached, however and whenever it made the socket. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SandboxTestbed, whyNoSandbox } from "./sandbox-testbed.js";

const reason = await whyNoSandbox();

let bed: SandboxTestbed;
const children: ChildProcess[] = [];

beforeEach(() => {
  bed = new SandboxTestbed();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
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

const CONNECT = `perl -e 'use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0) or die "no socket: $!\\n"; connect(S, sockaddr_un("host.sock")) or die "no connection: $!\\n"; print <S>'`;
const SEND = `perl -e 'use Socket; socket(S, PF_UNIX, SOCK_DGRAM, 0) or die "no socket: $!\\n"; send(S, "x", 0, sockaddr_un("host.sock")) or die $!'`;
/** Of a pair of datagram sockets either can be sent elsewhere, or connected anew. */
const SEND_FROM_PAIR = `perl -e 'use Socket; socketpair(A, B, PF_UNIX, $ARGV[0], 0) or die "no pair: $!\\n"; send(A, "x", 0, sockaddr_un("host.sock")) or die "not sent: $!\\n"'`;

describe.skipIf(reason !== undefined)("[P8] Unix sockets of programs outside", () => {
  it("bound by a relative path are not reached", async () => {
    await listenOutside("stream");
    const inside = await bed.inside(CONNECT);
    expect(inside.output).toContain("no socket: Address family not supported");
    expect(inside.hint).toContain("Unix sockets");
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

  it("work where a person allowed them", async () => {
    await listenOutside("stream");
    expect((await bed.inside(CONNECT, { policy: { unixSockets: "on" } })).output).toBe("outside");
  });
});
