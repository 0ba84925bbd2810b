import { afterEach, describe, expect } from "vitest";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { TuiClient } from "../support/tui-client.js";
import { verifies } from "../verifies.js";

const CTRL_O = "\x0f";
const open: { mock: MockModel; hosted: HostedEngine }[] = [];
afterEach(async () => {
  for (const { mock, hosted } of open.splice(0)) {
    await hosted.engine.close();
    await mock.close();
  }
});

describe("the whole conversation", () => {
  verifies(["U2"], "comes from the log where the client has not seen it", async () => {
    const call = reply().tool("bash", { command: "echo out" });
    const replies = [reply().text("The first answer."), call, reply().text("The last.")];
    const mock = await startMockModel({ script: script(replies) });
    const hosted = await hostEngine(await temporaryFolder(), mock, { flags: ["--permission-mode", "allow"] });
    open.push({ mock, hosted });
    const first = await TuiClient.open(hosted);
    const turns = [
      ["one", "The first answer."],
      ["two", "The last."],
    ] as const;
    for (const [prompt, end] of turns) {
      first.type(prompt, "\r");
      await first.until(new RegExp(`${end}[^]*out · `));
    }
    const second = await TuiClient.open(hosted, { session: first.session });
    await second.until("Ask for something");
    expect(await second.text()).not.toContain("The last.");
    second.type(CTRL_O);
    const shown = await second.until("The last.");
    expect(shown).toMatch(/› one\nThe first answer\.\n.*\n› two\n✓ bash echo out/);
    second.type("q");
    await second.leave();
    await first.leave();
  });
});
