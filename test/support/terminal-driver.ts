/**
 * A small program on the terminal of the client, for tests in a real one: it shows the last key or paste, a caret, and prints what
 * Enter ends. It writes its process id to the file that is its argument. `q` leaves, `z` suspends, `e` lends the terminal, `f` opens and closes the full screen, `s` prints
 * without end and counts in the file, `x` throws.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { openTerminal } from "../../src/clients/tui/terminal/open-terminal.js";
import { processIo } from "../../src/clients/tui/terminal/process-io.js";
import type { FullScreen, TerminalInput } from "../../src/clients/tui/terminal/terminal.js";

const file = process.argv[2] ?? "";
writeFileSync(file, String(process.pid));
const terminal = openTerminal(processIo({ process, variables: process.env }));
const seen: string[] = [];
let fullScreen: FullScreen | undefined;

function paint(printed: readonly string[] = []): void {
  const rule = "-".repeat(terminal.columns);
  const last = `last ${seen.slice(-3).reverse().join(" ")}`;
  const input = `> ${seen.length}`;
  terminal.paint({ lines: [rule, last, input, "status"], cursor: { row: 2, column: input.length } }, printed);
  fullScreen?.paint({ lines: ["full screen", last] });
}

function describe(input: TerminalInput): string {
  if (input.kind === "key") return `<${input.id ?? input.data}>`;
  if (input.kind === "paste") return `<paste ${input.text.length} ${input.text.split("\n").length}>`;
  return input.kind === "resize" ? `<resize ${input.columns}x${input.rows}>` : `<${input.kind}>`;
}

const actions: Readonly<Record<string, () => void>> = {
  q: () => void terminal.close(["bye"]).then(() => process.exit(0)),
  z: () => terminal.suspend(),
  s: () => {
    let count = 0;
    setInterval(() => {
      paint(Array<string>(30).fill("many words ".repeat(5)));
      writeFileSync(`${file}.count`, String(++count));
    }, 2);
  },
  x: () => {
    Error.stackTraceLimit = 0;
    throw new Error("thrown on purpose");
  },
  e: () => {
    const run = () =>
      new Promise<void>((resolve) => {
        const child = spawn("/bin/sh", ["-c", "stty -a | grep -o -- '-\\?icanon'; read line; echo got $line"], {
          stdio: "inherit",
        });
        child.on("close", () => resolve());
      });
    void terminal.lend(run).then(() => paint());
  },
  f: () => {
    if (fullScreen === undefined) fullScreen = terminal.openFullScreen();
    else {
      fullScreen.close();
      fullScreen = undefined;
    }
  },
};

terminal.onInput((input) => {
  if (input.kind === "closed") process.exit(input.signal === undefined ? 3 : 143);
  seen.push(describe(input));
  const id = input.kind === "key" ? (input.id ?? "") : "";
  actions[id]?.();
  paint(id === "enter" ? [`printed ${seen.length}`] : []);
});
terminal.setTitle("driver");
void terminal.backgroundIsLight().then((isLight) => {
  seen.push(`<light ${isLight}>`);
  paint();
});
paint(["hello"]);
