import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { CommandReply } from "../../protocol/client.js";
import type { Envelope } from "../../protocol/envelope.js";
import { failure } from "../../protocol/errors.js";
import { promptTurn } from "./turn.js";
import type { WireClient } from "./wire-client.js";

/** A connection whose commands are answered with `reply`. */
function place(reply: Promise<CommandReply>) {
  let deliver: (event: Envelope) => void = () => {};
  const client = {
    id: "cli_1",
    send: () => reply,
    subscribe: (listener: typeof deliver) => {
      deliver = listener;
      return () => {};
    },
    onDetached: () => () => {},
  } as unknown as WireClient;
  const event = (kind: string, payload: object) =>
    deliver({ session: "sess_1", originator: "cli_1", kind, payload } as unknown as Envelope);
  return { client, event };
}

describe("a prompt", () => {
  verifies(["U5"], "ends with its turn, also when the turn is faster than the reply", async () => {
    const { client, event } = place(new Promise(() => {}));
    const prompted = promptTurn({ client, session: "sess_1" }, "go", {});
    event("TurnStarted", { turn: "turn_1", input: [] });
    event("TurnEnded", { turn: "turn_1", text: "Done." });
    expect(await prompted).toMatchObject({ text: "Done." });
  });

  verifies(["U5"], "is refused with the reason of the engine", async () => {
    const { client } = place(Promise.resolve({ ok: false, failure: failure("SessionNotSaved", { detail: "full" }) }));
    await expect(promptTurn({ client, session: "sess_1" }, "go", {})).rejects.toMatchObject({
      failure: { reason: "SessionNotSaved" },
    });
  });
});
