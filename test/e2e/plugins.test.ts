/** A plugin in the program itself: from the user's folder, with an error that it leaves to the process. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { oxbowProcess, type ProgramOptions, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const STRAY = `
export default (oxbow) => {
  oxbow.subscribe(({ kind }) => {
    if (kind === "TurnStarted") Promise.reject(new Error("left alone"));
  });
};
`;

/** A folder with one approved plugin of the user, and the mock model behind it. */
async function withPlugin(name: string, code: string, replies = [reply().text("the answer").delay(50)]) {
  const mock = await startMockModel({ script: script(replies) });
  const [cwd, home] = [await temporaryFolder(), await temporaryFolder()];
  const place = { cwd, env: { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) } };
  await mkdir(join(home, "config", "plugins"), { recursive: true });
  await writeFile(join(home, "config", "plugins", name), code);
  return { mock, cwd, home, place };
}

describe("plugins of the program", () => {
  verifies(["E4"], "an error outside a call switches the plugin off, and the run ends with its answer", async () => {
    const { mock, cwd, home, place } = await withPlugin("stray.mjs", STRAY);
    const unapproved = await oxbowProcess(["run", "hello"], place);
    expect(unapproved.code).toBe(5);
    await approve(cwd, { home });
    const { code, stdout, stderr } = await oxbowProcess(["run", "hello"], place);
    expect(stdout).toBe("the answer\n");
    expect(stderr).toContain("The plugin stray is switched off: code outside a call failed: left alone");
    expect(code).toBe(0);
    await mock.close();
  });

  verifies(["E4", "T2"], "'oxbow tools' lists the tools of approved plugins, and of their sources", async () => {
    const code = `
export default (oxbow) => {
  const inputSchema = { type: "object", properties: {} };
  const tool = (name) => ({ name, description: "Says " + name + ".", inputSchema, run: async () => ({ status: "ok", content: [] }) });
  oxbow.addTool(tool("of_its_own"));
  oxbow.addToolSource({ name: "more", list: async () => [tool("of_a_source")] });
  oxbow.onClose(() => console.error("closed"));
};
`;
    const { mock, cwd, home, place } = await withPlugin("more.mjs", code);
    expect((await oxbowProcess(["tools"], place)).stdout).not.toContain("of_its_own");
    await approve(cwd, { home });
    const { stdout, stderr } = await oxbowProcess(["tools"], place);
    expect(stdout).toMatch(/Tools of plugins:\nof_its_own {2}Says of_its_own\. .*more\.mjs\)\nof_a_source {2}Says/);
    expect(stderr).toContain("closed");
    await mock.close();
  });

  const called = "it called process.exit, which a plugin may not do";
  const really = called.replace("exit", "reallyExit");
  for (const [where, added, said] of [
    ["register", "process.exit(0);", `is left out: ${called}.`],
    [
      "a hook",
      'oxbow.addHook("start", { name: "45-end", run: () => process.exit(0) });',
      `The plugin ends is switched off: start/45-end failed: ${called}`,
    ],
    [
      "a call of Node's own",
      'oxbow.addHook("start", { name: "45-end", run: () => process.reallyExit(0) });',
      `The plugin ends is switched off: start/45-end failed: ${really}`,
    ],
    [
      "a timer",
      'oxbow.subscribe(({ kind }) => { if (kind === "TurnStarted") setTimeout(() => process.exit(0), 1); });',
      `The plugin ends is switched off: code outside a call failed: ${called}`,
    ],
  ] as const) {
    verifies(["E4"], `a process.exit in ${where} does not end the program, and names the plugin`, async () => {
      const { mock, cwd, home, place } = await withPlugin("ends.mjs", `export default (oxbow) => { ${added} };`);
      await approve(cwd, { home });
      const { code, stdout, stderr } = await oxbowProcess(["run", "hello"], place);
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: "the answer\n",
        stderr: expect.stringContaining(said),
      });
      await mock.close();
    });
  }

  for (const [what, loop] of [
    ["a loop", "for (;;) {}"],
    ["promises without an end", "return (async () => { for (;;) await null; })();"],
  ] as const) {
    verifies(["E4"], `${what} in a plugin ends the program with the plugin's name, also after SIGTERM`, async () => {
      const code = `import { writeSync } from "node:fs";
        export default (oxbow) => {
          oxbow.addHook("start", { name: "45-loop", run: () => { writeSync(2, "LOOPING\\n"); ${loop} } });
        };`;
      const { mock, cwd, home, place } = await withPlugin("spin.mjs", code);
      await approve(cwd, { home });
      let asked = false;
      const onOutput: ProgramOptions["onOutput"] = ({ stderr }, child) => {
        if (!asked && stderr.includes("LOOPING")) asked = child.kill("SIGTERM");
      };
      const result = await oxbowProcess(["run", "hello"], { ...place, onOutput });
      expect(asked).toBe(true);
      expect(result.stdout).toBe("");
      expect(result.stderr).toMatch(
        /LOOPING\noxbow: (?:The plugin spin \(\S+:\d+:\d+\)|Code of a plugin \(one of spin\)) held the program up for 5 seconds, so Oxbow ends\. The sessions can be resumed\.\n$/,
      );
      await mock.close();
    });
  }

  const never = "new Promise(() => {})";
  for (const [where, added] of [
    [
      "a tool",
      `oxbow.addTool({ name: "wait", description: "x", mutating: false, inputSchema: { type: "object" }, run: () => ${never} });`,
    ],
    [
      "a result that is no promise",
      'oxbow.addTool({ name: "wait", description: "x", mutating: false, inputSchema: { type: "object" }, run: () => ({ then() {} }) });',
    ],
    ["a tool link", `oxbow.addToolLink({ name: "45-wait", run: () => ${never} });`],
    ["a request link", `oxbow.addRequestLink({ name: "45-wait", run: () => ${never} });`],
  ] as const) {
    verifies(
      ["E4"],
      `an answer that never comes, of ${where}, does not end the program as if all were well`,
      async () => {
        const made = await withPlugin("waits.mjs", `export default (oxbow) => { ${added} };`, [
          reply().tool("wait", {}).tool("ls", {}),
          reply().text("never"),
        ]);
        await approve(made.cwd, { home: made.home });
        const { code, stdout, stderr } = await oxbowProcess(["run", "--permission-mode", "allow", "hello"], made.place);
        expect(stderr).toContain(
          "Code of a plugin (one of waits) never answers: nothing is left that it could wait for. Oxbow stops the turn.",
        );
        expect([code, stdout]).toEqual([130, ""]);
        await made.mock.close();
      },
    );
  }
});
