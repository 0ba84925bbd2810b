/** A second Oxbow in the same home, and the end of the first. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { needs } from "../support/needs.js";
import { BIN, NO_LOCAL_SERVERS, providerEnvironment, temporaryFolder } from "../support/program.js";
import { RealTerminal } from "../support/real-terminal.js";
import { isThorough } from "../support/thorough.js";
import { eventually } from "../support/waiting.js";
import { verifies } from "../verifies.js";

/** Milliseconds of a process of its own. */
async function timeOf(args: readonly string[], options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) {
  const start = performance.now();
  const child = spawn(process.execPath, [BIN, ...args], { ...options, stdio: "ignore" });
  const [code] = (await once(child, "close")) as [number | null];
  expect(code).toBe(0);
  return performance.now() - start;
}

function median(times: readonly number[]): number {
  return [...times].sort((left, right) => left - right)[Math.floor(times.length / 2)] ?? 0;
}

// Times on a machine that runs other tests say little.
if (isThorough) {
  verifies(["C10"], "run --attach is faster end to end than a run that starts an engine", async () => {
    const mock = await startMockModel({ script: "reply\n  text: Hi.\nloop\n" });
    onTestFinished(() => mock.close());
    const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
    const { PATH } = process.env;
    const own = { HOME: home, OXBOW_HOME: home, PATH };
    const options = { cwd, env: { ...NO_LOCAL_SERVERS, ...providerEnvironment("anthropic", mock.url), ...own } };
    const engine = spawn(process.execPath, [BIN, "serve"], { ...options, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void engine.kill());
    await once(engine.stdout, "data");
    // In turns, so that other work on the machine slows both.
    const times = { attached: [] as number[], cold: [] as number[] };
    for (let count = 0; count < 15; count++) {
      times.attached.push(await timeOf(["run", "--attach", "hi"], options));
      times.cold.push(await timeOf(["run", "hi"], options));
    }
    expect(median(times.attached)).toBeLessThan(median(times.cold));
  });
}

needs("tmux").describe("a second terminal", () => {
  verifies(
    ["C10"],
    "attaches to the session of the first, and continues as the engine, in the same mode, when that is killed",
    async () => {
      const mock = await startMockModel({
        script: script(["One.", "Two.", "Three."].map((text) => reply().text(text))),
      });
      onTestFinished(() => mock.close());
      const [home, folder] = [await temporaryFolder(), await temporaryFolder()];
      const variables = {
        ...NO_LOCAL_SERVERS,
        ...providerEnvironment("anthropic", mock.url),
        HOME: home,
        OXBOW_HOME: home,
      };
      const open = (flags = "") =>
        new RealTerminal(`cd ${folder} && exec ${process.execPath} ${BIN} ${flags}`, {
          columns: 100,
          rows: 30,
          variables,
        });
      const owner = () => Number(readlinkSync(join(home, "state", "control.lock")).split("_")[2]);
      const first = open("--permission-mode ask");
      await first.until("? for keys");
      first.type("first prompt", "Enter");
      await first.until("One.");
      const engine = await eventually(owner);
      const second = open();
      await second.until("Choose [");
      second.type("a", "Enter");
      await second.until(/first prompt[\s\S]*One\.[\s\S]*\? for keys/);
      second.type("second prompt", "Enter");
      await second.until("Two.");
      expect(await first.until("Two.")).toContain("second prompt");
      process.kill(engine, "SIGKILL");
      await second.until("this client continues the session");
      await second.until(/second prompt[\s\S]*Two\.[\s\S]*\? for keys/);
      expect(owner()).not.toBe(engine);
      second.type("third prompt", "Enter");
      // The mode of the first, not the default of the second.
      await second.until(/Three\.[\s\S]*\nask · /);
    },
  );

  verifies(
    ["C10", "S3"],
    "is asked how a call ended that died with the engine, like the one that continues as the engine, without a spinner over it",
    async () => {
      const mock = await startMockModel({
        script: script([
          reply().tool("bash", { command: "touch begun; sleep 60" }),
          reply().text("Going on.").times(9),
        ]),
      });
      onTestFinished(() => mock.close());
      const [home, folder] = [await temporaryFolder(), await temporaryFolder()];
      const own = { HOME: home, OXBOW_HOME: home };
      const variables = { ...NO_LOCAL_SERVERS, ...providerEnvironment("anthropic", mock.url), ...own };
      const open = (flags: string) =>
        new RealTerminal(`cd ${folder} && exec ${process.execPath} ${BIN} ${flags}`, {
          columns: 160,
          rows: 40,
          variables,
        });
      const served = open("serve --permission-mode allow");
      await served.until("listening on");
      const one = open("--plain --attach");
      await one.until("Attached to the engine");
      one.type("go", "Enter");
      await eventually(() => readFileSync(join(folder, "begun")));
      const two = open("--plain --attach --continue");
      await two.until("Attached to the engine");
      await one.until(/bash \[\d+s\]/);
      process.kill(Number(readlinkSync(join(home, "state", "control.lock")).split("_")[2]), "SIGKILL");
      // Both look for the engine: one of them becomes it, and asks before the session is open. The other one reaches it, and asks too.
      const asked = "[f] it failed";
      for (const terminal of [one, two]) await terminal.until(asked);
      const timers = () => [one, two].map((terminal) => terminal.screen().split(asked).at(-1) ?? "");
      expect(timers().join("")).not.toMatch(/\[\d+s\]/);
      one.type("f", "Enter");
      await one.until("Note for the model");
      one.type("Enter");
      two.type("f", "Enter");
      await two.until("Note for the model");
      two.type("Enter");
      for (const terminal of [one, two]) await terminal.until(/Note for the model[\s\S]*\n>/);
      two.type("more", "Enter");
      for (const terminal of [one, two]) await terminal.until("Going on.");
    },
    120_000,
  );
});
