/**
 * Children must not outlive Oxbow, even if SIGKILL ends it. A small shell waits at the end of a pipe that only this process holds:
 * when the pipe closes, the shell kills the remaining children.
 *
 * It starts when a command has run for a moment, so that short commands are not slowed down. There is one per process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { SYSTEM_PATH } from "../base/system-path.js";
import { type LimitMark, limitsPattern } from "./limit-mark.js";
import { INSTANCE_MARKER } from "./process-tree.js";

/**
 * A line on stdin has the live process groups and, after a semicolon, the pattern of their limits; `$0` is the marker in their
 * environments. The first line is `$1`: this process may be killed before it can write one.
 */
const SCRIPT = `
line=$1
while read -r next; do line=$next; done
groups=\${line%%;*}
limits=\${line#*;}
for round in 1 2 3; do
  for group in $groups; do kill -9 -- "-$group"; done
  for file in $(grep -lsF "$0" /proc/[0-9]*/environ; [ -z "$limits" ] || grep -lsE "$limits" /proc/[0-9]*/limits); do
    pid=\${file#/proc/}
    kill -9 "\${pid%/*}"
  done
done 2>/dev/null
`;

export class ProcessWatchdog {
  readonly #groups = new Map<number, LimitMark | undefined>();
  #child: ChildProcess | undefined;
  #failed = process.platform === "win32";

  watch(group: number, limitMark: LimitMark | undefined): void {
    this.#groups.set(group, limitMark);
    if (this.#child === undefined) this.#start();
    else this.#sendGroups();
  }

  unwatch(group: number): void {
    if (this.#groups.delete(group)) this.#sendGroups();
  }

  /** Ends the watchdog when all children have ended. */
  stop(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  #start(): void {
    if (this.#failed) return;
    // Its own session, because Ctrl-C in the terminal would end it otherwise.
    const child = spawn("/bin/sh", ["-c", SCRIPT, INSTANCE_MARKER, this.#line()], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: { PATH: SYSTEM_PATH },
      cwd: "/",
    });
    const forget = () => {
      if (this.#child === child) this.#child = undefined;
    };
    child.on("error", () => {
      this.#failed = true;
      forget();
    });
    child.on("exit", forget);
    child.stdin.on("error", () => {});
    child.unref();
    (child.stdin as unknown as { unref(): void }).unref();
    this.#child = child;
  }

  #sendGroups(): void {
    this.#child?.stdin?.write(`${this.#line()}\n`);
  }

  #line(): string {
    const patterns = [...this.#groups.values()].flatMap((mark) => mark?.pattern ?? []);
    const limits = patterns.length === 0 ? "" : limitsPattern(patterns);
    return `${[...this.#groups.keys()].join(" ")};${limits}`;
  }
}
