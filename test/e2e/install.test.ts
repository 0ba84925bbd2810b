/** `oxbow update` and `oxbow uninstall`. */
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { isRunning } from "../../src/system/process-identity.js";
import { startMockModel } from "../../src/testkit/index.js";
import { oxbowProcess, sampleKey, temporaryFolder } from "../support/program.js";
import { until } from "../support/waiting.js";
import { verifies } from "../verifies.js";

const CLONE = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const FOLDERS = ["config", "data", "state", "cache"];

verifies(["U9"], "update says how this copy was installed and what updates it", async () => {
  const { code, stdout, home } = await oxbowProcess(["update"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`runs from a clone: ${CLONE}\n`);
  expect(stdout).toContain(`\n  git -C ${CLONE} pull\n`);
  const { stdout: json } = await oxbowProcess(["update", "--json"]);
  expect(JSON.parse(json)).toMatchObject({ kind: "clone", root: CLONE });
  expect(FOLDERS.filter((name) => existsSync(join(home, name)))).toEqual([]);
});

verifies(["U9", "M11"], "uninstall lists first, then removes folders, link and credential helper", async () => {
  // A socket of the helper needs a short path.
  const home = await mkdtemp("/var/tmp/oxbow-test-");
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const programs = await temporaryFolder();
  const link = join(programs, "oxbow");
  symlinkSync(join(CLONE, "oxbow"), link);
  const mock = await startMockModel({ script: "reply\n  text: Hello.\n" });
  onTestFinished(() => mock.close());
  const env = {
    OXBOW_HOME: home,
    HOME: await temporaryFolder(),
    PATH: `${programs}:${process.env.PATH}`,
    ANTHROPIC_BASE_URL: mock.url,
  };
  expect(await oxbowProcess(["auth", "set", "anthropic", "--stdin"], { env, input: `${sampleKey()}\n` })).toMatchObject(
    { code: 0 },
  );
  expect(await oxbowProcess(["run", "hello you"], { env })).toMatchObject({ code: 0, stdout: "Hello.\n" });
  const helper = JSON.parse(readFileSync(join(home, "state/credential-helper/helper-1.json"), "utf8")).pid as number;
  onTestFinished(() => void (isRunning(helper) && process.kill(helper)));
  const made = FOLDERS.filter((name) => existsSync(join(home, name)));
  const isAllThere = () =>
    expect([...made.map((name) => existsSync(join(home, name))), existsSync(link), isRunning(helper)]).not.toContain(
      false,
    );

  const listed = await oxbowProcess(["uninstall", "--dry-run"], { env });
  expect(listed.code).toBe(0);
  for (const text of [...made.map((name) => `  ${name.padEnd(8)}${join(home, name)} (`), `  link    ${link}\n`])
    expect(listed.stdout).toContain(text);
  expect(listed.stdout).toContain(`  process ${helper}, the credential helper`);
  expect(listed.stdout).toContain(`rm -r ${CLONE}`);
  isAllThere();

  const unasked = await oxbowProcess(["uninstall"], { env });
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("Add --yes") });
  expect(unasked.stdout).toContain("To be removed:");
  const byAgent = await oxbowProcess(["uninstall", "--yes"], { env: { ...env, OXBOW_AGENT: "1" } });
  expect(byAgent.code).toBe(2);
  isAllThere();

  await writeFile(join(home, "letter.txt"), "mine");
  const shared = await oxbowProcess(["uninstall", "--yes"], { env });
  expect(shared).toMatchObject({ code: 2, stderr: expect.stringContaining("holds other files as well (letter.txt)") });
  isAllThere();
  await rm(join(home, "letter.txt"));

  const removed = await oxbowProcess(["uninstall", "--yes"], { env });
  expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining("Removed:") });
  expect([existsSync(home), existsSync(link)]).toEqual([false, false]);
  await until(() => !isRunning(helper));
  for (const flag of ["--dry-run", "--json"]) {
    const again = await oxbowProcess(["uninstall", flag], { env });
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/nothing: Oxbow keeps nothing here|"folders": \[\]/),
    });
  }
  expect(existsSync(home)).toBe(false);
});

verifies(["U9"], "uninstall takes only Oxbow's own folders of a home", async () => {
  const home = await temporaryFolder();
  const own = [".config/oxbow", ".local/share/oxbow", ".local/state/oxbow", ".cache/oxbow"];
  for (const folder of [...own, ".config/other", "config", "data"])
    await mkdir(join(home, folder), { recursive: true });
  const { code } = await oxbowProcess(["uninstall", "--yes"], { env: { HOME: home, OXBOW_HOME: "" } });
  expect(code).toBe(0);
  expect(own.filter((folder) => existsSync(join(home, folder)))).toEqual([]);
  expect([".config/other", "config", "data"].every((folder) => existsSync(join(home, folder)))).toBe(true);
});

verifies(["U9"], "uninstall waits for the engine to end", async () => {
  const home = await mkdtemp("/var/tmp/oxbow-test-");
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const env = { OXBOW_HOME: home };
  let asked: Promise<unknown> | undefined;
  await oxbowProcess(["serve"], {
    env,
    onOutput: ({ stdout, stderr }, child) => {
      if (asked !== undefined || !/control\.sock/.test(stdout + stderr)) return;
      asked = Promise.all([
        oxbowProcess(["uninstall", "--yes"], { env }),
        oxbowProcess(["uninstall", "--dry-run"], { env }),
      ]).finally(() => child.kill("SIGTERM"));
    },
  });
  const runs = expect.stringMatching(/Oxbow runs here \(process \d+\)\. End it first\./);
  expect(await asked).toMatchObject([
    { code: 2, stderr: runs },
    { code: 0, stdout: runs },
  ]);
  expect(existsSync(join(home, "state"))).toBe(true);
});
