import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { handshake } from "../../protocol/handshake.js";
import type { ClientId, SessionId } from "../../protocol/ids.js";
import type { WebSocketEvent, WebSocketLike } from "./options.js";
import { WebSocketClient } from "./web-socket-client.js";

const SESSION = "sess_01M7HAQWS0RSQZMZ702Z032C8F" as SessionId;
const CLIENT = { id: "cli_01M7HAQWS0RSQZMZ702Z032C8F" as ClientId, identity: "human" } as const;

interface Asked {
  readonly frame: string;
  readonly id: number;
  readonly body: { readonly kind?: string };
}

/** An engine behind connections that the test ends. The test says when it answers. It refuses a second attach of a connection. */
class FakeEngine {
  readonly asked: Asked[] = [];
  attached = false;
  #socket: { tell(kind: string, event: WebSocketEvent): void } | undefined;
  #look = () => {};

  readonly WebSocket = (() => {
    const engine = this;
    return class implements WebSocketLike {
      readonly #listeners = new Map<string, (event: WebSocketEvent) => void>();

      constructor() {
        engine.#socket = this;
        setImmediate(() => this.tell("open", {}));
      }

      addEventListener(kind: string, listener: (event: WebSocketEvent) => void): void {
        this.#listeners.set(kind, listener);
      }

      tell(kind: string, event: WebSocketEvent): void {
        this.#listeners.get(kind)?.(event);
      }

      send(text: string): void {
        engine.#take(JSON.parse(text) as Asked);
      }

      close(): void {}
    };
  })();

  drop(): void {
    this.attached = false;
    this.#socket?.tell("close", { reason: "gone" });
  }

  /** The next question of this kind. */
  async next(kind: string): Promise<Asked> {
    for (;;) {
      const at = this.asked.findIndex(({ body }) => body.kind === kind);
      if (at !== -1) return this.asked.splice(at, 1)[0] as Asked;
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }

  attach(asked: Asked): void {
    const refusal = failure("InvalidInput", { detail: "This client is already attached." });
    this.answer(asked, this.attached ? refusal : undefined);
    this.attached = true;
  }

  answer({ id }: Asked, problem?: Failure): void {
    const body = problem === undefined ? { ok: true } : { ok: false, failure: problem };
    this.#tell({ frame: "reply", id, body });
  }

  event(id: number, kind: string): void {
    const envelope = { id, kind, session: SESSION, originator: CLIENT.id, ts: "t", payload: {} };
    this.#tell({ frame: "event", body: envelope });
  }

  #tell(frame: object): void {
    this.#socket?.tell("message", { data: JSON.stringify(frame) });
  }

  #take(asked: Asked): void {
    if (asked.frame === "handshake") this.#tell({ frame: "handshake", body: handshake([], CLIENT) });
    else this.asked.push(asked);
    this.#look();
  }
}

/** A client that follows a session whose engine is about to end. */
async function following() {
  const engine = new FakeEngine();
  const client = await WebSocketClient.connect({
    url: "ws://127.0.0.1:1",
    token: "t",
    WebSocket: engine.WebSocket,
    random: () => 0,
  });
  const detached: string[] = [];
  client.onDetached((session, reason) => detached.push(`${session} ${reason?.reason}`));
  const first = client.send("AttachSession", { after: 0 }, SESSION);
  engine.attach(await engine.next("AttachSession"));
  expect(await first).toEqual({ ok: true });
  engine.event(7, "TurnEnded");
  return { engine, client, detached };
}

describe("an attach while the client attaches again by itself", () => {
  verifies(["U5", "C4"], "joins that one, and the session stays", async () => {
    const { engine, client, detached } = await following();
    engine.drop();
    const asked = client.send("AttachSession", { after: 7 }, SESSION);
    const own = await engine.next("AttachSession");
    expect(own.body).toMatchObject({ payload: { after: 7, after_ts: "t" } });
    engine.attach(own);
    expect(await asked).toEqual({ ok: true });
    expect(engine.asked).toEqual([]);
    engine.drop();
    engine.attach(await engine.next("AttachSession"));
    expect(detached).toEqual([]);
    await client.close();
  });

  verifies(
    ["U5", "C4"],
    "comes after it if the session has ended meanwhile, and the session is followed again",
    async () => {
      const { engine, client, detached } = await following();
      engine.event(8, "SessionEnded");
      await engine.next("GetStatus");
      engine.drop();
      const asked = client.send("AttachSession", { after: 8 }, SESSION);
      engine.answer(await engine.next("GetStatus"), failure("SessionNotFound", { session: SESSION }));
      engine.attach(await engine.next("AttachSession"));
      expect(await asked).toEqual({ ok: true });
      expect(detached).toEqual([`${SESSION} undefined`]);
      engine.event(9, "TurnStarted");
      engine.drop();
      const again = await engine.next("AttachSession");
      expect(again.body).toMatchObject({ payload: { after: 9 } });
      expect(engine.asked).toEqual([]);
      engine.attach(again);
      await client.close();
    },
  );
});
