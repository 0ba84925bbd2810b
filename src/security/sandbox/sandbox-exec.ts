/**
 * The profile and the command line for macOS's `sandbox-exec`. In a profile the last rule that matches an operation decides.
 *
 * 1. Paths are parameters, never text of the profile, except the patterns of guarded names.
 * 2. Guarded places need not exist: rules are about paths. Their folders may not be renamed either.
 * 3. There is no process namespace: what a command starts is found and ended by the process tree, and other processes can be
 *    seen, though not signalled.
 * 4. The system compares real paths, so every path given here must be free of links: `/tmp` and `/var` are links on macOS.
 * 5. No service of the system that reaches the network or acts for the command outside of the sandbox: not `trustd`, which
 *    fetches addresses that it finds in certificates, nor those that open applications or keep passwords.
 * 6. Terminals are writable only if they were opened inside or passed in: others belong to the user's other windows.
 */

import { proxyVariables } from "../allowed-hosts/network-forwarding.js";
import type { Wrapped } from "./bubblewrap.js";
import type { Layout } from "./layout.js";
import { limitLines } from "./limits.js";
import type { Command, SandboxPolicy } from "./policy.js";

export const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

export interface SandboxExecParts {
  readonly program: string;
  readonly policy: SandboxPolicy;
  readonly layout: Layout;
  /** A folder for temporary files that belongs to this command alone. */
  readonly temporaryFolder: string;
  /** Where the proxy for the allowed hosts listens on this machine. */
  readonly proxyPort?: number | undefined;
}

/** Allows what every program needs of the system: themselves, their terminal, user names, time zones. */
const BASE = `(version 1)
(deny default)
(allow process-exec process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read* file-test-existence file-map-executable)
(allow file-ioctl (regex #"^/dev/(tty|ttys[0-9]+|ptmx)$"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper"))
(allow file-write-data (literal "/dev/ptmx") (regex #"^/dev/(fd/[0-9]+|std(out|err))$"))
(allow file-write-data (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow pseudo-tty)
(allow ipc-posix-sem ipc-posix-shm)
(allow user-preference-read)
(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))
(allow mach-lookup
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.logd")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))`;

/** Programs may connect to themselves. A sandbox that shares the machine's network cannot know whose port it is. */
const NO_NETWORK = `(allow network-bind (local unix-socket))
(allow network-outbound (remote unix-socket (subpath (param "TEMPORARY"))))`;

/** Also in repositories that do not exist yet; letter case makes no difference on most of these disks. */
const GIT_PLACES =
  "[.][gG][iI][tT]/(([mM][oO][dD][uU][lL][eE][sS]|[wW][oO][rR][kK][tT][rR][eE][eE][sS])/(.*/)?)?([hH][oO][oO][kK][sS]|[cC][oO][nN][fF][iI][gG]([.][wW][oO][rR][kK][tT][rR][eE][eE])?|[cC][oO][mM][mM][oO][nN][dD][iI][rR])(/|$)";
const GIT_ITSELF = "[.][gG][iI][tT]$";

export function sandboxExecCommand(parts: SandboxExecParts, command: Command): Wrapped {
  const { profile, parameters } = sandboxExecProfile(parts);
  const script = [...limitLines(parts.policy.limits, { tasks: 0 }), 'exec "$@"'];
  return {
    program: "/bin/sh",
    args: [
      ...["-c", script.join("\n"), "sandbox", parts.program],
      ...Object.entries(parameters).flatMap(([name, value]) => ["-D", `${name}=${value}`]),
      ...["-p", profile, command.program, ...command.args],
    ],
    cwd: command.cwd,
    env: {
      ...command.env,
      TMPDIR: parts.temporaryFolder,
      ...parts.layout.caches?.environment,
      ...(parts.proxyPort === undefined ? {} : proxyVariables(parts.proxyPort)),
    },
  };
}

export interface Profile {
  readonly profile: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export function sandboxExecProfile({ layout, temporaryFolder, proxyPort }: SandboxExecParts): Profile {
  const parameters: Record<string, string> = { TEMPORARY: temporaryFolder };
  const named = (prefix: string, paths: readonly string[]) =>
    paths.map((path, index) => {
      parameters[`${prefix}${index}`] = path;
      return `(param "${prefix}${index}")`;
    });
  const writable = named("WRITABLE", layout.writable);
  const readOnly = named("READONLY", layout.guards.readOnly);
  const pinned = named("PINNED", [...layout.guards.pinned, ...layout.writable]);
  const covering = named(
    "COVERING",
    layout.covering.map(({ path }) => path),
  );
  const hidden = named(
    "HIDDEN",
    [...layout.hidden, ...layout.masked].map(({ path }) => path),
  );
  const caches = named("CACHE", layout.caches === undefined ? [] : [layout.caches.cache]);
  const visible = named("VISIBLE", layout.visible);
  const rules = [
    BASE,
    ...covering.flatMap((path) => [
      `(deny file-read* file-write* (subpath ${path}))`,
      `(allow file-read-metadata (literal ${path}))`,
    ]),
    `(allow file-read* file-write* (subpath (param "TEMPORARY")))`,
    ...writable.map((path) => `(allow file-read* file-write* (subpath ${path}))`),
    ...layout.writable.flatMap((root) => [
      `(deny file-write* (regex #"^${pattern(root)}/(.*/)?${GIT_PLACES}"))`,
      `(deny file-write-create file-write-unlink (regex #"^${pattern(root)}/(.*/)?${GIT_ITSELF}"))`,
    ]),
    ...readOnly.map((path) => `(deny file-write* (subpath ${path}))`),
    ...pinned.map((path) => `(deny file-write-unlink (literal ${path}))`),
    ...hidden.map((path) => `(deny file-read* file-write* (subpath ${path}))`),
    ...visible.map((path) => `(allow file-read* (subpath ${path}))`),
    ...caches.map((path) => `(allow file-read* file-write* (subpath ${path}))`),
    "(deny file-write-setugid)",
    NO_NETWORK,
    ...(proxyPort === undefined ? [] : [`(allow network-outbound (remote ip "localhost:${proxyPort}"))`]),
  ];
  return { profile: rules.join("\n"), parameters };
}

/** A character with a meaning in patterns becomes "any character in a name": that can only forbid more. */
function pattern(path: string): string {
  return path.replace(/[^\x00-\x7f]+|[^A-Za-z0-9/_.-]/g, (signs) => (signs > "\x7f" ? "[^/]*" : "[^/]"));
}
