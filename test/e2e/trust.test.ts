import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect } from "vitest";
import { startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let home: string;
let cwd: string;
beforeEach(async () => {
  home = await temporaryFolder();
  cwd = await temporaryFolder();
  await writeFile(join(cwd, "AGENTS.md"), "Be kind.\n");
  await mkdir(join(cwd, ".oxbow", "tools"), { recursive: true });
  await writeFile(join(cwd, ".oxbow", "tools", "lint"), "#!/bin/sh\ntouch ran\n", { mode: 0o755 });
});

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  oxbow(args, { cwd, env: { OXBOW_HOME: home, ...env } });

describe("what a folder brings", () => {
  verifies(
    ["P10", "P11"],
    "is named by verify-ack until a person has approved it, and never approved without one (5)",
    async () => {
      const drift = await run(["verify-ack"]);
      expect(drift.code).toBe(5);
      expect(drift.stdout).toContain("AGENTS.md");
      expect(drift.stdout).toContain(join(".oxbow", "tools", "lint"));
      const refused = await run(["ack"]);
      expect([refused.code, refused.stdout]).toEqual([5, expect.stringContaining("needs a terminal")]);
      const bulk = await run(["ack", "--all"]);
      expect(bulk.code).toBe(5);
      expect((await run(["verify-ack"])).code).toBe(5);
    },
  );

  verifies(["P11", "P4"], "is never approved by a command that a model started", async () => {
    const refused = await run(["ack"], { OXBOW_AGENT: "1" });
    expect([refused.code, refused.stdout]).toEqual([4, expect.stringContaining("not an agent")]);
  });

  verifies(["P14", "P10"], "runs nothing, with --allow-project-hooks or without", async () => {
    for (const flags of [[], ["--allow-project-hooks"]]) {
      const { code } = await run(["run", ...flags, "--skip-unapproved", "hello"], { OXBOW_PROVIDER: "offline" });
      expect([code, existsSync(join(cwd, "ran"))]).toEqual([0, false]);
    }
  });

  verifies(
    ["P10", "P11"],
    "may change in words: the run goes on, and the person sees the difference once",
    async () => {
      const mock = await startMockModel({ script: "reply times=any\n  text: done\n" });
      try {
        await rm(join(cwd, ".oxbow"), { recursive: true });
        await approve(cwd, { home });
        const env = providerEnvironment("anthropic", mock.url);
        await writeFile(join(cwd, "AGENTS.md"), "Be brief.\n");
        const changed = await run(["run", "hi"], env);
        expect(changed).toMatchObject({ code: 0, stdout: "done\n" });
        expect(changed.stderr).toContain("AGENTS.md changed in words since it was approved, and is used as it is now:");
        expect(changed.stderr).toMatch(/-Be kind\.\n.*\+Be brief\./);
        const body = JSON.stringify(mock.requests[0]?.body);
        expect(body).toContain("Be brief.");
        expect(body).not.toMatch(/changed in words|Be kind/);
        expect((await run(["run", "hi"], env)).stderr).not.toContain("changed in words");
        await writeFile(join(cwd, "AGENTS.md"), "Be brief. See [this](setup).\n");
        expect(await run(["run", "hi"], env)).toMatchObject({ code: 5 });
        expect(mock.requests).toHaveLength(2);
      } finally {
        await mock.close();
      }
    },
  );

  verifies(["P11"], "can be approved elsewhere and come as a lock file", async () => {
    const empty = await temporaryFolder();
    const lock = join(home, "ci.lock");
    const emitted = await oxbow(["ack", "--emit-lockfile", lock], { cwd: empty, env: { OXBOW_HOME: home } });
    expect(emitted.code).toBe(0);
    expect((await run(["verify-ack"], { OXBOW_APPROVED_LOCK: lock })).code).toBe(5);
    expect(
      (await oxbow(["verify-ack"], { cwd: empty, env: { OXBOW_HOME: home, OXBOW_APPROVED_LOCK: lock } })).code,
    ).toBe(0);
  });
});
