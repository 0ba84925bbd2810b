/** Input that an engine has accepted: the reply comes after it is stored, and an engine that ends in order leaves it to the next one. */
import { afterEach, describe, expect } from "vitest";
import type { EngineClient } from "../../src/protocol/client.js";
import { plainText, text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { openTransports } from "../../src/runtime/open-engine.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function place(store: string) {
  const slow = reply().delay(60_000).text("Late.");
  const mock = await startMockModel({ script: script([slow, reply().text("Fine.").times(100)]) });
  open.push(mock);
  const base = await temporaryFolder();
  const start = async (): Promise<HostedEngine> => {
    const hosted = await hostEngine(base, mock, { home: `${base}/home`, env: { OXBOW_STORE: store } });
    open.push(hosted.engine);
    return hosted;
  };
  return { mock, start };
}

async function opened(client: EngineClient, resume?: SessionId): Promise<SessionId> {
  const made = await client.send("CreateSession", resume === undefined ? {} : { resume });
  if (!made.ok || made.session === undefined) throw new Error(JSON.stringify(made));
  return made.session;
}

async function stored({ sessions }: HostedEngine, session: SessionId): Promise<readonly Envelope[]> {
  const store = await sessions.open();
  const events: Envelope[] = [];
  for await (const event of store?.events(session) ?? []) events.push(event);
  return events;
}

describe.each(["sqlite", "files"])("accepted input in the store %s", (store) => {
  for (const [ends, kept] of [
    ["the engine ends in order", ["first.", "second."]],
    ["a person ends the session", []],
  ] as const) {
    verifies(
      ["L10", "S6"],
      `${kept.length === 0 ? "is dropped" : "waits for the next opening"} if ${ends}`,
      async () => {
        const { mock, start } = await place(store);
        const one = await start();
        const client = one.connectPerson();
        const session = await opened(client);
        const send = (words: string, queue = false) =>
          client.send("SendInput", { content: [text(words)], ...(queue && { queue }) }, session);
        expect(await send("slow")).toMatchObject({ ok: true });
        await mock.waitForRequest(1);
        for (const words of ["first.", "second."])
          expect(await send(words, true)).toMatchObject({ ok: true, value: { state: "queue" } });
        if (kept.length === 0) await client.send("EndSession", {}, session);
        await one.engine.close();

        const two = await start();
        const later = two.connectPerson();
        const events: Envelope[] = [];
        const ended = new Promise<void>((resolve) => {
          later.subscribe((event) => {
            events.push(event);
            if (event.kind === "TurnEnded") resolve();
          });
        });
        expect(await opened(later, session)).toBe(session);
        expect(await later.query("GetStatus", {}, session)).toMatchObject({ answer: { waiting: kept.length } });
        await later.send("SendInput", { content: [text("third.")] }, session);
        await ended;
        const started = events.flatMap((event) => (event.kind === "TurnStarted" ? [event.payload] : []));
        expect(started.map(({ input }) => input.map((part) => plainText([part])))).toEqual([[...kept, "third."]]);
        const log = await stored(two, session);
        expect(log.filter(({ kind }) => kind === "InputDropped")).toHaveLength(kept.length === 0 ? 1 : 0);
      },
    );
  }

  verifies(["C1", "E4"], "of a plugin's transport is stored when the plugin gets the reply", async () => {
    const { start } = await place(store);
    const hosted = await start();
    let client: EngineClient | undefined;
    const transport = {
      name: "own",
      start: ({ connect }: { connect(): EngineClient }) => {
        client = connect();
        return { close: () => {} };
      },
    };
    const plugin = {
      registrations: { transports: [transport] },
      guard: { wait: (_where: string, action: () => unknown) => action() },
    };
    const started = await openTransports(
      { plugins: [plugin as never] },
      { host: hosted.engine.host, newClientId: hosted.engine.newClientId },
    );
    if (started !== undefined) open.push(started);
    if (client === undefined) throw new Error("the transport did not start");
    const session = await opened(client);
    expect(await client.send("SendInput", { content: [text("slow")] }, session)).toMatchObject({
      value: { state: "started" },
    });
    expect((await stored(hosted, session)).map(({ kind }) => kind)).toContain("TurnStarted");
  });
});
