/**
 * Restores the terminal when the client is killed and cannot do it itself. A shell reads from a pipe what it is to write then. When
 * the pipe ends without the word `end`, the client is dead.
 */
import { spawn } from "node:child_process";
import type { Variables } from "../../../base/variables.js";
import type { Watcher } from "./terminal-io.js";

/**
 * File 3 is the terminal to write to, file 4 the one to read from. They are none of the first three files: Node makes those block in
 * a new process, and so in this one, which shares them. A shell that got it back meanwhile has set its own modes: only a program in raw mode has
 * switched off the signals of the keys, so nothing is changed when they are on.
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
  /** The files of the terminal. */
  readonly input: number;
  readonly output: number;
  readonly variables: Variables;
}

export function startWatcher({ input, output, variables }: WatcherOptions): Watcher {
  // A session of its own: what ends the group of the client must not end the watcher.
  const child = spawn("/bin/sh", ["-c", SCRIPT], {
    stdio: ["pipe", "ignore", "ignore", output, input],
    detached: true,
    cwd: "/",
    env: { PATH: variables.PATH ?? "/usr/bin:/bin" },
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
