/** The engine is killed again and again while three terminals use it: all continue, and nothing is lost or doubled. */
import { readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { TerminalConnection } from "../../src/cli/engine/terminal-connection.js";
import { plainText, text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { startMockModel } from "../../src/testkit/index.js";
import { BIN, NO_LOCAL_SERVERS, providerEnvironment, temporaryFolder } from "../support/program.js";
import { eventually } from "../support/waiting.js";
import { verifies } from "../verifies.js";

/** `OXBOW_TEST_KILLS=100` for the whole bar. */
const KILLS = Number(process.env.OXBOW_TEST_KILLS ?? 4);

interface TestTerminal {
  readonly connection: TerminalConnection;
  readonly session: SessionId;
  readonly seen: Envelope[];
  readonly sent: string[];
}

verifies(
  ["C10", "S3"],
  `three terminals continue after ${KILLS} kills of the engine, and nothing is lost or doubled`,
  async () => {
    const mock = await startMockModel({
      script: "model m\nmodel n\nreply times=any\n  text: Said.\n  delay 30ms\n  text: Done.\n",
    });
    onTestFinished(() => mock.close());
    const home = await temporaryFolder();
    const { PATH } = process.env;
    const environment = {
      PATH,
      HOME: home,
      OXBOW_HOME: home,
      ...NO_LOCAL_SERVERS,
      ...providerEnvironment("ollama", mock.url),
    };
    const variables = Object.fromEntries(
      Object.entries(environment).filter(([, value]) => value !== undefined),
    ) as Record<string, string>;
    const engine = () => Number(readlinkSync(join(home, "state", "control.lock")).split("_")[2]);
    startsEnginesFrom(BIN);
    onTestFinished(() => void process.kill(engine(), "SIGTERM"));
    let lost = 0;
    const open = async (): Promise<TestTerminal> => {
      const start = { environment: variables, flags: ["--model=ollama:m"], keys: [] };
      const connection = await TerminalConnection.open({ variables, start, onLost: () => lost++ });
      if ("failed" in connection) throw new Error(connection.failed);
      const seen: Envelope[] = [];
      connection.subscribe((event) => {
        // What comes after a gap replaces what the terminal had.
        if (event.kind === "StreamGap") seen.splice(seen.findLastIndex(({ id }) => id <= event.id) + 1);
        else seen.push(event);
      });
      const created = await connection.send("CreateSession", { cwd: await temporaryFolder() });
      if (!created.ok || created.session === undefined) throw new Error(JSON.stringify(created));
      return { connection, session: created.session, seen, sent: [] };
    };
    const terminals = [await open(), await open(), await open()];
    onTestFinished(async () => {
      for (const { connection } of terminals) await connection.close();
    });
    // Nothing of their sessions is stored yet.
    process.kill(engine(), "SIGKILL");
    const [first] = terminals;
    expect(await first?.connection.send("SetModel", { model: "ollama:n" }, first.session)).toMatchObject({ ok: true });
    const idle = async () => {
      for (const terminal of terminals) await eventually(() => expect(endedOf(terminal)).toBe(terminal.sent.length));
    };
    for (let kill = 1; kill <= KILLS; kill++) {
      await idle();
      await Promise.all(terminals.map((terminal) => say(terminal, `prompt ${kill}`)));
      // Every third time it ends by itself, and refuses commands until it has. Else it is killed, every other time in the middle of the turns.
      const isAsked = kill % 3 === 0;
      if (isAsked || kill % 2 === 0) await idle();
      const before = engine();
      process.kill(before, isAsked ? "SIGTERM" : "SIGKILL");
      // In this instant nothing shows yet that it has ended.
      await Promise.all(terminals.map((terminal) => say(terminal, `at once ${kill}`)));
      // The streams of the terminals drop, so one of them starts the next engine.
      await eventually(() => expect(isAlive(before)).toBe(false));
      await Promise.all(terminals.map(({ connection }) => connection.revive()));
    }
    await idle();
    for (const terminal of terminals) {
      await say(terminal, "the end");
      await eventually(() => expect(endedOf(terminal)).toBe(terminal.sent.length));
      const log = await logOf(terminal);
      expect(log.map(({ id }) => id)).toEqual(log.map((_, index) => index + 1));
      const inputs = log.flatMap((event) => (event.kind === "TurnStarted" ? [plainText(event.payload.input)] : []));
      expect(inputs).toEqual(terminal.sent);
      const started = log.flatMap((event) => (event.kind === "TurnStarted" ? [event.payload.turn] : []));
      const ended = log.flatMap((event) => (event.kind === "TurnEnded" ? [event.payload.turn] : []));
      expect(ended).toEqual(started);
      // The terminal saw each end once, whichever engine told it.
      const seen = terminal.seen.flatMap((event) => (event.kind === "TurnEnded" ? [event.payload.turn] : []));
      expect(seen).toEqual(ended);
    }
    // A session that is opened again keeps the model that its person chose in it.
    expect(await first?.connection.query("GetStatus", {}, first.session)).toMatchObject({ answer: { model: "n" } });
    expect(lost).toBe(0);
  },
  60_000 + KILLS * 10_000,
);

/** A client starts the program that it is part of: here that is the built one, not the test. */
function startsEnginesFrom(program: string): void {
  const before = process.argv[1] ?? "";
  process.argv[1] = program;
  onTestFinished(() => {
    process.argv[1] = before;
  });
}

async function say({ connection, session, sent }: TestTerminal, words: string): Promise<void> {
  const reply = await connection.send("SendInput", { content: [text(words)] }, session);
  if (!reply.ok) throw new Error(`${words}: ${JSON.stringify(reply)}`);
  sent.push(words);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Counts how many turns this terminal saw end. */
function endedOf({ seen }: TestTerminal): number {
  return seen.filter(({ kind }) => kind === "TurnEnded").length;
}

async function logOf({ connection, session }: TestTerminal): Promise<readonly Envelope[]> {
  const log: Envelope[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; before > 1; before = log[0]?.id ?? 1) {
    const reply = await connection.query("ListEvents", { before }, session);
    if (!reply.ok) throw new Error(reply.failure.message);
    if (reply.answer.events.length === 0) break;
    log.unshift(...reply.answer.events);
  }
  return log;
}
