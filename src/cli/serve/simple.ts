/** The simple surface on a new session of the engine: `GET /events`, `POST /prompt`, `POST /cancel`. */
import { UsageError } from "../../base/usage-error.js";
import { parseListen } from "../../control/transports/http/listen.js";
import { connectInProcess } from "../../control/transports/inproc.js";
import { SimpleHarness } from "../../control/transports/simple-harness.js";
import { createServer, type ListeningServer } from "../../control/transports/simple-http.js";
import type { Prepared } from "../run/prepare.js";

export async function serveSimple(
  { engine, client: own }: Pick<Prepared, "engine" | "client">,
  { place, origins }: { readonly place: string; readonly origins: readonly string[] },
): Promise<ListeningServer> {
  const address = parseListen(place);
  if (address === undefined)
    throw new UsageError(`--simple takes HOST:PORT or a port, such as 127.0.0.1:8080, not "${place}".`);
  // The surface has no way to answer a question.
  const client = connectInProcess(engine.host, { id: engine.newClientId(), identity: own.identity, canAnswer: false });
  const reply = await client.send("CreateSession", {});
  if (!reply.ok) throw new Error(reply.failure.message);
  if (reply.session === undefined) throw new Error("Oxbow could not open the session");
  return createServer(new SimpleHarness(client, reply.session), { origins }).listen(address);
}
