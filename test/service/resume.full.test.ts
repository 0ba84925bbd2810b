/**
 * Clients that others wrote follow a turn, lose the connection at random places and resume: an EventSource, a WebSocket client and curl.
 * Each event arrives once, in order, and is the one of the log. OXBOW_TEST_THOROUGH=1: a thousand drops for each.
 */

import { spawn } from "node:child_process";
import { EventSource } from "eventsource";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { WebSocket } from "ws";
import type { Envelope } from "../../src/protocol/envelope.js";
import { EVENT_KINDS } from "../../src/protocol/event-fields.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { reply, script } from "../../src/testkit/index.js";
import { type Need, skipWithout } from "../support/needs.js";
import { type Served, serve } from "../support/served-engine.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const DROPS = 4;
const ROUNDS = times(1, 250);
const CALLS = 6;

let served: Served;
beforeAll(async () => {
  const calls = Array.from({ length: CALLS }, () => reply().text("Looking. ").delay(3).tool("ls", {}));
  const turn = [...calls, reply().text("All ").delay(15).text("done.")];
  served = await serve({ script: script(Array.from({ length: 4 * ROUNDS }, () => turn).flat()) });
});
afterAll(() => served.close());

/** Follows a session from its beginning to the end of its turn, with `DROPS` drops; returns what arrived. */
type Follow = (session: SessionId, cutAt: () => number) => Promise<readonly Envelope[]>;

/** Repeats one connection until the turn has ended. `connect` returns when the connection is gone. */
async function followWith(
  connect: (after: number, take: (event: Envelope) => "more" | "enough") => Promise<void>,
  drops: () => number,
): Promise<readonly Envelope[]> {
  const events: Envelope[] = [];
  for (let left = DROPS; events.at(-1)?.kind !== "TurnEnded"; left--) {
    let until = left > 0 ? drops() : Number.POSITIVE_INFINITY;
    await connect(events.at(-1)?.id ?? 0, (event) => {
      events.push(event);
      until -= 1;
      return until <= 0 || event.kind === "TurnEnded" ? "enough" : "more";
    });
  }
  return events;
}

/** The connection breaks in the middle of its bytes, and the client connects again by itself. With plain ids, or with the time in them. */
const eventSource =
  (ids: "plain" | "timed"): Follow =>
  (session, cutAt) => {
    let left = DROPS;
    const dropping = async (url: string | URL, init: RequestInit) => {
      const headers = { ...(init.headers as Record<string, string>), "X-Oxbow-Token": served.token };
      const response = await fetch(url, { ...init, headers });
      const reader = response.body?.getReader();
      let budget = left-- > 0 ? cutAt() * 150 : Number.POSITIVE_INFINITY;
      const body = new ReadableStream<Uint8Array>({
        // The client waits three seconds before it connects again, unless the stream says otherwise.
        start: (controller) => controller.enqueue(new TextEncoder().encode("retry: 1\n\n")),
        pull: async (controller) => {
          const { done, value } = (await reader?.read().catch(() => undefined)) ?? { done: true };
          if (done || value === undefined) return controller.close();
          controller.enqueue(value.subarray(0, Math.min(value.length, budget)));
          budget -= value.length;
          if (budget > 0) return;
          await reader?.cancel();
          controller.close();
        },
        cancel: () => reader?.cancel(),
      });
      return new Response(body, { status: response.status, headers: response.headers });
    };
    return new Promise((resolve) => {
      const events: Envelope[] = [];
      const source = new EventSource(`${served.url}/v1/sessions/${session}/events?after=0&ids=${ids}`, {
        fetch: dropping,
      });
      const take = ({ data, lastEventId }: { data: string; lastEventId: string }) => {
        const event = JSON.parse(data) as Envelope;
        expect(lastEventId).toBe(ids === "timed" ? `${event.id}@${event.ts}` : String(event.id));
        events.push(event);
        if (event.kind !== "TurnEnded") return;
        source.close();
        resolve(events);
      };
      for (const kind of EVENT_KINDS) source.addEventListener(kind, take);
    });
  };

const webSocket: Follow = (session, cutAt) =>
  followWith(
    (after, take) =>
      new Promise((resolve) => {
        const url = `${served.url.replace("http", "ws")}/v1/ws?session=${session}&lastEventId=${after}`;
        const socket = new WebSocket(url, { headers: { "X-Oxbow-Token": served.token } });
        socket.on("open", () => socket.send('{"frame":"handshake","body":{"protocol_version":"0.1.0"}}'));
        let isOver = false;
        socket.on("message", (data) => {
          const { frame, body } = JSON.parse(String(data));
          if (isOver || frame !== "event" || take(body) === "more") return;
          isOver = true;
          socket.terminate();
        });
        socket.on("error", () => {});
        socket.on("close", () => resolve());
      }),
    cutAt,
  );

const curl: Follow = (session, cutAt) =>
  followWith(
    (after, take) =>
      new Promise((resolve) => {
        const address = ["--unix-socket", served.socket, `http://oxbow/v1/sessions/${session}/events`];
        const headers = ["-H", `X-Oxbow-Token: ${served.token}`, "-H", `Last-Event-ID: ${after}`];
        const child = spawn("curl", ["-sN", ...headers, ...address], { stdio: ["ignore", "pipe", "ignore"] });
        let rest = "";
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          const frames = `${rest}${text}`.split("\n\n");
          rest = frames.pop() ?? "";
          for (const frame of frames) {
            const data = /^data: (.*)$/m.exec(frame)?.[1];
            if (child.killed || data === undefined) continue;
            if (take(JSON.parse(data)) === "enough") child.kill("SIGKILL");
          }
        });
        child.on("close", () => resolve());
      }),
    cutAt,
  );

describe("a turn with drops", () => {
  const clients: readonly (readonly [string, Follow, ...Need[]])[] = [
    ["an EventSource", eventSource("plain")],
    ["an EventSource with the time in its ids", eventSource("timed")],
    ["a WebSocket client", webSocket],
    ["curl", curl, "curl"],
  ];
  for (const [name, follow, ...needed] of clients) {
    verifies(
      ["C4", "C5"],
      `reaches ${name} whole: nothing lost, nothing twice`,
      async (context) => {
        skipWithout(context, ...needed);
        for (let round = 0; round < ROUNDS; round++) {
          const session = await served.newSession();
          const followed = follow(session, () => 1 + Math.floor(Math.random() * 8));
          await served.ask(`/v1/sessions/${session}/input`, { method: "POST", body: { content: "look" } });
          const events = await followed;
          const { json } = await served.ask(`/v1/sessions/${session}?events=1000`);
          expect(events).toEqual(json.events);
          expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
          expect(events.length).toBeGreaterThan(4 * CALLS);
        }
      },
      ROUNDS * 15_000,
    );
  }
});
