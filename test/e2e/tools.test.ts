import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { plainText } from "../../src/protocol/content.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { survivors } from "../support/survivors.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

/** Each reply is one tool call; the answer is the results in order. */
async function callTools(cwd: string, calls: readonly (readonly [string, object])[]) {
  const replies = calls.map(([tool, args]) => `reply\n  tool ${tool} ${JSON.stringify(args)}\n`);
  const mock = await startMockModel({ script: `${replies.join("")}reply\n  text: done\n` });
  mocks.push(mock);
  const args = ["run", "go", "--permission-mode", "allow", "--stream-events"];
  const { stdout, code } = await oxbow(args, { env: providerEnvironment("anthropic", mock.url), cwd });
  expect(code).toBe(0);
  expect(mock.failures).toEqual([]);
  return envelopes(stdout).flatMap((event) =>
    event.kind === "ToolResult" ? [{ ...event.payload, text: plainText(event.payload.content) }] : [],
  );
}

describe("the tools, called by a model through the program", () => {
  verifies(["T1", "T5"], "edit and patch files, under our names and those of other harnesses", async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "poem.txt"), "one\r\ntwo\r\nthree\r\n");
    const results = await callTools(cwd, [
      ["read_file", { file_path: "poem.txt" }],
      ["str_replace", { file_path: "poem.txt", old_str: "two", new_str: "zwei" }],
      [
        "edit",
        {
          path: "poem.txt",
          edits: [
            { old: "one", new: "eins" },
            { old: "three", new: "drei" },
          ],
        },
      ],
      ["apply_patch", { patch: "*** Begin Patch\n*** Add File: new.txt\n+fresh\n*** End Patch" }],
      ["list_dir", {}],
    ]);
    expect(results.map((result) => result.status)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
    expect(await readFile(join(cwd, "poem.txt"), "utf8")).toBe("eins\r\nzwei\r\ndrei\r\n");
    expect(await readFile(join(cwd, "new.txt"), "utf8")).toBe("fresh\n");
    expect(results[4]?.text).toContain("new.txt");
    expect(results[2]?.details?.diff).toContain("+eins");
  });

  verifies(
    ["T3", "T5"],
    "refuse what is outside, what was not read, and what does not match, and change nothing",
    async () => {
      const cwd = await temporaryFolder();
      const outside = await temporaryFolder();
      await writeFile(join(outside, "other.txt"), "theirs\n");
      await writeFile(join(cwd, "mine.txt"), "mine\nmine\n");
      const results = await callTools(cwd, [
        ["read", { path: join(outside, "other.txt") }],
        ["write", { path: "../escape.txt", content: "x" }],
        ["write", { path: "mine.txt", content: "overwritten\n" }],
        ["edit", { path: "mine.txt", edits: [{ old: "mine", new: "yours" }] }],
        ["edit", { path: "mine.txt", edits: [{ old: "nothing like this", new: "x" }] }],
      ]);
      expect(results.map((result) => result.status)).toEqual(["denied", "denied", "error", "error", "error"]);
      expect(results[0]?.text).not.toContain("theirs");
      expect(results[2]?.text).toMatch(/read/i);
      expect(results[3]?.text).toMatch(/1[\s\S]*2/);
      expect(await readFile(join(cwd, "mine.txt"), "utf8")).toBe("mine\nmine\n");
    },
  );

  verifies(
    ["T6"],
    "run commands in the background and read their output later; nothing survives the session",
    async () => {
      const cwd = await temporaryFolder();
      const results = await callTools(cwd, [
        ["bash", { command: "echo ready; exec sleep 86397", run_in_background: true }],
        ["background", {}],
        ["bash", { command: "exit 3" }],
      ]);
      expect(results.map((result) => result.status)).toEqual(["ok", "ok", "error"]);
      expect(results[1]?.text).toContain("sleep 86397");
      expect(results[2]?.details?.exit_code).toBe(3);
      expect(survivors("sleep 86397")).toEqual([]);
    },
  );
});
