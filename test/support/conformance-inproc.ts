/** The conformance suite on an engine in this process: as a transport on the wire, without the wire. */
import type { ClientOptions } from "../../src/control/connected-client.js";
import type { Identity } from "../../src/protocol/client.js";
import type { JsonObject } from "../../src/protocol/json.js";
import type { Engine } from "../../src/runtime/open-engine.js";
import type {
  ConformanceConnection,
  ConformanceReply,
  ConformanceTransport,
} from "../../src/testkit/conformance/protocol/transport.js";

export function inProcessTransport(engine: Engine): ConformanceTransport {
  return {
    name: "inproc",
    abilities: new Set(["agent", "many"]),
    connect: async (identity) => connect(engine, identity),
    close: async () => {},
  };
}

function connect(engine: Engine, identity: Identity): ConformanceConnection {
  const options: ClientOptions = {
    ...{ id: engine.newClientId(), identity, canAnswer: identity === "human" },
    ...{ transport: "test", attachOnCreate: false, handshake: "required" },
  };
  const client = engine.host.connect(options);
  const readers = new Map<string, () => void>();
  return {
    handshake: async (hello) => plain(client.handshake(hello as never)),
    command: async ({ kind, payload, session }) =>
      plain(await client.send(kind as never, payload as never, session as never)),
    query: async ({ kind, request, session }) =>
      plain(await client.query(kind as never, request as never, session as never)),
    follow: async ({ session, after, at: afterTs, onEvent }) => {
      const deliver = (event: object) => onEvent(plain(event));
      const followed = await client.follow(session as never, { after, afterTs, deliver });
      if (!followed.ok) return plain(followed);
      readers.set(session, followed.stop);
      return { ok: true };
    },
    unfollow: async (session) => readers.get(session)?.(),
    drop: async () => client.close(),
  };
}

/** As it is after a wire. */
function plain(value: object): ConformanceReply & JsonObject {
  return JSON.parse(JSON.stringify(value));
}
