/** `oxbow attach URL`: a conversation with an engine that is reached by its address, perhaps on another machine. */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { ConnectionError } from "../../clients/sdk/connection-error.js";
import { connect } from "../../clients/sdk-node/index.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { EXIT, exitCodeOfFailure } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { fitsTerminalClient } from "../run/converse.js";
import { personPresent, processTerminal } from "../terminal-io.js";
import { refuseFlagsOfEngine } from "./attach-flags.js";
import { type AttachPlace, chooseByFlags } from "./attached-talk.js";
import { type Choice, converseAttached, pickByNumber } from "./converse.js";

const SOCKET = "unix:";

/** `address`: `http://HOST:PORT`, `https://…` or `unix:/PATH`. */
export async function converseAt(address: string, flags: ParsedFlags, variables: Variables): Promise<number> {
  refuseFlagsOfEngine(flags);
  const token = variables.OXBOW_TOKEN;
  if (!token) {
    throw new UsageError(
      `'oxbow attach ${address}' needs a token of that engine in OXBOW_TOKEN. 'oxbow token' makes one there.`,
    );
  }
  const how = { token, name: `terminal, process ${process.pid}`, canAnswer: personPresent() };
  const where = address.startsWith(SOCKET) ? { socket: address.slice(SOCKET.length) } : { url: address };
  try {
    const { client } = await connect({ ...how, ...where });
    const terminal = processTerminal(variables, { verbose: flags.has("verbose") });
    const setMode: AttachPlace["setMode"] = (mode, session) => client.send("SetMode", { mode }, session);
    const place = {
      client,
      flags,
      variables,
      terminal,
      setMode,
      isElsewhere: true,
      lost: new AbortController().signal,
    };
    const end = await converseAttached(place, await choiceOf(place), { media: [] });
    await client.close();
    return "exit" in end ? end.exit : EXIT.failed;
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    printMessage(error.message);
    return error.failure === undefined ? EXIT.failed : exitCodeOfFailure(error.failure);
  }
}

/** The session that the flags name, or one from the list. */
async function choiceOf(place: AttachPlace): Promise<Choice> {
  const { client, flags, variables } = place;
  const session = await chooseByFlags(place);
  if (session !== undefined) return { kind: "attach", session };
  return (await fitsTerminalClient({ flags, media: [], variables })) ? { kind: "pick" } : pickByNumber(client);
}
