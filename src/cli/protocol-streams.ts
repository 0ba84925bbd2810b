/**
 * Standard input and output for a protocol of another program.
 *
 * Only messages of the protocol go to standard output: whatever else this process writes there goes to standard error, so that a stray
 * line cannot break the protocol.
 */
import { Readable, Writable } from "node:stream";
import { UsageError } from "../base/usage-error.js";

export interface ProtocolStreams {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
  /** The same output, for libraries that write to streams of Node. */
  readonly nodeOutput: Writable;
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
  const nodeOutput = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => void write(chunk, (error) => done(error)),
  });
  // The reader is gone: the input ends as well, and that ends the program.
  nodeOutput.on("error", () => {});
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  return { input, output: Writable.toWeb(nodeOutput) as WritableStream<Uint8Array>, nodeOutput };
}
