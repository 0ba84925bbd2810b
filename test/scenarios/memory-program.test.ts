/** `oxbow memory` as people type it. */
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { temporaryFolder } from "../support/program.js";
import { oxbowHere } from "../support/program-here.js";
import { verifies } from "../verifies.js";

describe("oxbow memory", () => {
  verifies(["X4"], "adds, lists, edits in an editor, logs and forgets; agents only read", async () => {
    const [home, cwd, other] = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()];
    const run = (args: readonly string[], env: Record<string, string> = {}, at = cwd) =>
      oxbowHere(["memory", ...args], { cwd: at, env: { OXBOW_HOME: home, ...env } });
    expect((await run(["list"])).stdout).toBe(
      'No memories yet. Say "remember that …" to the model, or oxbow memory add TEXT.\n',
    );
    expect((await run(["add", "Likes tea in the morning", "--name", "tea"])).stdout).toBe("Saved as user/tea.\n");
    const added = await run(["add", "--type", "project", "Ships on\nTuesdays", "--tag", "release", "--json"]);
    expect(JSON.parse(added.stdout)).toMatchObject({ name: "ships-on-tuesdays", scope: "project", tags: ["release"] });
    expect((await run(["list", "--json"])).stdout).toContain('"name": "ships-on-tuesdays"');
    // Another folder is another project.
    expect((await run(["list", "--json"], {}, other)).stdout).not.toContain("ships-on-tuesdays");
    expect((await run(["show", "ships-on-tuesdays"])).stdout).toContain("Ships on\nTuesdays\n");
    expect((await run(["find", "releases"])).stdout).toBe("project/ships-on-tuesdays: Ships on Tuesdays\n");

    const editor = join(cwd, "editor");
    await writeFile(editor, `#!/bin/sh\nsed -i "$EXPRESSION" "$1"\n`);
    await chmod(editor, 0o755);
    const edited = await run(["edit", "tea"], { EDITOR: editor, EXPRESSION: "s/tea/coffee/" });
    expect(edited).toMatchObject({ code: 0, stdout: "Changed user/tea.\n" });
    const broken = await run(["edit", "tea"], { EDITOR: editor, EXPRESSION: "s/^type: user/type: wish/" });
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining("is not used: type: expected user") });
    expect((await run(["list"])).stdout).toMatch(/Not used:\n.*tea\.md: type: expected/);
    const folder = join(home, "data", "memory", "user");
    await writeFile(join(folder, "broken.md"), "---\nnot closed\n");
    expect((await run(["forget", "broken"])).stdout).toBe("Forgot user/broken.\n");
    const mended = await run(["edit", "user/tea"], { EDITOR: editor, EXPRESSION: "s/wish/user/" });
    expect(mended.stdout).toBe("Changed user/tea.\n");
    const index = await readFile(join(home, "data", "memory", "user", "MEMORY.md"), "utf8");
    expect(index).toBe("# Memory\n\n- [tea](tea.md) — Likes coffee in the morning\n");

    const agent = { OXBOW_AGENT: "sess_x" };
    expect((await run(["log"])).stdout).toMatch(/^\S+ {2}update {2}user\/tea {2}by the user\n/);
    expect((await run(["forget", "tea"], agent)).code).not.toBe(0);
    expect((await run(["forget", "tea"])).stdout).toBe("Forgot user/tea.\n");
    expect(await run(["forget", "tea"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There is no memory 'tea'."),
    });
  });
});
