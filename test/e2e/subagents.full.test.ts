/** Subagents of the program itself: what a kill leaves, and the list of types. */
import { watch } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import type { SessionId } from "../../src/protocol/ids.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

interface Listed {
  readonly id: SessionId;
  readonly parent?: { readonly session: SessionId };
}

describe("subagents of the program", () => {
  verifies(
    ["L17", "S3"],
    "a kill leaves whole logs, and the call of the subagent is reported as any other",
    async () => {
      const mock = await startMockModel({
        script: script([
          reply().when("begin").tool("agent", { prompt: "work", description: "long work" }),
          reply().when("work").tool("bash", { command: "touch here; sleep 30" }),
          reply().text("resumed"),
        ]),
      });
      const [cwd, home] = [await temporaryFolder(), await temporaryFolder()];
      const place = { cwd, env: { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) } };
      const killed = await oxbow(
        ["run", "--permission-mode", "allow", "--sandbox", "off", "--stream-events", "begin"],
        {
          ...place,
          onStart: (child) => {
            const watcher = watch(cwd, (_event, name) => {
              if (name === "here") child.kill("SIGKILL");
            });
            child.on("exit", () => watcher.close());
          },
        },
      );
      expect(killed.signal).toBe("SIGKILL");
      const session = envelopes(killed.stdout)[0]?.session ?? "";
      const listed = await oxbow(["session", "list", "--subagents", "--json"], place);
      const [own, child] = JSON.parse(listed.stdout) as Listed[];
      expect(own?.id).toBe(session);
      expect(child?.parent?.session).toBe(session);
      expect((await oxbow(["session", "verify", "--all"], place)).code).toBe(0);
      const shown = await oxbow(["session", "show", child?.id ?? ""], place);
      expect(shown.stdout).toContain("touch here");

      const asked = await oxbow(["run", "--resume", session, "go on"], place);
      expect(asked.stderr).toMatch(/agent '.*was running/);
      const resumed = await oxbow(["run", "--resume", session, "--orphan", "failed", "go on"], place);
      expect(resumed.stdout).toContain("resumed");
      await mock.close();
    },
  );

  verifies(["L17"], "'oxbow agents' lists the types, where they are and what they shadow", async () => {
    const [cwd, home] = [await temporaryFolder(), await temporaryFolder()];
    await mkdir(join(home, "config", "agents"), { recursive: true });
    await writeFile(join(home, "config", "agents", "explore.md"), "---\ndescription: my own\n---\nLook.\n");
    await approve(cwd, { home });
    const { stdout, stderr } = await oxbow(["agents", "--json"], { cwd, env: { OXBOW_HOME: home } });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject([
      { name: "explore", scope: "user", description: "my own", shadows: ["built-in"] },
      { name: "general", scope: "built-in" },
    ]);
  });
});
