/** Shows which modules run during a turn, by the counts of V8. */

import { mkdtemp, rm } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { environment } from "../../src/main/env.js";
import { startMockModel } from "../../src/testkit/index.js";
import { hostEngine, turnOf } from "../support/hosted-engine.js";
import { verifies } from "../verifies.js";

const SCRIPT = `
reply
  tool ls {}
reply
  text: Done.
loop
`;

/** The modules of src in which a function ran since the last look. */
async function running(inspector: Session): Promise<readonly string[]> {
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  const ran = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
  return ran.flatMap(({ url }) => /\/(src\/[^?]+\.ts)/.exec(url)?.[1] ?? []);
}

describe("a turn", () => {
  verifies(["L2"], "runs no module of src/main", async () => {
    const base = await mkdtemp(join(tmpdir(), "oxbow-test-"));
    const mock = await startMockModel({ script: SCRIPT });
    const { engine, connect } = await hostEngine(base, mock, { flags: ["--permission-mode", "allow"] });
    const inspector = new Session();
    try {
      const client = connect();
      const reply = await client.send("CreateSession", {});
      if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
      inspector.connect();
      await inspector.post("Profiler.enable");
      await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
      // A module of src/main that runs is seen.
      environment();
      expect(await running(inspector)).toContain("src/main/env.ts");
      await turnOf(client, reply.session, "go");
      const modules = await running(inspector);
      expect(modules).toContain("src/engine/loop.ts");
      expect(modules).toContain("src/chain/stages.ts");
      expect(modules.filter((module) => module.startsWith("src/main/"))).toEqual([]);
      expect(modules.filter((module) => module.startsWith("src/cli/"))).toEqual([]);
    } finally {
      inspector.disconnect();
      await engine.close();
      await mock.close();
      await rm(base, { recursive: true, force: true });
    }
  });
});
