import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { schemaProblems } from "../base/json-schema.js";
import type { Tool, ToolOutcome } from "../engine/ports.js";
import { readCall } from "../engine/read-call.js";
import { resultText } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { createEditTool } from "./edit.js";
import { Workspace } from "./workspace.js";

let base: string;
let root: string;
let workspace: Workspace;
let tool: Tool;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "edit-")));
  root = join(base, "ws");
  await mkdir(root);
  await mkdir(join(base, "out"));
  workspace = await Workspace.open(root);
  tool = createEditTool(workspace);
});

afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

const put = (path: string, content: string | Buffer) => writeFile(join(root, path), content);
const get = (path: string) => readFile(join(root, path), "utf8");

function run(args: JsonObject): Promise<ToolOutcome> {
  return tool.run(args, { signal: new AbortController().signal, progress() {} });
}

async function failure(args: JsonObject): Promise<string> {
  const outcome = await run(args);
  expect(outcome.status).toBe("error");
  return resultText(outcome.content);
}

describe("[T1] edit", () => {
  it("changes a file and reports counts for the model and a diff for the screen", async () => {
    await put("a.txt", "one\ntwo\nthree\n");
    const outcome = await run({ path: "a.txt", edits: [{ old: "two", new: "2\n2.5" }] });
    expect(outcome.status).toBe("ok");
    expect(await get("a.txt")).toBe("one\n2\n2.5\nthree\n");
    expect(resultText(outcome.content)).toBe("Edited a.txt: 1 replacement (+2 -1 lines).");
    expect(outcome.details).toEqual({
      path: "a.txt",
      created: false,
      replacements: 1,
      added: 2,
      removed: 1,
      diff: "@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three",
    });
  });

  it("makes all edits or none", async () => {
    await put("a.txt", "one\ntwo\n");
    const message = await failure({
      path: "a.txt",
      edits: [
        { old: "one", new: "1" },
        { old: "nine", new: "9" },
      ],
    });
    expect(message).toContain("edits[1].old does not occur");
    expect(await get("a.txt")).toBe("one\ntwo\n");
  });

  it("creates a file from an empty quotation, also over an empty one, and never over text", async () => {
    expect((await run({ path: "sub/new.txt", edits: [{ old: "", new: "x\r\n" }] })).status).toBe("ok");
    expect(await get("sub/new.txt")).toBe("x\r\n");
    await put("empty.txt", "");
    expect((await run({ path: "empty.txt", edits: [{ old: "", new: "y" }] })).status).toBe("ok");
    expect(await get("empty.txt")).toBe("y");
    expect(await failure({ path: "empty.txt", edits: [{ old: "", new: "z" }] })).toContain(
      "is empty, but the file is not",
    );
    expect(await get("empty.txt")).toBe("y");
    expect(await failure({ path: "none.txt", edits: [{ old: "", new: "" }] })).toContain("does not exist");
  });

  it("says what is wrong with a path", async () => {
    await mkdir(join(root, "dir"));
    await put("binary", Buffer.from([1, 0, 2]));
    expect(await failure({ path: "dir", edits: [{ old: "a", new: "b" }] })).toContain("folder");
    expect(await failure({ path: "missing.txt", edits: [{ old: "a", new: "b" }] })).toContain("does not exist");
    expect(await failure({ path: "binary", edits: [{ old: "a", new: "b" }] })).toContain("binary");
    expect(await failure({ path: "../out/x", edits: [{ old: "", new: "b" }] })).toContain("outside");
  });

  it("does not leave the workspace over a link", async () => {
    await writeFile(join(base, "out/victim.txt"), "original\n");
    await symlink(join(base, "out/victim.txt"), join(root, "link.txt"));
    await failure({ path: "link.txt", edits: [{ old: "original", new: "changed" }] });
    expect(await readFile(join(base, "out/victim.txt"), "utf8")).toBe("original\n");
  });

  it("loses neither of two edits made at once", async () => {
    await put("a.txt", "top\nmiddle\nbottom\n");
    const outcomes = await Promise.all([
      run({ path: "a.txt", edits: [{ old: "top", new: "TOP" }] }),
      run({ path: "./a.txt", edits: [{ old: "bottom", new: "BOTTOM" }] }),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["ok", "ok"]);
    expect(await get("a.txt")).toBe("TOP\nmiddle\nBOTTOM\n");
  });

  it("accepts the argument names of other harnesses", async () => {
    const variants: readonly JsonObject[] = [
      { path: "a.txt", old: "x", new: "y" },
      { file_path: "a.txt", old_string: "x", new_string: "y" },
      { path: "a.txt", old_str: "x", new_str: "y", replace_all: true },
      { filePath: "a.txt", oldString: "x", newString: "y", replaceAll: "true" },
      { path: "a.txt", edits: [{ oldText: "x", newText: "y" }] },
      { path: "a.txt", edits: '[{"old":"x","new":"y"}]' },
      { path: "a.txt", edits: { old: "x", new: "y" } },
    ];
    for (const args of variants) {
      await put("a.txt", "x\n");
      const read = readCall({ list: () => [tool], find: () => undefined }, { tool: "Edit", args });
      expect(read, JSON.stringify(args)).toMatchObject({ tool: "edit", notes: [] });
      expect(schemaProblems(tool.inputSchema, read.args), JSON.stringify(args)).toEqual([]);
      expect((await run(read.args)).status, JSON.stringify(args)).toBe("ok");
      expect(await get("a.txt")).toBe("y\n");
    }
  });

  it("names the argument that is missing or wrong", async () => {
    expect(await failure({ edits: [{ old: "a", new: "b" }] })).toContain('"path"');
    expect(await failure({ path: "a.txt" })).toContain('"edits"');
    expect(await failure({ path: "a.txt", edits: [{ old: "a", new: "b" }, { old: "a" }] })).toContain('"edits[1]"');
  });

  it("is described in few bytes", () => {
    const { name, description, inputSchema } = tool;
    expect(JSON.stringify({ name, description, inputSchema }).length).toBeLessThan(700);
  });
});

describe("[T5] edit and the file", () => {
  it("keeps byte order mark, line endings and mode", async () => {
    await put("a.txt", "\ufeffone\r\ntwo\r\nthree\r\n");
    await chmod(join(root, "a.txt"), 0o751);
    expect((await run({ path: "a.txt", edits: [{ old: "one\ntwo", new: "1\n2\n2.5" }] })).status).toBe("ok");
    expect(await get("a.txt")).toBe("\ufeff1\r\n2\r\n2.5\r\nthree\r\n");
    expect((await stat(join(root, "a.txt"))).mode & 0o777).toBe(0o751);
  });

  it("replaces an exact, unique quotation in a file that changed since, and says so", async () => {
    await put("a.txt", "one\ntwo\n");
    await workspace.readText("a.txt");
    await put("a.txt", "one\ntwo\nthree\n");
    const outcome = await run({ path: "a.txt", edits: [{ old: "one", new: "1" }] });
    expect(resultText(outcome.content)).toContain("had changed since you read it");
    expect(await get("a.txt")).toBe("1\ntwo\nthree\n");
    // The rest of the file is still unknown.
    await expect(workspace.writeText("a.txt", "mine\n")).rejects.toThrow("has changed since it was read");
  });

  it("is refused in a file that changed since if the quotation is not exact or not unique", async () => {
    await put("a.txt", "one  line\ntwo\n");
    await workspace.readText("a.txt");
    await put("a.txt", "one  line\ntwo\ntwo\n");
    for (const edit of [
      { old: "one line", new: "1" },
      { old: "two", new: "2", all: true },
    ])
      expect(await failure({ path: "a.txt", edits: [edit] })).toContain("has changed since it was read");
    expect(await get("a.txt")).toBe("one  line\ntwo\ntwo\n");
  });

  it("replaces exactly the number of places in count, or none", async () => {
    await put("a.txt", "a a a\n");
    expect(await failure({ path: "a.txt", edits: [{ old: "a", new: "b", count: 2 }] })).toContain(
      "occurs 3 times, not 2",
    );
    expect(await get("a.txt")).toBe("a a a\n");
    expect((await run({ path: "a.txt", edits: [{ old: "a", new: "b", count: 3 }] })).status).toBe("ok");
    expect(await get("a.txt")).toBe("b b b\n");
  });
});
