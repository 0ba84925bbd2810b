/**
 * Standard input and output for a protocol of another program.
 *
 * Only messages of the protocol go to standard output: whatever else this process writes there goes to standard error, so that a stray
 * line cannot break the protocol.
 *
 * The library of the protocol gets each message as one piece, after a look at it: what it would read for long is refused before, because other
 * clients of this engine would wait.
 */
import { Readable, Writable } from "node:stream";
import { UsageError } from "../base/usage-error.js";
import { jsonProblem } from "../control/transports/http/read-body.js";
import { pipedLines } from "./piped-lines.js";

export interface ProtocolStreams {
  readonly input: Readable;
  readonly output: Writable;
}

export interface ProtocolProgram {
  readonly command: string;
  /** The program that starts the command, for the message to a person who types it. */
  readonly starter: string;
  readonly mostMessageBytes: number;
}

export function takeProtocolStreams({ command, starter, mostMessageBytes }: ProtocolProgram): ProtocolStreams {
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
  const refuse = (message: string) => {
    const error = { jsonrpc: "2.0", id: null, error: { code: INVALID_REQUEST, message } };
    output.write(`${JSON.stringify(error)}\n`);
  };
  return { input: Readable.from(checked(process.stdin, { mostMessageBytes, refuse }), { objectMode: false }), output };
}

/** Of JSON-RPC. */
const INVALID_REQUEST = -32600;
const END = Buffer.from("\n");

/** Exported for its test. */
export async function* checked(
  input: AsyncIterable<Buffer | string>,
  { mostMessageBytes, refuse }: { readonly mostMessageBytes: number; readonly refuse: (message: string) => void },
): AsyncGenerator<Buffer> {
  for await (const line of pipedLines(input, mostMessageBytes)) {
    if (line === undefined) {
      refuse(`A message has at most ${mostMessageBytes} bytes.`);
      continue;
    }
    const problem = await jsonProblem(line);
    if (problem === undefined) yield Buffer.concat([line, END]);
    else refuse(problem.message);
  }
}

/** The same streams, for libraries that take those of the web. */
export function webStreams({ input, output }: ProtocolStreams) {
  return {
    input: Readable.toWeb(input) as ReadableStream<Uint8Array>,
    output: Writable.toWeb(output) as WritableStream<Uint8Array>,
  };
}
