/** The handshake over HTTP, and the headers of every request. */
import { type Handshake, PROTOCOL_VERSION, versionProblem } from "../../protocol/handshake.js";
import type { ClientId } from "../../protocol/ids.js";
import { ConnectionError } from "./connection-error.js";
import { failureIn, unreachable } from "./event-stream.js";
import type { Exchange, ExchangeAnswer } from "./exchange.js";
import type { ConnectOptions } from "./options.js";

export interface HttpOptions extends Omit<ConnectOptions, "url" | "fetch" | "WebSocket"> {
  readonly exchange: Exchange;
  /** The address of the engine, for messages. */
  readonly place: string;
}

/** A handshake that names the client. */
export type Greeting = Handshake & { readonly client: ClientId };

export async function headersOf({ token }: HttpOptions): Promise<Record<string, string>> {
  return { "x-oxbow-token": typeof token === "string" ? token : await token() };
}

/** `client`: who this client was before the engine started again. */
export async function shakeHands(options: HttpOptions, client?: ClientId): Promise<Greeting> {
  const { exchange, name, canAnswer, identity, signal, place } = options;
  const about = new URLSearchParams({
    ...(name !== undefined && { name }),
    ...(canAnswer === false && { can_answer: "false" }),
    ...(identity !== undefined && { identity }),
  }).toString();
  const headers = { ...(await headersOf(options)), ...(client !== undefined && { "x-oxbow-client": client }) };
  let answer: ExchangeAnswer;
  let text: string;
  try {
    const path = `/v1/handshake${about === "" ? "" : `?${about}`}`;
    answer = await exchange({ method: "GET", path, headers, ...(signal && { signal }) });
    text = await answer.text();
  } catch (error) {
    throw new ConnectionError(unreachable(place, error instanceof Error ? error.message : String(error)));
  }
  if (answer.status !== 200) {
    throw new ConnectionError(failureIn(text) ?? unreachable(place, `it answers with status ${answer.status}`));
  }
  const handshake = readHandshake(text);
  if (typeof handshake?.protocol_version !== "string" || handshake.client === undefined) {
    throw new ConnectionError(unreachable(place, "it is not an Oxbow engine"));
  }
  const problem = versionProblem(PROTOCOL_VERSION, handshake.protocol_version);
  if (problem !== undefined) throw new ConnectionError(problem);
  return { ...handshake, client: handshake.client };
}

function readHandshake(text: string): Handshake | undefined {
  try {
    return JSON.parse(text) as Handshake;
  } catch {
    return undefined;
  }
}
