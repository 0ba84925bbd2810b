/**
 * Restores the terminal if the client is killed. A shell reads the restore sequence from a pipe. If the pipe closes without the word
 * `end`, the client was killed.
 */
import { spawn } from "node:child_process";
import { SYSTEM_PATH } from "../../../base/system-path.js";
import type { Watcher } from "./terminal-io.js";

/**
 * File 3 is the terminal for writing, file 4 for reading. They are not the first three files: Node makes those blocking in a new
 * process, and so in this one, which shares them. If a shell has the terminal again, it has set its own modes: only a program in raw
 * mode switches the key signals off, so if they are on, nothing is changed.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM TSTP TTIN TTOU
restore=
while IFS= read -r word; do
  restore=$word
  [ "$word" = end ] && exit 0
done
[ -z "$restore" ] && exit 0
printf "$restore" >&3
sleep 0.1
case $(stty -a <&4) in
*-isig*) stty brkint icrnl ixon isig icanon iexten echo <&4 ;;
esac
`;

export interface WatcherOptions {
  /** The file descriptors of the terminal. */
  readonly input: number;
  readonly output: number;
}

export function startWatcher({ input, output }: WatcherOptions): Watcher {
  // Its own session, because a signal to the group of the client must not end the watcher.
  const child = spawn("/bin/sh", ["-c", SCRIPT], {
    stdio: ["pipe", "ignore", "ignore", output, input],
    detached: true,
    cwd: "/",
    env: { PATH: SYSTEM_PATH },
  });
  // Without a shell there is no watcher. Nothing else depends on it.
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  child.unref();
  (child.stdin as { unref?(): void } | null)?.unref?.();
  const say = (word: string) => void child.stdin?.write(`${word}\n`);
  return { restoreBy: (bytes) => say(asFormat(bytes)), end: () => say("end") };
}

/** For `printf` of the shell. */
function asFormat(bytes: string): string {
  return bytes.replace(/[^0-9A-Za-z;[\]?>]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
}
