/** Two people look at one session: the real engine, two terminal clients, each on a terminal of its own. */

import { afterEach, describe, expect } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { screenAction } from "../../src/cli/tui/screen-actions.js";
import { runTui } from "../../src/clients/tui/app.js";
import type { TuiOptions } from "../../src/clients/tui/options.js";
import type { Frame, FullScreen, TerminalInput, TuiTerminal } from "../../src/clients/tui/terminal/terminal.js";
import { plainTheme } from "../../src/clients/tui/themes.js";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import type { EngineClient } from "../../src/protocol/client.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { TuiClient } from "../support/tui-client.js";
import { verifies } from "../verifies.js";

const open: { mock: MockModel; hosted: HostedEngine }[] = [];
afterEach(async () => {
  for (const { mock, hosted } of open.splice(0)) {
    await hosted.engine.close();
    await mock.close();
  }
});

/** Keeps what was printed and the last frame. */
class FakeTerminal implements TuiTerminal {
  readonly columns = 80;
  readonly rows = 30;
  readonly reflows = false;
  readonly printed: string[] = [];
  #frame: readonly string[] = [];
  #listener: (input: TerminalInput) => void = () => {};
  #waiting: (() => void)[] = [];

  get text(): string {
    return [...this.printed, ...this.#frame].join("\n");
  }

  paint(frame: Frame, printed: readonly string[] = []): void {
    this.printed.push(...printed);
    this.#frame = frame.lines;
    for (const look of this.#waiting.splice(0)) look();
  }

  async until(words: string): Promise<void> {
    while (!this.text.includes(words)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  press(id: string, data = id): void {
    this.#listener({ kind: "key", id, data });
  }

  onInput(listener: (input: TerminalInput) => void): () => void {
    this.#listener = listener;
    return () => {};
  }

  openFullScreen(): FullScreen {
    return { paint: () => {}, close: () => {} };
  }

  copy(): boolean {
    return false;
  }

  async backgroundIsLight(): Promise<boolean | undefined> {
    return undefined;
  }

  async lend<T>(action: () => Promise<T>): Promise<T> {
    return action();
  }

  async close(last: readonly string[] = []): Promise<void> {
    this.printed.push(...last);
  }

  bell(): void {}
  notify(): void {}
  setTitle(): void {}
  setProgress(): void {}
  suspend(): void {}
}

function sit(client: EngineClient, session: SessionId, terminal: FakeTerminal) {
  const options: TuiOptions = {
    client,
    session,
    terminal,
    clock: systemClock,
    theme: plainTheme,
    model: "mock",
    greeting: [],
    showCost: false,
    verses: [],
    still: true,
    clientAction: screenAction,
  };
  return runTui(options);
}

describe("two terminal clients on one session", () => {
  verifies(
    ["P2", "U2", "C1"],
    "show the same turn; the first answer counts, and the other client shows it",
    async () => {
      const mock = await startMockModel({
        script: script([reply().tool("bash", { command: "touch made" }), reply().text("Made it.")]),
      });
      const hosted = await hostEngine(await temporaryFolder(), mock, { flags: ["--permission-mode", "ask"] });
      open.push({ mock, hosted });
      const { engine } = hosted;
      const connect = () => connectInProcess(engine.host, { id: engine.newClientId(), canAnswer: true });
      const [first, second] = [connect(), connect()];
      const created = await first.send("CreateSession", {});
      if (!created.ok || created.session === undefined) throw new Error("no session");
      const { session } = created;
      await second.send("AttachSession", {}, session);
      const [one, two] = [new FakeTerminal(), new FakeTerminal()];
      const ends = [sit(first, session, one), sit(second, session, two)];
      for (const letter of "make it") one.press(letter);
      one.press("enter", "\r");
      await Promise.all([one.until("[y] yes"), two.until("[y] yes")]);
      two.press("y");
      // The line that sums a turn up: before it, Ctrl-D would ask whether to leave a turn that runs.
      await Promise.all([one.until(" out · "), two.until(" out · ")]);
      for (const terminal of [one, two]) expect(terminal.text).toContain("Made it.");
      expect(one.text).toContain(`Already allowed by ${second.id}.`);
      expect(two.text).not.toContain("Already allowed");
      expect(two.text).toContain("make it");
      expect(one.text).not.toContain("[y] yes");
      for (const terminal of [one, two]) terminal.press("ctrl+d", "\x04");
      await Promise.all(ends);
    },
  );

  verifies(["P2", "U3"], "close the whole change of a call that the other one has answered", async () => {
    const write = reply().tool("write", { path: "made.txt", content: "one\n" });
    const mock = await startMockModel({ script: script([write, reply().text("Made it.")]) });
    const hosted = await hostEngine(await temporaryFolder(), mock, { flags: ["--permission-mode", "ask"] });
    open.push({ mock, hosted });
    const one = await TuiClient.open(hosted);
    one.type("make it", "\r");
    await one.until("[v] show the whole change");
    const two = await TuiClient.open(hosted, { session: one.session, resumed: true });
    await two.until("[v] show the whole change");
    one.type("v");
    await one.until("enter goes back");
    two.type("y");
    await Promise.all([one.until(" out · "), two.until(" out · ")]);
    expect(await one.screen()).not.toContain("enter goes back");
    await Promise.all([one.leave(), two.leave()]);
  });
});
