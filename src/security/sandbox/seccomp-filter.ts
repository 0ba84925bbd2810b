/**
 * A small system-call filter for what namespaces leave open, as a classic BPF program for `bwrap --seccomp`.
 *
 * 1. Sockets exist for IPv4, IPv6 and routing questions to the kernel only. The others (AF_VSOCK to the hypervisor above all) do
 *    not belong to a network namespace, so cutting the network would not cut them. A Unix socket with a path does not either: a
 *    program outside that listens on one would be reached wherever its folder can be seen. Connected pairs of Unix sockets stay,
 *    because programs talk to their children through them; a datagram pair does not, because it can be sent elsewhere.
 * 2. No further user namespaces: a process that is root in one can reach far more of the kernel.
 * 3. No keystrokes are pushed into a terminal, and the kernel's key store, which is inherited and not namespaced, stays closed.
 * 4. No file gets the bits that let other users run it with the rights of its owner or its group.
 * 5. io_uring and openat2 are off: their arguments are not in the call, so a filter cannot see them.
 *
 * Everything else passes: the filter only closes the gaps that namespaces leave.
 */
/** Says whether a program may make Unix sockets that have a name. */
export type UnixSockets = "off" | "on";

export interface FilterTarget {
  /** How the kernel names the architecture a call is made for. */
  readonly audit: number;
  /** Calls at or above this number belong to a second interface (x32), which would bypass the filter. */
  readonly numbersEnd?: number;
  readonly calls: Readonly<Record<CallName, number> & Partial<Record<OldName, number>>>;
}

const DENIED = [
  ..."keyctl add_key request_key bpf perf_event_open userfaultfd kexec_load kexec_file_load".split(" "),
  ..."init_module finit_module delete_module open_by_handle_at setns reboot swapon swapoff acct".split(" "),
  ..."mount umount2 pivot_root move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr".split(" "),
] as readonly DeniedName[];
/** Programs try these and work without them. */
const ABSENT = ["clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register"] as const;

/** Calls that give a file its mode, with the number of that argument. Older ones do not exist everywhere. */
const MODE_ARGUMENTS = { chmod: 1, fchmod: 1, fchmodat: 2, fchmodat2: 2, creat: 1, mknod: 1, mknodat: 2 } as const;
/** Calls that open a file and may create it, with the number of the flags argument; the mode is the next one. */
const OPEN_ARGUMENTS = { open: 1, openat: 2 } as const;

type DeniedName =
  | ("keyctl" | "add_key" | "request_key" | "bpf" | "perf_event_open" | "userfaultfd" | "kexec_load")
  | ("kexec_file_load" | "init_module" | "finit_module" | "delete_module" | "open_by_handle_at" | "setns")
  | ("reboot" | "swapon" | "swapoff" | "acct" | "mount" | "umount2" | "pivot_root" | "move_mount" | "open_tree")
  | ("fsopen" | "fsconfig" | "fsmount" | "fspick" | "mount_setattr");
type OldName = "chmod" | "creat" | "mknod" | "open";
type ModeName = Exclude<keyof typeof MODE_ARGUMENTS | keyof typeof OPEN_ARGUMENTS, OldName>;
type SocketName = "socket" | "socketpair";
type CallName = DeniedName | (typeof ABSENT)[number] | ModeName | SocketName | "clone" | "unshare" | "ioctl";

/** The newer calls have the same number everywhere. */
const COMMON_CALLS = {
  ...{ io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, open_tree: 428, move_mount: 429 },
  ...{ fsopen: 430, fsconfig: 431, fsmount: 432, fspick: 433, clone3: 435, openat2: 437, mount_setattr: 442 },
  fchmodat2: 452,
};

const TARGETS: Readonly<Record<string, FilterTarget>> = {
  x64: {
    audit: 0xc000_003e,
    numbersEnd: 0x4000_0000,
    calls: {
      ...COMMON_CALLS,
      ...{ open: 2, creat: 85, chmod: 90, fchmod: 91, mknod: 133, openat: 257, mknodat: 259, fchmodat: 268 },
      ...{
        ioctl: 16,
        socket: 41,
        socketpair: 53,
        clone: 56,
        pivot_root: 155,
        acct: 163,
        mount: 165,
        umount2: 166,
        swapon: 167,
      },
      ...{ swapoff: 168, reboot: 169, init_module: 175, delete_module: 176, kexec_load: 246, add_key: 248 },
      ...{ request_key: 249, keyctl: 250, unshare: 272, perf_event_open: 298, open_by_handle_at: 304, setns: 308 },
      ...{ finit_module: 313, kexec_file_load: 320, bpf: 321, userfaultfd: 323 },
    },
  },
  arm64: {
    audit: 0xc000_00b7,
    calls: {
      ...COMMON_CALLS,
      ...{ mknodat: 33, fchmod: 52, fchmodat: 53, openat: 56 },
      ...{ ioctl: 29, umount2: 39, mount: 40, pivot_root: 41, acct: 89, unshare: 97, kexec_load: 104 },
      ...{
        init_module: 105,
        delete_module: 106,
        reboot: 142,
        socket: 198,
        socketpair: 199,
        add_key: 217,
        request_key: 218,
      },
      ...{ keyctl: 219, clone: 220, swapon: 224, swapoff: 225, perf_event_open: 241, open_by_handle_at: 265 },
      ...{ setns: 268, finit_module: 273, bpf: 280, userfaultfd: 282, kexec_file_load: 294 },
    },
  },
};

const EPERM = 1;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EAFNOSUPPORT = 97;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
/** The kind of a socket; the bits above are flags. */
const SOCKET_KIND = 0xf;
const CLONE_NEWUSER = 0x1000_0000;
/** Set-user-ID and set-group-ID. */
const SET_ID_BITS = 0o6000;
/** O_CREAT and the kernel's own bit of O_TMPFILE. */
const MAKES_FILE = 0o20000100;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

const LOAD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const fail = (errno: number) => 0x0005_0000 | errno;

/** Offsets in the kernel's `struct seccomp_data`; of an argument only the lower half matters here. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + 8 * index;

/** The filter's bytes for this machine; undefined for architectures it was not written for. */
export function seccompFilter(architecture: string, unixSockets: UnixSockets): Uint8Array | undefined {
  const target = TARGETS[architecture];
  return target === undefined ? undefined : assemble(instructions(target, unixSockets));
}

type Instruction = readonly [code: number, value: number, ifTrue?: number, ifFalse?: number];

function instructions({ audit, numbersEnd, calls }: FilterTarget, unixSockets: UnixSockets): Instruction[] {
  const refuse = (name: CallName, errno: number): Instruction[] => [
    [JUMP_EQUAL, calls[name], 0, 1],
    [RETURN, fail(errno)],
  ];
  return [
    [LOAD, ARCHITECTURE],
    [JUMP_EQUAL, audit, 1, 0],
    [RETURN, KILL],
    [LOAD, NUMBER],
    ...(numbersEnd === undefined
      ? []
      : ([
          [JUMP_AT_LEAST, numbersEnd, 0, 1],
          [RETURN, fail(ENOSYS)],
        ] as const)),
    ...DENIED.flatMap((name) => refuse(name, EPERM)),
    ...ABSENT.flatMap((name) => refuse(name, ENOSYS)),
    ...socketChecks(calls, unixSockets),
    ...[calls.clone, calls.unshare].flatMap((call) =>
      whenCalled(call, [
        [LOAD, argument(0)],
        [JUMP_ANY_BIT, CLONE_NEWUSER, 0, 1],
        [RETURN, fail(EPERM)],
        [RETURN, ALLOW],
      ]),
    ),
    ...modeChecks(calls),
    ...whenCalled(calls.ioctl, [
      [LOAD, argument(1)],
      [JUMP_EQUAL, TIOCSTI, 1, 0],
      [JUMP_EQUAL, TIOCLINUX, 0, 1],
      [RETURN, fail(EPERM)],
      [RETURN, ALLOW],
    ]),
    [RETURN, ALLOW],
  ];
}

function socketChecks(calls: FilterTarget["calls"], unixSockets: UnixSockets): Instruction[] {
  const families = unixSockets === "on" ? [AF_UNIX, AF_INET, AF_INET6] : [AF_INET, AF_INET6];
  const socket: Instruction[] = [
    [LOAD, argument(0)],
    // Each jumps to the last instruction, which allows.
    ...families.map((family, index): Instruction => [JUMP_EQUAL, family, families.length - index + 4, 0]),
    [JUMP_EQUAL, AF_NETLINK, 1, 0],
    [RETURN, fail(EAFNOSUPPORT)],
    [LOAD, argument(2)],
    [JUMP_EQUAL, NETLINK_ROUTE, 1, 0],
    [RETURN, fail(EPROTONOSUPPORT)],
    [RETURN, ALLOW],
  ];
  const pair: Instruction[] = [
    [LOAD, argument(1)],
    [AND, SOCKET_KIND],
    [JUMP_EQUAL, SOCK_STREAM, 2, 0],
    [JUMP_EQUAL, SOCK_SEQPACKET, 1, 0],
    [RETURN, fail(EAFNOSUPPORT)],
    [RETURN, ALLOW],
  ];
  return [...whenCalled(calls.socket, socket), ...(unixSockets === "on" ? [] : whenCalled(calls.socketpair, pair))];
}

function modeChecks(calls: FilterTarget["calls"]): Instruction[] {
  const check = (index: number): Instruction[] => [
    [LOAD, argument(index)],
    [JUMP_ANY_BIT, SET_ID_BITS, 0, 1],
    [RETURN, fail(EPERM)],
    [RETURN, ALLOW],
  ];
  const bodies = new Map<number | undefined, Instruction[]>();
  for (const [name, index] of Object.entries(MODE_ARGUMENTS)) bodies.set(calls[name as ModeName], check(index));
  for (const [name, index] of Object.entries(OPEN_ARGUMENTS)) {
    // Without the flag the mode is whatever happens to be in the register.
    const onlyNew: Instruction[] = [
      [LOAD, argument(index)],
      [JUMP_ANY_BIT, MAKES_FILE, 1, 0],
      [RETURN, ALLOW],
    ];
    bodies.set(calls[name as ModeName], [...onlyNew, ...check(index + 1)]);
  }
  return [...bodies].flatMap(([call, body]) => (call === undefined ? [] : whenCalled(call, body)));
}

/** The body must end in a return: it replaces the call number that was loaded. */
function whenCalled(call: number, body: readonly Instruction[]): Instruction[] {
  return [[JUMP_EQUAL, call, 0, body.length], ...body];
}

function assemble(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  program.forEach(([code, value, ifTrue = 0, ifFalse = 0], index) => {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, ifTrue);
    view.setUint8(index * 8 + 3, ifFalse);
    view.setUint32(index * 8 + 4, value, true);
  });
  return bytes;
}
