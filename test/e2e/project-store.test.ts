import { chmod, mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { approve } from "../support/approve.js";
import { oxbow, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

async function bed() {
  const home = await temporaryFolder();
  const outer = await temporaryFolder();
  const cwd = join(outer, "project");
  await mkdir(join(cwd, ".git"), { recursive: true });
  const store = join(cwd, ".oxbow", "sessions");
  const run = () => oxbow(["run", "hello"], { cwd, env: { OXBOW_HOME: home, OXBOW_PROVIDER: "offline" } });
  const database = async () => (await readdir(join(home, "data"))).includes("sessions.db");
  return { home, outer, cwd, store, run, database };
}

describe("a folder for sessions that a project brings", () => {
  verifies(["S7", "P10"], "is used once a person has approved it, and the encrypted database until then", async () => {
    const { home, cwd, store, run, database } = await bed();
    await mkdir(store, { recursive: true });
    const refused = await run();
    expect([refused.code, refused.stderr]).toEqual([0, expect.stringContaining("is not used before you approve it")]);
    expect([await readdir(store), await database()]).toEqual([[], true]);
    await approve(cwd, { home });
    expect((await run()).stderr).not.toContain("is not used");
    expect((await readdir(store)).filter((name) => name.startsWith("sess_"))).toHaveLength(1);
  });

  verifies(["S7"], "does not count where OXBOW_SESSIONS names a folder for all sessions", async () => {
    const { home, cwd, store } = await bed();
    await mkdir(store, { recursive: true });
    await approve(cwd, { home });
    const own = await temporaryFolder();
    const env = { OXBOW_HOME: home, OXBOW_PROVIDER: "offline", OXBOW_SESSIONS: own };
    expect(await oxbow(["run", "hello"], { cwd, env })).toMatchObject({ code: 0 });
    expect([await readdir(store), await readdir(own)]).toEqual([[], expect.arrayContaining(["sessions.db"])]);
  });

  verifies(
    ["S7", "P10"],
    "is never behind a link, above the repository, or in a folder that all users can write",
    async () => {
      const linked = await bed();
      const elsewhere = join(linked.outer, "elsewhere");
      await mkdir(elsewhere);
      await mkdir(join(linked.cwd, ".oxbow"));
      await symlink(elsewhere, linked.store);
      const above = await bed();
      const abovePlace = join(above.outer, ".oxbow", "sessions");
      await mkdir(abovePlace, { recursive: true });
      const open = await bed();
      await mkdir(open.store, { recursive: true });
      await chmod(open.store, 0o777);
      for (const { home, cwd } of [linked, above, open]) await approve(cwd, { home });
      const results = await Promise.all([linked, above, open].map(({ run }) => run()));
      expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
      expect([await readdir(elsewhere), await readdir(abovePlace), await readdir(open.store)]).toEqual([[], [], []]);
      expect(results[0]?.stderr).toContain("leads out of the folder");
      expect(results[2]?.stderr).toContain("is writable by everyone");
      expect(await Promise.all([linked, above, open].map(({ database }) => database()))).toEqual([true, true, true]);
    },
  );
});
