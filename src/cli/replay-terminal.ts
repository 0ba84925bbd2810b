/** The process's terminal in raw mode, for the replay. */
import type { ReplayTerminal } from "../clients/headless/replay/run-replay.js";
import type { Terminal } from "../clients/headless/terminal.js";

export function replayTerminal(terminal: Terminal): ReplayTerminal {
  const { stdin, stdout } = process;
  return {
    isTerminal: stdin.isTTY === true && stdout.isTTY === true,
    color: terminal.color,
    get columns() {
      return stdout.columns;
    },
    get rows() {
      return stdout.rows;
    },
    write: (text) => new Promise((resolve) => stdout.write(text, () => resolve())),
    onKey(listener) {
      const onData = (typed: string) => listener(typed);
      stdin.setRawMode(true);
      stdin.setEncoding("utf8");
      stdin.on("data", onData);
      stdin.resume();
      return () => stdin.off("data", onData);
    },
    onResize(listener) {
      stdout.on("resize", listener);
      return () => stdout.off("resize", listener);
    },
    close() {
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
