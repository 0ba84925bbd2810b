/** The simple surface on a new session of the engine: `GET /events`, `POST /prompt`, `POST /cancel`. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import { writePrivateFile } from "../../control/auth/private-file.js";
import { parseListen } from "../../control/transports/http/listen.js";
import { SimpleHarness } from "../../control/transports/simple-harness.js";
import { createServer, type ListeningServer } from "../../control/transports/simple-http.js";
import type { JsonObject } from "../../protocol/json.js";
import type { Prepared } from "../run/prepare.js";

export interface SimplePlace {
  /** `HOST:PORT`, or a port. */
  readonly place: string;
  readonly origins: readonly string[];
  /** The folder for the file of the token. */
  readonly state: string;
  readonly log: (message: string, fields: JsonObject) => void;
}

export interface SimpleService extends Pick<ListeningServer, "url" | "close"> {
  /** Only the user can read it. It goes with the server. */
  readonly tokenFile: string;
}

export async function serveSimple(
  { engine, client: own }: Pick<Prepared, "engine" | "client">,
  { place, origins, state, log }: SimplePlace,
): Promise<SimpleService> {
  const address = parseListen(place);
  if (address === undefined)
    throw new UsageError(`--simple takes HOST:PORT or a port, such as 127.0.0.1:8080, not "${place}".`);
  // The surface has no way to answer a question.
  const about = { identity: own.identity, canAnswer: false, transport: "simple" };
  const client = engine.host.connect({ id: engine.newClientId(), ...about });
  const reply = await client.send("CreateSession", {});
  if (!reply.ok) throw new Error(reply.failure.message);
  if (reply.session === undefined) throw new Error("Oxbow could not open the session");
  const server = await createServer(new SimpleHarness(client, reply.session), { origins, log }).listen(address);
  // A printed token would stay in the journal of a service and in the scroll-back of a terminal.
  const tokenFile = join(state, `simple-${new URL(server.url).port || "80"}.token`);
  await writePrivateFile(tokenFile, `${server.token}\n`);
  const close = async () => {
    await rm(tokenFile, { force: true });
    await server.close();
  };
  return { url: server.url, tokenFile, close };
}
