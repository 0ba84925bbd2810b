/** A plugin in the program itself: from the user's folder, with an error that it leaves to the process. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { oxbowProcess, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const STRAY = `
export default (oxbow) => {
  oxbow.subscribe(({ kind }) => {
    if (kind === "TurnStarted") Promise.reject(new Error("left alone"));
  });
};
`;

describe("plugins of the program", () => {
  verifies(["E4"], "an error outside a call switches the plugin off, and the run ends with its answer", async () => {
    const mock = await startMockModel({ script: script([reply().text("the answer").delay(50)]) });
    const [cwd, home] = [await temporaryFolder(), await temporaryFolder()];
    const place = { cwd, env: { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) } };
    await mkdir(join(home, "config", "plugins"), { recursive: true });
    await writeFile(join(home, "config", "plugins", "stray.mjs"), STRAY);
    const unapproved = await oxbowProcess(["run", "hello"], place);
    expect(unapproved.code).toBe(5);
    await approve(cwd, { home });
    const { code, stdout, stderr } = await oxbowProcess(["run", "hello"], place);
    expect(stdout).toBe("the answer\n");
    expect(stderr).toContain("The plugin stray is switched off: code outside a call failed: left alone");
    expect(code).toBe(0);
    await mock.close();
  });
});
