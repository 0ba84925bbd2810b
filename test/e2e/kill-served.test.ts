/** The engine is killed in the middle of a turn and started again. Its clients resume after the last event that they have. */
import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { isJsonObject, type JsonObject } from "../../src/protocol/json.js";
import type { ConformanceConnection } from "../../src/testkit/conformance/protocol/transport.js";
import { openTransport } from "../../src/testkit/conformance/protocol/transports/open-transport.js";
import { parseScript, startMockModel } from "../../src/testkit/index.js";
import { oxbowProcess, providerEnvironment, temporaryFolder } from "../support/program.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const SCRIPT = parseScript(`reply times=any when "slowly"
  text size=4 every=4ms repeat=40: one two three four five six seven
  flush
reply times=any
  text: Fine.
`);

/** What a client has of a session, after all that it got. */
class View {
  events: JsonObject[] = [];
  gaps = 0;
  #look = () => {};

  take(event: JsonObject): void {
    if (event.kind === "StreamGap") {
      this.gaps += 1;
      this.events = this.events.filter(({ id }) => Number(id) <= Number(event.id));
    } else this.events.push(event);
    this.#look();
  }

  get last(): number {
    return Number(this.events.at(-1)?.id ?? 0);
  }

  until(isThere: (events: readonly JsonObject[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => void (isThere(this.events) && resolve());
      this.#look();
    });
  }
}

async function start(env: Readonly<Record<string, string>>, cwd: string) {
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    ended = oxbowProcess(["serve", "--provider", "anthropic"], {
      ...{ env, cwd },
      onStart: (started) => {
        child = started;
      },
      onOutput: ({ stdout }) => void (stdout.includes("listening on unix:") && resolve()),
    }).then(({ stderr }) => reject(new Error(stderr)));
  });
  const state = join(env.OXBOW_HOME ?? "", "state");
  const token = (await readFile(join(state, "control.token"), "utf8")).trim();
  const transport = await openTransport(`unix:${join(state, "control.sock")}`, {
    tokens: { human: token },
    environment: {},
  });
  const connect = async () => {
    const connection = await transport.connect("human");
    await connection.handshake({ protocol_version: "0.2.0" });
    return connection;
  };
  const stop = async (signal: NodeJS.Signals) => {
    ended.catch(() => {});
    child?.kill(signal);
    await ended.catch(() => {});
  };
  onTestFinished(() => void child?.kill("SIGKILL"));
  return { connect, stop };
}

function send(connection: ConformanceConnection, session: string, text: string) {
  const payload = { content: [{ type: "text", text }], queue: true };
  return connection.command({ kind: "SendInput", session, payload });
}

const exactly = ({ id, kind, ts }: JsonObject) => `${id} ${kind} ${ts}`;

const ends = (events: readonly JsonObject[]) => events.filter(({ kind }) => kind === "TurnEnded").length;

describe("an engine that is killed in the middle of a turn", () => {
  verifies(
    ["C3", "L10", "C9"],
    "goes on after a restart: its clients have the same log, and no accepted input is lost",
    async () => {
      const mock = await startMockModel({ script: SCRIPT });
      onTestFinished(() => mock.close());
      const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
      const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home };
      for (let round = 0; round < times(1, 20); round++) {
        const first = await start(env, cwd);
        const [one, two] = [await first.connect(), await first.connect()];
        const created = await one.command({ kind: "CreateSession", payload: {} });
        const session = String(created.session);
        const views = [new View(), new View()] as const;
        const away = new View();
        await one.follow({ session, onEvent: (event) => views[0].take(event) });
        await two.follow({ session, onEvent: (event) => views[1].take(event) });
        await (await first.connect()).follow({ session, onEvent: (event) => away.take(event) });
        await send(one, session, "slowly");
        await views[0].until((events) => events.some(({ kind }) => kind === "TextDelta"));
        expect(await send(two, session, "waits")).toMatchObject({ ok: true, value: { state: "queue" } });
        await views[0].until((events) => events.length > 4 + ((round * 7) % 40));
        await first.stop("SIGKILL");
        const again = await start(env, cwd);
        const [three, four] = [await again.connect(), await again.connect()];
        // Not at the same time: the second one comes when there are new events already.
        expect(await three.follow({ session, after: views[0].last, onEvent: (event) => views[0].take(event) })).toEqual(
          {
            ok: true,
          },
        );
        expect(await send(three, session, "now")).toMatchObject({ ok: true });
        await views[0].until((events) => ends(events) === 2);
        await four.follow({ session, after: views[1].last, onEvent: (event) => views[1].take(event) });
        await views[1].until((events) => ends(events) === 2);
        const stored = await four.query({ kind: "ListEvents", session, request: { before: 100_000, limit: 10_000 } });
        const log = isJsonObject(stored.answer) ? (stored.answer.events as readonly JsonObject[]) : [];
        expect(log.length).toBeGreaterThan(8);
        for (const view of views) expect(view.events.map(exactly)).toEqual(log.map(exactly));
        const started = log.filter(({ kind }) => kind === "TurnStarted").map(({ payload }) => JSON.stringify(payload));
        expect(started[1]).toContain("waits");
        expect(started[1]).toContain("now");
        // A client that was away for two kills: its last ids may name other events now.
        await send(three, session, "slowly");
        await views[0].until((events) => events.length > log.length + 4 + ((round * 5) % 40));
        await again.stop("SIGKILL");
        const last = await start(env, cwd);
        const five = await last.connect();
        await send(five, session, "once more");
        await five.follow({ session, after: away.last, onEvent: (event) => away.take(event) });
        await away.until((events) => ends(events) === 4);
        const now = await five.query({ kind: "ListEvents", session, request: { before: 100_000, limit: 10_000 } });
        const whole = isJsonObject(now.answer) ? (now.answer.events as readonly JsonObject[]) : [];
        expect(away.events.map(exactly)).toEqual(whole.map(exactly));
        await last.stop("SIGTERM");
      }
    },
    120_000,
  );
});
