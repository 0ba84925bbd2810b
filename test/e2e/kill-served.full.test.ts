/**
 * The engine is killed or stopped and started again, with both stores. Accepted input is there afterwards, and clients that resume after their
 * last event have what the log has. OXBOW_KILLS and OXBOW_RESUMES choose how many, for each store.
 */
import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { connect as connectSdk, Session, type WebSocketConstructor } from "../../src/clients/sdk-node/index.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { isJsonObject, type JsonObject } from "../../src/protocol/json.js";
import type { ConformanceConnection } from "../../src/testkit/conformance/protocol/transport.js";
import { openTransport } from "../../src/testkit/conformance/protocol/transports/open-transport.js";
import { parseScript, startMockModel } from "../../src/testkit/index.js";
import { oxbowProcess, providerEnvironment, temporaryFolder } from "../support/program.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const STORES = ["sqlite", "files"] as const;
const KILLS = Number(process.env.OXBOW_KILLS ?? times(2, 200));
const RESUMES = Number(process.env.OXBOW_RESUMES ?? times(8, 100));

/** Pieces that end within words, and words that make the log wait for the end of the line. */
const SCRIPT = parseScript(`reply times=any when "slowly"
  text size=4 every=4ms repeat=12: one two three four five six seven, and the password of the session.
  text size=3 every=4ms repeat=12 "eight nine ten\\nauth token next line "
  flush
reply times=any
  text size=5: Fine, that is done, whatever it was.
`);

/** Describes what a client has of a session, after all that it got. */
class View {
  events: JsonObject[] = [];
  #look = () => {};

  take(event: JsonObject): void {
    if (event.kind === "StreamGap") this.events = this.events.filter(({ id }) => Number(id) <= Number(event.id));
    // A message for this client alone has the id of the event before it, and is not in the log.
    else if (event.kind !== "Notice" || Number(event.id) > (this.last?.after ?? 0)) this.events.push(event);
    this.#look();
  }

  get last(): { readonly after: number; readonly at: string } | undefined {
    const last = this.events.at(-1);
    return last && { after: Number(last.id), at: String(last.ts) };
  }

  until(isThere: (events: readonly JsonObject[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => void (isThere(this.events) && resolve());
      this.#look();
    });
  }
}

interface Place {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly state: string;
  /** The same after every start. */
  readonly port: number;
}

async function place(store: (typeof STORES)[number]): Promise<Place> {
  const mock = await startMockModel({ script: SCRIPT });
  onTestFinished(() => mock.close());
  const home = await temporaryFolder();
  const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home, OXBOW_STORE: store };
  return { env, cwd: await temporaryFolder(), state: join(home, "state"), port: await freePort() };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}

type Wire = "unix" | "ws";

async function start({ env, cwd, state, port }: Place) {
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    ended = oxbowProcess(["serve", "--provider", "anthropic", "--listen", `127.0.0.1:${port}`], {
      ...{ env, cwd },
      onStart: (started) => {
        child = started;
      },
      onOutput: ({ stdout }) => void (stdout.split("listening on ").length > 2 && resolve()),
    }).then(({ stderr }) => reject(new Error(stderr)));
  });
  const token = await tokenOf(state);
  const address = { unix: `unix:${join(state, "control.sock")}`, ws: `ws://127.0.0.1:${port}` };
  const connect = async (wire: Wire = "unix") => {
    const transport = await openTransport(address[wire], { tokens: { human: token }, environment: {} });
    const connection = await transport.connect("human");
    await connection.handshake({ protocol_version: "0.2.0" });
    return connection;
  };
  const kill = (signal: NodeJS.Signals) => child?.kill(signal);
  const stop = async (signal: NodeJS.Signals) => {
    ended.catch(() => {});
    kill(signal);
    await ended.catch(() => {});
  };
  onTestFinished(() => void kill("SIGKILL"));
  return { connect, kill, stop };
}

async function tokenOf(state: string): Promise<string> {
  return (await readFile(join(state, "control.token"), "utf8")).trim();
}

function send(connection: ConformanceConnection, session: string, text: string) {
  const payload = { content: [{ type: "text", text }], queue: true };
  return connection.command({ kind: "SendInput", session, payload });
}

async function logOf(connection: ConformanceConnection, session: string): Promise<readonly JsonObject[]> {
  const stored = await connection.query({ kind: "ListEvents", session, request: { before: 100_000, limit: 10_000 } });
  return isJsonObject(stored.answer) ? (stored.answer.events as readonly JsonObject[]) : [];
}

const textOf = ({ payload }: JsonObject) => (isJsonObject(payload) ? payload.text : undefined);
const exactly = (event: JsonObject) => `${event.id} ${event.kind} ${event.ts} ${textOf(event)}`;
const count = (events: readonly JsonObject[], wanted: string) => events.filter(({ kind }) => kind === wanted).length;

/** The turn with these words has ended. */
function isOver(events: readonly JsonObject[], words: string): boolean {
  const begin = events.findIndex(
    ({ kind, payload }) => kind === "TurnStarted" && JSON.stringify(payload).includes(`"${words}"`),
  );
  return begin !== -1 && count(events.slice(begin), "TurnEnded") > 0;
}

describe.each(STORES)("an engine with the store %s", (store) => {
  verifies(
    ["C3", "C9", "L10"],
    `loses no accepted input when it is killed right after it accepted one, ${KILLS} times`,
    async () => {
      const where = await place(store);
      let accepted: { readonly session: string; readonly words: string }[] = [];
      let total = 0;
      for (let round = 0; round <= KILLS; round++) {
        const engine = await start(where);
        const one = await engine.connect(round % 2 === 0 ? "unix" : "ws");
        for (const { session, words } of accepted) {
          expect(await one.follow({ session, after: 0, onEvent: () => {} }), words).toEqual({ ok: true });
          const holding = (await logOf(one, session)).filter((event) => JSON.stringify(event).includes(`"${words}"`));
          expect(holding.length, `${words} in ${session}`).toBeGreaterThan(0);
        }
        const old = accepted[0]?.session;
        total += accepted.length;
        if (round === KILLS) return void (await engine.stop("SIGTERM"));
        const sessions = [old, undefined, undefined].map(async (known) => {
          return known ?? String((await one.command({ kind: "CreateSession", payload: {} })).session);
        });
        accepted = [];
        const sent = (await Promise.all(sessions)).map(async (session, i) => {
          const words = `input ${round}-${i}, slowly.`;
          const reply = await send(one, session, words);
          engine.kill("SIGKILL");
          expect(reply).toMatchObject({ ok: true, value: { state: "started" } });
          accepted.push({ session, words });
        });
        await Promise.allSettled(sent);
        expect(accepted.length).toBeGreaterThan(0);
        await engine.stop("SIGKILL");
      }
      expect(total).toBeGreaterThanOrEqual(KILLS);
    },
    60_000 + KILLS * 3000,
  );

  verifies(
    ["C3", "C9", "C10", "L10"],
    `has the same log as its clients after it was killed or stopped, ${RESUMES} resumes`,
    async () => {
      const where = await place(store);
      let resumes = 0;
      for (let round = 0; resumes < RESUMES; round++) {
        const first = await start(where);
        const one = await first.connect();
        const session = String((await one.command({ kind: "CreateSession", payload: {} })).session);
        // They say the number of their last event, or also its time, over both wires.
        const views = (["unix", "ws"] as const).flatMap((wire) =>
          [false, true].map((tellsTime) => ({ wire, tellsTime, view: new View() })),
        );
        const follow = async (engine: typeof first) => {
          for (const { wire, tellsTime, view } of views) {
            const { after, at } = view.last ?? { after: 0, at: undefined };
            const position = { after, ...(tellsTime && at !== undefined && { at }) };
            const connection = await engine.connect(wire);
            const followed = await connection.follow({ session, ...position, onEvent: (event) => view.take(event) });
            expect(followed).toEqual({ ok: true });
            if (after > 0) resumes += 1;
          }
        };
        const token = () => tokenOf(where.state);
        const sdks = await Promise.all([
          connectSdk({ socket: join(where.state, "control.sock"), token }),
          connectSdk({
            ...{ url: `ws://127.0.0.1:${where.port}`, token },
            WebSocket: WebSocket as unknown as WebSocketConstructor,
          }),
        ]);
        const own = sdks.map((sdk) => ({ sdk, view: new View() }));
        for (const { sdk, view } of own)
          sdk.client.subscribe(
            (event) => void (event.session === session && view.take(event as unknown as JsonObject)),
          );
        /** A session that ended with its engine is followed again when its program asks for it; after a kill the SDK does that. */
        const attach = () =>
          Promise.all(
            own.map(({ sdk, view }) => {
              const { after, at } = view.last ?? { after: 0, at: undefined };
              return sdk.attach(session as SessionId, { after, ...(at !== undefined && { after_ts: at }) });
            }),
          );
        await attach();
        await follow(first);
        const all = [...views.map(({ view }) => view), ...own.map(({ view }) => view)];
        const [leading] = all as [View];
        await send(one, session, "slowly");
        await leading.until((events) => count(events, "TextDelta") > 0);
        expect(await send(one, session, "waits")).toMatchObject({ ok: true, value: { state: "queue" } });
        await leading.until((events) => events.length > 4 + ((round * 17) % 90) || isOver(events, "slowly"));
        const isEnded = round % 3 === 2;
        const detached = own.map(
          ({ sdk }) =>
            new Promise<void>((resolve) => {
              sdk.client.onDetached((other) => void (other === session && resolve()));
            }),
        );
        await first.stop(isEnded ? "SIGTERM" : "SIGKILL");

        // All but those of the SDK are away until it was killed again: their last ids may name other events then.
        const second = await start(where);
        if (isEnded) await Promise.all(detached).then(attach);
        const two = await second.connect();
        expect(await send(two, session, "slowly, again")).toMatchObject({ ok: true });
        const [following] = own as [(typeof own)[number]];
        const enough = following.view.events.length + 10 + ((round * 29) % 90);
        await following.view.until((events) => events.length > enough || isOver(events, "slowly, again"));
        await second.stop("SIGKILL");

        const last = await start(where);
        const three = await last.connect();
        await follow(last);
        expect(await send(three, session, "now")).toMatchObject({ ok: true });
        const turns = count(await logOf(three, session), "TurnStarted");
        await Promise.all(all.map((view) => view.until((events) => count(events, "TurnEnded") >= turns)));
        const prompted = await Promise.all(
          own.map(async ({ sdk }, i) => {
            let text = "";
            const result = await new Session(sdk.client, session as SessionId).prompt(`to the end ${i}`, {
              queue: true,
              onText: (piece) => {
                text += piece;
              },
            });
            return { text, result };
          }),
        );
        for (const { text, result } of prompted) expect(text).toBe(result.text);
        resumes += 2 * own.length;
        const log = await logOf(three, session);
        await Promise.all(all.map((view) => view.until((events) => events.length >= log.length)));
        const stored = log.map(exactly);
        for (const view of all) expect(view.events.map(exactly)).toEqual(stored);
        const started = log.filter(({ kind }) => kind === "TurnStarted").map(({ payload }) => JSON.stringify(payload));
        const times = (words: string) => started.filter((payload) => payload.includes(`"${words}"`)).length;
        // An engine that ends drops what waits, and says so; one that is killed does not.
        const dropped = count(log, "InputDropped");
        expect([times("waits") + dropped, times("slowly, again"), times("now")]).toEqual([1, 1, 1]);
        if (!isEnded) expect(dropped).toBe(0);
        await Promise.all(sdks.map((each) => each.close()));
        await last.stop("SIGTERM");
      }
    },
    60_000 + RESUMES * 3000,
  );
});
