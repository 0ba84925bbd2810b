/** Asks the user on the terminal that the process belongs to, apart from standard input and output. */
import { closeSync, openSync, writeSync } from "node:fs";
import { ReadStream } from "node:tty";

/** Undefined if there is no terminal, or the signal ended the wait. */
export async function askOnControllingTerminal(question: string, signal: AbortSignal): Promise<string | undefined> {
  let file: number;
  try {
    file = openSync("/dev/tty", "r+");
  } catch {
    return undefined;
  }
  let input: ReadStream | undefined;
  try {
    writeSync(file, question);
    input = new ReadStream(file);
    return await firstLine(input, signal);
  } catch {
    return undefined;
  } finally {
    if (input === undefined) closeSync(file);
    else input.destroy();
  }
}

function firstLine(input: ReadStream, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = "";
    input.setEncoding("utf8");
    input.on("data", (piece: string) => {
      text += piece;
      const end = text.search(/[\r\n]/);
      if (end !== -1) resolve(text.slice(0, end));
      else if (text.length > 1000) resolve(undefined);
    });
    input.on("end", () => resolve(undefined));
    input.on("error", () => resolve(undefined));
    signal.addEventListener("abort", () => resolve(undefined));
  });
}
