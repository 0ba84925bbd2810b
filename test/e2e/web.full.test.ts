/** `oxbow web` alone: it starts the engine, keeps it at the same address, and leaves it when the person does. */
import type { ChildProcess } from "node:child_process";
import { readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/program-options.js";
import { oxbowProcess } from "../support/program-process.js";
import { verifies } from "../verifies.js";

verifies(["U4"], "shows the web client, also after its engine was killed", async () => {
  const home = await temporaryFolder();
  const env = { OXBOW_HOME: home };
  onTestFinished(async () => void (await oxbowProcess(["stop"], { env, cwd: home })));
  let child: ChildProcess | undefined;
  let url = "";
  const ended = oxbowProcess(["web", "--no-browser"], {
    env,
    onStart: (started) => {
      child = started;
    },
    onOutput: ({ stdout }) => {
      url = /^http:\S+$/m.exec(stdout)?.[0] ?? url;
    },
  });
  await expect.poll(() => url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#req_[0-9a-f]{24}\.\d{6}$/);
  const { origin } = new URL(url);
  const page = () =>
    fetch(`${origin}/`).then(
      ({ status }) => status,
      () => 0,
    );
  expect(await page()).toBe(200);
  const engine = Number(readlinkSync(join(home, "state", "control.lock")).split("_")[2]);
  process.kill(engine, "SIGKILL");
  await expect.poll(page).toBe(0);
  await expect.poll(page).toBe(200);
  child?.kill("SIGINT");
  expect((await ended).code).toBe(0);
  // The engine stays for those who use it.
  expect(await page()).toBe(200);
  expect((await oxbowProcess(["stop"], { env })).code).toBe(0);
  expect(await page()).toBe(0);
});

verifies(["U4"], "takes the port that the person names, and no word for one", async () => {
  const env = { OXBOW_HOME: await temporaryFolder() };
  const { code, stderr } = await oxbowProcess(["web", "--port", "many"], { env });
  expect(code).toBe(2);
  expect(stderr).toContain("--port takes a number");
});
