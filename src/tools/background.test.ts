import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, until } from "../../test/support/waiting.js";
import type { ToolOutcome } from "../engine/ports.js";
import { resultText } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { BackgroundCommands, createBackgroundTool } from "./background.js";
import { createBashTool } from "./bash.js";

let root: string;
let tag: string;
let commands: BackgroundCommands;

function liveWith(text: string): number {
  return readdirSync("/proc").filter((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      return !/\) [ZX]/.test(stat) && readFileSync(`/proc/${name}/environ`).includes(text);
    } catch {
      return false;
    }
  }).length;
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "background-"));
  tag = randomUUID();
  commands = new BackgroundCommands();
});
afterEach(async () => {
  await commands.close();
  expect(liveWith(tag)).toBe(0);
  rmSync(root, { recursive: true });
});

const context = () => ({ signal: new AbortController().signal, progress() {} });

async function start(command: string, more: JsonObject = {}): Promise<ToolOutcome> {
  const tool = createBashTool({
    workspaceRoot: root,
    environment: { PATH: process.env.PATH, OXBOW_TEST_TAG: tag },
    outputDirectory: join(root, "outputs"),
    background: commands,
  });
  return tool.run({ command, run_in_background: true, ...more }, context());
}

async function background(
  args: JsonObject,
  signal = new AbortController().signal,
): Promise<ToolOutcome & { output: string }> {
  const outcome = await createBackgroundTool(commands).run(args, { signal, progress() {} });
  return { ...outcome, output: resultText(outcome.content) };
}

describe("background commands", () => {
  it("start at once, and their output is read piece by piece", async () => {
    const started = await start("echo one; until [ -e go ]; do sleep 0.01; done; echo two; exit 4");
    expect(started).toMatchObject({ status: "ok", details: { background_id: "bg1" } });
    await eventually(async () => expect((await background({ id: "bg1" })).output).toMatch(/^one\n\[running for /));
    expect((await background({ id: "bg1" })).output).toMatch(/^\(no new output\)\n\[running for /);
    rmSync(join(root, "go"), { force: true });
    (await import("node:fs")).writeFileSync(join(root, "go"), "");
    const end = await background({ id: "bg1", wait: 20 });
    expect(end.output).toMatch(/^two\n\[ended after .*, exit code 4\]$/);
    expect(end.details).toMatchObject({ running: false, exit_code: 4 });
    expect(readFileSync(String(end.details?.output_file), "utf8")).toBe("one\ntwo\n");
  });

  it("are killed with everything they started", async () => {
    await start("setsid sleep 1000 & sleep 1000");
    await until(() => liveWith(tag) >= 2);
    const killed = await background({ id: "bg1", kill: true });
    expect(killed.output).toMatch(/\[killed after /);
    expect(liveWith(tag)).toBe(0);
    expect((await background({ id: "bg1", kill: true })).status).toBe("ok");
  });

  it("die with the session", async () => {
    await Promise.all([start("sleep 1000"), start("trap '' TERM; while :; do sleep 1000; done")]);
    await commands.close();
    expect(liveWith(tag)).toBe(0);
    expect(await start("true")).toMatchObject({ status: "error" });
  });

  it("end after a timeout when one is given", async () => {
    await start("sleep 1000", { timeout: 0.05 });
    expect((await background({ id: "bg1", wait: 20 })).output).toMatch(/\[ended after .*killed by SIGTERM\]/);
  });

  it("are listed", async () => {
    expect((await background({})).output).toBe("No background commands.");
    await start("sleep 1000");
    await start("true");
    await background({ id: "bg2", wait: 20 });
    const lines = (await background({})).output.split("\n");
    expect(lines[0]).toMatch(/^bg1: running for .*: sleep 1000$/);
    expect(lines[1]).toMatch(/^bg2: ended after .*, exit code 0: true$/);
    await start(`sleep 1000 # first\nsleep 1000 # second`);
    expect((await background({})).output.split("\n").slice(2)).toEqual([
      expect.stringMatching(/^bg3: running for .*: sleep 1000 # first$/),
    ]);
  });

  it("keep the end of a long output", async () => {
    await start("seq 1 100000");
    const { output, details } = await background({ id: "bg1", wait: 20 });
    expect(output).toMatch(/\n100000\n\[ended/);
    expect(output.length).toBeLessThan(12_000);
    expect(details).toMatchObject({ truncated: true });
    expect(output).toContain(`the whole output is in ${String(details?.output_file)}`);
  });

  it("keep running when the turn is cancelled, which stops the wait for them", async () => {
    await start("sleep 1000");
    const outcome = await background({ id: "bg1", wait: 100 }, AbortSignal.abort());
    expect(outcome.status).toBe("cancelled");
    expect((await background({})).output).toMatch(/bg1: running/);
  });

  it("are limited in number", async () => {
    const outcomes = [];
    for (let i = 0; i < 17; i++) outcomes.push((await start("sleep 1000")).status);
    expect(outcomes.filter((status) => status === "ok")).toHaveLength(16);
    expect(outcomes.at(-1)).toBe("error");
  });

  it("are named when one is not known", async () => {
    await start("true");
    expect(await background({ id: "bg9" })).toMatchObject({
      status: "error",
      output: 'There is no background command "bg9". Known: bg1.',
    });
  });
});
