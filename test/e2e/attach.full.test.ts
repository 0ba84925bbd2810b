/** A second Oxbow in the same home, and the end of the first. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
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

needs("tmux").describe("two terminals", () => {
  async function terminals(script: Parameters<typeof startMockModel>[0]["script"]) {
    const mock = await startMockModel({ script });
    onTestFinished(() => mock.close());
    const home = await temporaryFolder();
    const open = (folder: string, { flags = "", ...variables }: Record<string, string> = {}) =>
      new RealTerminal(`cd ${folder} && ${process.execPath} ${BIN} ${flags}; exec cat`, {
        columns: 100,
        rows: 30,
        variables: {
          ...NO_LOCAL_SERVERS,
          ...providerEnvironment("anthropic", mock.url),
          HOME: home,
          OXBOW_HOME: home,
          ...variables,
        },
      });
    const engine = () => Number(readlinkSync(join(home, "state", "control.lock")).split("_")[2]);
    return { mock, home, open, engine };
  }

  verifies(
    ["C10"],
    "share one engine of its own: each begins a session in its folder with its environment, and a killed engine is started again",
    async () => {
      const { mock, open, engine } = await terminals(
        script([
          reply().tool("bash", { command: "echo place=$PLACE" }),
          reply().text("One."),
          reply().tool("bash", { command: "echo place=$PLACE" }),
          reply().text("Two."),
          reply().text("Three."),
        ]),
      );
      const [here, there] = [await temporaryFolder(), await temporaryFolder()];
      const [user, word] = ["me", "of-my-proxy"];
      const proxy = { HTTPS_PROXY: `http://${user}:${word}@127.0.0.1:9` };
      const first = open(here, { PLACE: "here", flags: "--permission-mode allow", ...proxy });
      await first.until("? for keys");
      first.type("first prompt", "Enter");
      await first.until("One.");
      expect(JSON.stringify(mock.requests.at(-1)?.body)).toContain("place=here");
      const second = open(there, { PLACE: "there", MY_TOKEN: "mine", flags: "--permission-mode allow" });
      await second.until("? for keys");
      expect(second.screen()).not.toContain("first prompt");
      second.type("second prompt", "Enter");
      await second.until("Two.");
      expect(JSON.stringify(mock.requests.at(-1)?.body)).toContain("place=there");
      // A command of the person runs in their terminal, with all of its environment.
      second.type("!echo $PLACE $MY_TOKEN $PPID $PWD", "Enter");
      const [, parent] = /^there mine (\d+) (.*)$/m.exec(await second.until(/^there mine \d+ \/.*$/m)) ?? [];
      expect(Number(parent)).not.toBe(engine());
      second.type("/env", "Enter");
      expect(await second.until(/Not passed, secret: .*/)).toMatch(/secret: .*ANTHROPIC_API_KEY.*MY_TOKEN/);
      // The key reaches the provider through the credential helper: the engine has it nowhere.
      expect(mock.requests.at(-1)?.headers["x-api-key"]).toMatch(/\w/);
      const before = engine();
      const environment = readFileSync(`/proc/${before}/environ`, "utf8");
      expect(environment).not.toMatch(/ANTHROPIC_API_KEY|PLACE=|of-my-proxy/);
      process.kill(before, "SIGKILL");
      await eventually(() => {
        expect(engine()).not.toBe(before);
      });
      first.type("third prompt", "Enter");
      expect(await first.until("Three.")).toMatch(/One\.[\s\S]*third prompt/);
    },
  );

  verifies(
    ["C10", "M7"],
    "keep the model and the mode that were chosen before the first turn, after a kill",
    async () => {
      const { mock, open, engine } = await terminals(script([reply().text("Answered.")]));
      const terminal = open(await temporaryFolder(), { flags: "--model anthropic:claude-sonnet-4-5" });
      await terminal.until("? for keys");
      terminal.type("/model anthropic:claude-haiku-4-5", "Enter");
      await terminal.until(/^auto · anthropic:claude-haiku-4-5/m);
      terminal.type("/mode plan", "Enter");
      await terminal.until(/^plan · /m);
      // The terminal has the answer.
      await terminal.until("Oxbow changes nothing until you approve");
      const before = engine();
      process.kill(before, "SIGKILL");
      await eventually(() => expect(engine()).not.toBe(before));
      terminal.type("go", "Enter");
      expect(await terminal.until("Answered.")).toMatch(/^plan · anthropic:claude-haiku-4-5/m);
      expect(mock.requests.at(-1)?.body).toMatchObject({ model: "claude-haiku-4-5" });
    },
  );

  verifies(["C10"], "leave a turn running: the next terminal resumes it", async () => {
    const { mock, open, engine } = await terminals("reply\n  text: Begun.\n  delay 1500ms\n  text: And done.\n");
    const folder = await temporaryFolder();
    const first = open(folder);
    await first.until("? for keys");
    first.type("long work", "Enter");
    await first.until("Begun.");
    first.type("C-d");
    await first.until("The turn goes on");
    const pid = engine();
    const second = open(folder, { flags: "--continue" });
    expect(await second.until("And done.")).toContain("long work");
    expect(engine()).toBe(pid);
    expect(mock.requests).toHaveLength(1);
  });

  verifies(
    ["C10"],
    "compare what holds for a whole engine with the one that runs, not with one that has ended",
    async () => {
      const { home, open, engine } = await terminals(script([]));
      const folder = await temporaryFolder();
      const first = open(folder);
      await first.until("? for keys");
      first.type("C-d");
      await first.until(/^(?![\s\S]*for keys)/);
      process.kill(engine(), "SIGTERM");
      await eventually(() => expect(() => engine()).toThrow());
      const second = open(folder, { OXBOW_LOG: "debug" });
      expect(await second.until("? for keys")).not.toContain("its own process");
      mkdirSync(join(home, "config"), { recursive: true });
      writeFileSync(join(home, "config", "config.toml"), "retention_days = 7\n");
      const third = open(folder, { OXBOW_LOG: "debug" });
      expect(await third.until("? for keys")).toContain("The running engine has another retention_days.");
    },
  );

  verifies(
    ["C10", "S3"],
    "are both asked how a call ended that died with the engine, without a spinner over the question",
    async () => {
      const { open, engine } = await terminals(
        script([reply().tool("bash", { command: "sleep 60" }), reply().text("Going on.").times(9)]),
      );
      const folder = await temporaryFolder();
      const one = open(folder, { flags: "--plain --permission-mode allow --sandbox off" });
      await one.until("Ctrl-D to leave");
      one.type("go", "Enter");
      await one.until(/bash \[\d+s\]/);
      const two = open(folder, { flags: "--plain --continue" });
      await two.until("Ctrl-D to leave");
      process.kill(engine(), "SIGKILL");
      const asked = "[f] it failed";
      for (const terminal of [one, two]) await terminal.until(asked);
      const timers = () => [one, two].map((terminal) => terminal.screen().split(asked).at(-1) ?? "");
      expect(timers().join("")).not.toMatch(/\[\d+s\]/);
      for (const terminal of [one, two]) {
        terminal.type("f", "Enter");
        await terminal.until("Note for the model");
        terminal.type("Enter");
      }
      for (const terminal of [one, two]) await terminal.until(/Note for the model[\s\S]*\n>/);
      two.type("more", "Enter");
      for (const terminal of [one, two]) await terminal.until("Going on.");
    },
    120_000,
  );
});
