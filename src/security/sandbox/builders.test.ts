import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { existingSecrets, usualSecrets } from "../command-home/usual-secrets.js";
import { bubblewrapCommand } from "./bubblewrap.js";
import { listeningSockets, otherProcesses } from "./host-openings.js";
import { findLayout } from "./layout.js";
import { sandboxPolicy } from "./policy.js";
import { SandboxTestbed } from "./sandbox-testbed.js";
import { seccompFilter } from "./seccomp-filter.js";
import { command, layout, policy } from "./test-support/sample-layout.js";

let bed: SandboxTestbed;
beforeEach(() => {
  bed = new SandboxTestbed();
});
afterEach(() => bed.close());

describe("[P8] the command line for bubblewrap", () => {
  const parts = {
    ...{ policy, layout, blank: "/state/blank", mask: "/state/mask", tasks: 0, isRoot: false, runFolders: [] },
    bubblewrap: { program: "/usr/bin/bwrap", version: [0, 8] as const },
  };
  const words = (changes: object = {}) => bubblewrapCommand({ ...parts, ...changes }, command);

  it("drops every right and unshares everything", () => {
    expect(words().program).toBe("/usr/bin/bwrap");
    for (const word of ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent"]) {
      expect(words().args).toContain(word);
    }
    expect(words().args.join(" ")).toContain("--cap-drop ALL");
  });

  it("mounts in the order of meaning", () => {
    const { args } = words();
    const at = (flag: string, path: string) =>
      args.findIndex((word, index) => word === flag && args.slice(index, index + 3).includes(path));
    const order = [
      at("--ro-bind", "/"),
      at("--tmpfs", "/tmp"),
      at("--bind", "/home/me/my project"),
      at("--bind", "/home/me/my project/.git"),
      at("--ro-bind", "/home/me/my project/.git/hooks"),
      at("--tmpfs", "/home/me/.ssh"),
      at("--ro-bind", "/home/me/.netrc"),
      at("--ro-bind", "/home/me/.local/state/oxbow/output"),
    ];
    expect(order).toEqual([...order].sort((one, other) => one - other));
    expect(order).not.toContain(-1);
    expect(args).not.toContain("/run/docker.sock");
  });

  it("uses other means without a filter, if the version supports them", () => {
    expect(words().args).toEqual(expect.arrayContaining(["--new-session", "--disable-userns"]));
    expect(words({ filter: "/f" }).args).not.toContain("--new-session");
    const old = words({ bubblewrap: { program: "/usr/bin/bwrap", version: [0, 6] } }).args;
    expect(old).not.toContain("--disable-userns");
    expect(old).not.toContain("--size");
    expect(old.join(" ")).toContain("--perms 1777 --tmpfs /tmp");
  });

  it("sets up outside only what has to be", () => {
    expect(words({ filter: "/f" })).toMatchObject({
      program: "/bin/sh",
      args: expect.arrayContaining(["/f"]),
    });
    expect(words({ quotaEntry: "/g/tasks" })).toMatchObject({
      program: "/usr/bin/bwrap",
      args: expect.arrayContaining(["/g/tasks"]),
    });
  });

  it("keeps the environment off the command line", () => {
    expect(words().args.join(" ")).not.toContain("value");
    expect(words().env).toMatchObject({ SETTING: "value", TMPDIR: "/tmp" });
  });
});

describe("[P8] hidden places", () => {
  it("are those that exist, free of links, and none inside another", () => {
    bed.write(join(bed.outside, ".ssh/id"), "");
    bed.write(join(bed.outside, ".netrc"), "");
    bed.write(join(bed.outside, "dotfiles/aws/credentials"), "");
    symlinkSync("dotfiles/aws", join(bed.outside, ".aws"));
    const found = existingSecrets([
      ...usualSecrets({ home: bed.outside }).filter((path) => path.startsWith(bed.outside)),
      join(bed.outside, ".ssh/id"),
    ]);
    expect(found).toEqual([
      { path: join(bed.outside, ".ssh"), kind: "folder" },
      { path: join(bed.outside, "dotfiles/aws"), kind: "folder" },
      { path: join(bed.outside, ".netrc"), kind: "file" },
    ]);
  });

  it("know the usual ones", () => {
    const usual = usualSecrets({ home: "/home/me" });
    for (const name of [".ssh", ".aws", ".gnupg", ".config/gh", ".netrc", ".kube", ".npmrc", ".docker/config.json"]) {
      expect(usual).toContain(`/home/me/${name}`);
    }
    expect(usual).toContain("/etc/shadow");
  });

  it("cannot be the workspace, which cannot be everything either", () => {
    const attempt = (writable: string, hidden: string[]) => () =>
      findLayout(sandboxPolicy({ writable: [writable], hidden }), { access: "direct" });
    expect(attempt(bed.workspace, [bed.workspace])).toThrow(/cannot be the workspace/);
    expect(attempt("/", [])).toThrow(/whole file system/);
    expect(attempt("relative", [])).toThrow(/not absolute/);
    expect(attempt(join(bed.workspace, "gone"), [])).toThrow(/does not exist/);
    mkdirSync(bed.path("inner"));
    expect(attempt(bed.path("inner"), [bed.workspace])).not.toThrow();
  });
});

describe("[P8] openings of the running system", () => {
  it("are the sockets that a program listens on", () => {
    const table = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 12345 /var/lib/engine/docker.sock
0000000000000000: 00000003 00000000 00000000 0001 03 12346 /var/lib/engine/connected.sock
0000000000000000: 00000002 00000000 00010000 0001 01 12347 @abstract
0000000000000000: 00000002 00000000 00010000 0001 01 12348 /home/me/with blank.sock
0000000000000000: 00000002 00000000 00000000 0002 01 12349 /var/lib/log/messages
`;
    const paths = ["/var/lib/engine/docker.sock", "/home/me/with blank.sock", "/var/lib/log/messages"];
    expect(listeningSockets(table)).toEqual(paths);
  });

  it("are other views of the processes", () => {
    const table = `22 27 0:21 / /proc rw,relatime - proc proc rw
23 27 0:22 / /host\\040files/proc rw shared:5 - proc proc rw
24 27 0:23 / /sys rw - sysfs sysfs rw
`;
    expect(otherProcesses(table)).toEqual(["/host files/proc"]);
  });
});

describe("[P8] the system-call filter", () => {
  /** Runs the program as the kernel would; returns the verdict. */
  function judge(architecture: string, call: { audit: number; number: number; args?: number[] }): number {
    const bytes = seccompFilter(architecture, "off");
    if (bytes === undefined) throw new Error("no filter");
    const view = new DataView(bytes.buffer);
    const data = new Map<number, number>([
      [0, call.number],
      [4, call.audit],
    ]);
    (call.args ?? []).forEach((value, index) => void data.set(16 + 8 * index, value));
    let accumulator = 0;
    for (let at = 0; ; at++) {
      const code = view.getUint16(at * 8, true);
      const [ifTrue, ifFalse] = [view.getUint8(at * 8 + 2), view.getUint8(at * 8 + 3)];
      const value = view.getUint32(at * 8 + 4, true);
      if (code === 0x06) return value;
      if (code === 0x20) accumulator = data.get(value) ?? 0;
      else if (code === 0x54) accumulator &= value;
      else if (code === 0x15) at += accumulator === value ? ifTrue : ifFalse;
      else if (code === 0x35) at += accumulator >= value ? ifTrue : ifFalse;
      else if (code === 0x45) at += (accumulator & value) !== 0 ? ifTrue : ifFalse;
      else throw new Error(`unknown instruction ${code}`);
    }
  }
  const ALLOW = 0x7fff_0000;
  const errno = (number: number) => 0x5_0000 | number;
  const x64 = 0xc000_003e;
  const arm64 = 0xc000_00b7;

  it.each([
    ["read", { number: 0 }, ALLOW],
    ["a Unix socket", { number: 41, args: [1] }, errno(97)],
    ["a question about routes", { number: 41, args: [16, 3, 0] }, ALLOW],
    ["another question to the kernel", { number: 41, args: [16, 3, 16] }, errno(93)],
    ["an IPv4 socket", { number: 41, args: [2] }, ALLOW],
    ["a pair of sockets", { number: 53, args: [1, 1 | 0x80000] }, ALLOW],
    ["a pair of datagram sockets", { number: 53, args: [1, 2 | 0x800] }, errno(97)],
    ["a pair of raw sockets", { number: 53, args: [1, 3] }, errno(97)],
    ["an IPv6 socket", { number: 41, args: [10] }, ALLOW],
    ["a socket to the hypervisor", { number: 41, args: [40] }, errno(97)],
    ["a raw packet socket", { number: 41, args: [17] }, errno(97)],
    ["a thread", { number: 56, args: [0x3d0f00] }, ALLOW],
    ["a user namespace by clone", { number: 56, args: [0x1000_0000 | 17] }, errno(1)],
    ["a user namespace by unshare", { number: 272, args: [0x1000_0000] }, errno(1)],
    ["clone3", { number: 435 }, errno(38)],
    ["io_uring", { number: 425 }, errno(38)],
    ["an ordinary ioctl", { number: 16, args: [0, 0x5401] }, ALLOW],
    ["a pushed keystroke", { number: 16, args: [0, 0x5412] }, errno(1)],
    ["pasting on a console", { number: 16, args: [0, 0x541c] }, errno(1)],
    ["chmod", { number: 90, args: [0, 0o755] }, ALLOW],
    ["chmod to another's rights", { number: 90, args: [0, 0o4755] }, errno(1)],
    ["fchmodat to another's rights", { number: 268, args: [0, 0, 0o4755] }, errno(1)],
    ["chmod to the rights of a group", { number: 90, args: [0, 0o2755] }, errno(1)],
    ["opening, with anything for a mode", { number: 257, args: [0, 0, 0, 0o4755] }, ALLOW],
    ["making a file", { number: 257, args: [0, 0, 0o101, 0o666] }, ALLOW],
    ["making a file with another's rights", { number: 257, args: [0, 0, 0o101, 0o4755] }, errno(1)],
    ["the same by the old call", { number: 2, args: [0, 0o101, 0o4755] }, errno(1)],
    ["the key store", { number: 250 }, errno(1)],
    ["mount", { number: 165 }, errno(1)],
    ["a call of the x32 interface", { number: 0x4000_0029, args: [40] }, errno(38)],
  ])("on x64: %s", (_, call, verdict) => expect(judge("x64", { audit: x64, ...call })).toBe(verdict));

  it.each([
    ["socket, local", { number: 198, args: [1] }, errno(97)],
    ["socketpair", { number: 199, args: [1, 5] }, ALLOW],
    ["socketpair, datagrams", { number: 199, args: [1, 2] }, errno(97)],
    ["socket, hypervisor", { number: 198, args: [40] }, errno(97)],
    ["unshare of the user namespace", { number: 97, args: [0x1000_0000] }, errno(1)],
    ["keyctl", { number: 219 }, errno(1)],
    ["fchmodat to another's rights", { number: 53, args: [0, 0, 0o4755] }, errno(1)],
    ["making a file with another's rights", { number: 56, args: [0, 0, 0o101, 0o4755] }, errno(1)],
  ])("on arm64: %s", (_, call, verdict) => expect(judge("arm64", { audit: arm64, ...call })).toBe(verdict));

  it("kills calls of another architecture, and is not made for unknown ones", () => {
    expect(judge("x64", { audit: 0x4000_0003, number: 102 })).toBe(0x8000_0000);
    expect(seccompFilter("riscv64", "off")).toBeUndefined();
  });
});
