import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/program.js";
import { verifies } from "../../../test/verifies.js";
import type { ToolContext } from "../../engine/ports.js";
import { trustedPath } from "../../system/trusted-path.js";
import { createBashTool } from "../bash.js";

async function bed() {
  const base = await temporaryFolder();
  const [root, outside, output] = [join(base, "work"), join(base, "outside"), join(base, "output")];
  for (const folder of [join(root, "node_modules/.bin"), join(root, "deep"), outside, output])
    await mkdir(folder, { recursive: true });
  const plant = async (folder: string) => {
    await writeFile(join(folder, "ls"), "#!/bin/sh\necho PLANTED\n", { mode: 0o755 });
    await chmod(join(folder, "ls"), 0o755);
  };
  await Promise.all([plant(root), plant(join(root, "node_modules/.bin")), plant(join(root, "deep"))]);
  await symlink(join(root, "deep"), join(base, "linked"));
  await symlink(join(root, "ls"), join(outside, "ls"));
  return { base, root, outside, output };
}

function said(content: readonly unknown[]): string {
  return JSON.stringify(content);
}

describe("an unasked command", () => {
  verifies(["P3"], "never starts a program of the workspace, however PATH leads there", async () => {
    const { base, root, outside, output } = await bed();
    const entries: Readonly<Record<string, string>> = {
      "the current folder": ".",
      nothing: "",
      "a relative folder": "node_modules/.bin",
      "a relative folder after cd": "../deep",
      "an absolute folder": join(root, "node_modules/.bin"),
      "a detour": `${root}/deep/../deep`,
      "a link to a folder": join(base, "linked"),
      "a folder with a link": outside,
    };
    const context: ToolContext = { signal: new AbortController().signal, progress: () => {} };
    for (const [name, entry] of Object.entries(entries)) {
      const environment = { PATH: `${entry}:/usr/bin:/bin`, HOME: base };
      const bash = createBashTool({ workspaceRoot: root, environment, outputDirectory: output });
      const run = async (unasked: boolean) => {
        const outcome = await bash.run(
          { command: "cd deep; ls" },
          unasked ? { ...context, unasked: true as const } : context,
        );
        return said(outcome.content);
      };
      expect([name, await run(true)]).toEqual([name, expect.not.stringContaining("PLANTED")]);
      const isFound = name !== "a relative folder";
      if (isFound) expect([name, await run(false)]).toEqual([name, expect.stringContaining("PLANTED")]);
    }
  });

  it("keeps the folders of the system in their order, and no others than the given ones", async () => {
    const { base, root } = await bed();
    const open = join(base, "open");
    await mkdir(open);
    await chmod(open, 0o1777);
    const options = { command: "cat x", workspace: root, writable: ["/usr/local/bin"] };
    const path = `/usr/bin:${open}:${root}:/usr/local/bin:${join(base, "missing")}:/bin`;
    expect(trustedPath(path, options)).toBe("/usr/bin:/bin");
    expect(trustedPath("/usr/bin:/bin", options)).toBe("/usr/bin:/bin");
  });
});

describe("a command that a person typed", () => {
  it("is not marked as an agent's", async () => {
    const { root, output } = await bed();
    const environment = { PATH: "/usr/bin:/bin" };
    const bash = createBashTool({ workspaceRoot: root, environment, outputDirectory: output });
    const context: ToolContext = { signal: new AbortController().signal, progress: () => {} };
    const command = "echo agent=$OXBOW_AGENT.";
    const typed = await bash.run({ command, outside_sandbox: true }, { ...context, byPerson: true });
    expect(said(typed.content)).toContain("agent=.");
    expect(said((await bash.run({ command }, context)).content)).toContain("agent=1.");
  });
});
