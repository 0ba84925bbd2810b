/**
 * Standard input and output for a protocol of another program.
 *
 * Only messages of the protocol go to standard output: whatever else this process writes there goes to standard error, so that a stray
 * line cannot break the protocol.
 */
import { Readable, Writable } from "node:stream";
import { UsageError } from "../base/usage-error.js";

export interface ProtocolStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** `starter`: who starts the command, for the message to a person who types it. */
export function takeProtocolStreams(command: string, starter: string): ProtocolStreams {
  if (process.stdin.isTTY) {
    throw new UsageError(
      `'${command}' speaks a protocol: ${starter} starts it, not a person in a terminal. See '${command} --help'.`,
    );
  }
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const output = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => void write(chunk, (error) => done(error)),
  });
  // The reader is gone: the input ends as well, and that ends the program.
  output.on("error", () => {});
  return { input: process.stdin, output };
}

/** The same streams, for libraries that take those of the web. */
export function webStreams({ input, output }: ProtocolStreams) {
  return {
    input: Readable.toWeb(input) as ReadableStream<Uint8Array>,
    output: Writable.toWeb(output) as WritableStream<Uint8Array>,
  };
}
