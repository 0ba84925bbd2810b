/**
 * The frames of the protocol as lines of JSON on standard input and output. It ends with the input.
 *
 * The program that started this one is the client: it has the rights of this user already. `OXBOW_TOKEN` narrows them, and a command of a
 * model is an agent in any case.
 */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { identityOf } from "../../control/auth/identity.js";
import type { Tokens } from "../../control/auth/tokens.js";
import { serviceTokens } from "../../control/auth/tokens.js";
import { FrameConnection } from "../../control/transports/frames.js";
import { MOST_BODY_BYTES, parseObject } from "../../control/transports/http/read-body.js";
import { failure } from "../../protocol/errors.js";
import type { Engine } from "../../runtime/open-engine.js";
import { isInsideEngine } from "../../system/model-ancestors.js";
import { pipedLines } from "../piped-lines.js";

const MOST_WAITING = 64 * 1024 * 1024;

export async function serveStdio(
  engine: Engine,
  { variables, tokens }: { readonly variables: Variables; readonly tokens: Tokens | undefined },
): Promise<void> {
  const { host } = engine;
  host.addFeature("stdio");
  const client = host.connect({
    id: engine.newClientId(),
    ...(await rightsOf(variables, { engine, tokens })),
    transport: "stdio",
    handshake: "required",
    ready: () => isRead(),
  });
  const connection = new FrameConnection({ client, write });
  process.stdout.on("error", () => process.stdin.destroy());
  try {
    for await (const line of pipedLines(process.stdin, MOST_BODY_BYTES)) {
      const read = line === undefined ? tooLong() : await parseObject(line);
      if ("failure" in read) connection.refuse(read.failure);
      else void connection.take(read.body);
    }
    await connection.settled();
  } finally {
    connection.close();
  }
}

/** A reader that stops reading ends the program, before the memory is full of what it should read. */
function write(text: string): void {
  process.stdout.write(`${text}\n`);
  if (process.stdout.writableLength > MOST_WAITING) process.stdin.destroy();
}

/** Stored events wait for the reader. */
async function isRead(): Promise<boolean> {
  const { stdout } = process;
  if (stdout.writableNeedDrain) {
    await new Promise<void>((resolve) => stdout.once("drain", resolve).once("close", resolve));
  }
  return stdout.writable;
}

async function rightsOf(variables: Variables, place: { readonly engine: Engine; readonly tokens: Tokens | undefined }) {
  const { OXBOW_TOKEN: token } = variables;
  if (token === undefined || token === "") {
    return isInsideEngine(variables)
      ? ({ identity: "agent", canAnswer: false } as const)
      : ({ identity: "human", canAnswer: true } as const);
  }
  const checked = (place.tokens ?? (await serviceTokens(variables, place.engine.clock))).check(token);
  if ("failure" in checked) throw new UsageError(`OXBOW_TOKEN: ${checked.failure.message}`);
  const rights = identityOf(checked.claims);
  return isInsideEngine(variables) ? { ...rights, identity: "agent" as const, canAnswer: false } : rights;
}

function tooLong() {
  return { failure: failure("TooLarge", { what: "The line", limit: `${MOST_BODY_BYTES} bytes` }) };
}
