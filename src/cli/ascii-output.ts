/** For a terminal whose locale has only ASCII: changes the text of both outputs on its way out. */
import { asciiText } from "../base/ascii-text.js";

export function writeAscii(streams: readonly NodeJS.WriteStream[]): void {
  for (const stream of streams.filter(({ isTTY }) => isTTY)) {
    const write = stream.write.bind(stream) as (...args: readonly unknown[]) => boolean;
    stream.write = (piece: unknown, ...rest: readonly unknown[]) =>
      write(typeof piece === "string" ? asciiText(piece) : piece, ...rest);
  }
}
