/** The terminal client in this process, on a virtual terminal: keys are typed, the screen is read. */

import { systemClock } from "../../src/base/clock.js";
import { screenAction } from "../../src/cli/tui/screen-actions.js";
import { runTui } from "../../src/clients/tui/app.js";
import type { TuiEnd, TuiOptions } from "../../src/clients/tui/options.js";
import { openTerminal } from "../../src/clients/tui/terminal/open-terminal.js";
import { plainTheme } from "../../src/clients/tui/themes.js";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import type { EngineClient } from "../../src/protocol/client.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { FakeProcess } from "./fake-terminal-process.js";
import type { HostedEngine } from "./hosted-engine.js";

/** It only ends a hang: a busy machine may take long. */
const WAIT_MS = 20_000;
const PAUSE_MS = 5;

/** The size is that of the terminal when the client starts. */
type ClientOptions = Partial<TuiOptions> & { readonly columns?: number; readonly rows?: number };

export class TuiClient {
  readonly process: FakeProcess;
  readonly client: EngineClient;
  readonly session: SessionId;
  readonly ended: Promise<TuiEnd>;

  private constructor(
    client: EngineClient,
    session: SessionId,
    { columns = 80, rows = 24, ...options }: ClientOptions,
  ) {
    this.client = client;
    this.session = session;
    this.process = new FakeProcess(undefined, columns, rows);
    const io = { ...this.process.io, clock: systemClock };
    this.ended = runTui({
      client,
      session,
      terminal: openTerminal(io),
      clock: systemClock,
      theme: plainTheme,
      model: "mock",
      greeting: [],
      showCost: false,
      verses: [],
      still: true,
      clientAction: screenAction,
      ...options,
    });
  }

  /** A client of a person, on a new session or on the one that is named. */
  static async open({ engine }: HostedEngine, { session, ...options }: Partial<TuiOptions> = {}): Promise<TuiClient> {
    const client = connectInProcess(engine.host, { id: engine.newClientId(), canAnswer: true, name: "owner" });
    return TuiClient.over(client, { ...options, ...(session && { session }) });
  }

  /** The same over another client, such as one of the SDK. */
  static async over(client: EngineClient, { session, ...options }: ClientOptions = {}): Promise<TuiClient> {
    const created = await client.send("CreateSession", session === undefined ? {} : { resume: session });
    if (!created.ok || created.session === undefined) throw new Error("no session");
    return new TuiClient(client, created.session, options);
  }

  /** Bytes as a terminal sends them: one call for each key. */
  type(...keys: readonly string[]): void {
    for (const key of keys) this.process.type(key);
  }

  async screen(): Promise<string> {
    return (await this.process.shown()).join("\n");
  }

  /** Scrollback and screen. */
  async text(): Promise<string> {
    return (await this.process.allLines()).join("\n");
  }

  async until(wanted: string | RegExp): Promise<string> {
    for (const end = performance.now() + WAIT_MS; performance.now() < end; ) {
      const text = await this.screen();
      if (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text)) return text;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    throw new Error(`the screen never showed ${wanted}:\n${await this.text()}`);
  }

  /** Ctrl-D in an empty draft. */
  async leave(): Promise<TuiEnd> {
    this.type("\x04");
    return this.ended;
  }
}
