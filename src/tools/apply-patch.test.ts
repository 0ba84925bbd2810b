import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ToolOutcome } from "../engine/ports.js";
import { resultText } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { createApplyPatchTool } from "./apply-patch.js";
import { Workspace } from "./workspace.js";

let base: string;
let root: string;
let workspace: Workspace;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "apply-patch-")));
  root = join(base, "ws");
  await mkdir(root);
  await mkdir(join(base, "out"));
  workspace = await Workspace.open(root);
});

afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

async function put(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

/** Every file and folder under the root, with the files' contents. */
async function tree(): Promise<Record<string, string>> {
  const out: Record<string, string> = {};
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    out[path.slice(root.length + 1)] = entry.isFile() ? await readFile(path, "utf8") : "(folder)";
  }
  return out;
}

function run(args: JsonObject, signal = new AbortController().signal): Promise<ToolOutcome> {
  return createApplyPatchTool(workspace).run(args, { signal, progress() {} });
}

const envelope = (body: string) => `*** Begin Patch\n${body}\n*** End Patch`;

async function applied(body: string): Promise<ToolOutcome> {
  const outcome = await run({ patch: envelope(body) });
  expect(outcome.status, resultText(outcome.content)).toBe("ok");
  return outcome;
}

async function refused(body: string): Promise<string> {
  const before = await tree();
  const outcome = await run({ patch: envelope(body) });
  expect(outcome.status).toBe("error");
  expect(await tree()).toEqual(before);
  return resultText(outcome.content);
}

describe("[T1] apply_patch", () => {
  it("adds, updates, deletes and moves files in one go", async () => {
    await put({ "edit.txt": "one\ntwo\n", "gone.txt": "x\n", "old/name.txt": "a\nb\n" });
    const outcome = await applied(
      [
        "*** Add File: new/deep/file.txt",
        "+hello",
        "*** Update File: edit.txt",
        "@@",
        "-two",
        "+2",
        "*** Delete File: gone.txt",
        "*** Update File: old/name.txt",
        "*** Move to: moved/name.txt",
        "@@",
        " a",
        "-b",
        "+B",
      ].join("\n"),
    );
    expect(await tree()).toEqual({
      "edit.txt": "one\n2\n",
      moved: "(folder)",
      "moved/name.txt": "a\nB\n",
      new: "(folder)",
      "new/deep": "(folder)",
      "new/deep/file.txt": "hello\n",
      old: "(folder)",
    });
    expect(resultText(outcome.content)).toBe(
      [
        "Patch applied:",
        "A new/deep/file.txt (+1 -0)",
        "M edit.txt (+1 -1)",
        "D gone.txt (+0 -1)",
        "R old/name.txt to moved/name.txt (+1 -1)",
      ].join("\n"),
    );
    expect(outcome.details).toMatchObject({ added: 3, removed: 3 });
    expect(outcome.details?.diff).toContain("edit.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2");
  });

  it("lets later parts see what earlier ones made", async () => {
    await put({ "a.txt": "one\n" });
    await applied(
      "*** Update File: a.txt\n@@\n-one\n+two\n*** Update File: a.txt\n@@\n-two\n+three\n*** Add File: b.txt\n+x\n*** Update File: b.txt\n@@\n x\n+y",
    );
    expect(await tree()).toEqual({ "a.txt": "three\n", "b.txt": "x\ny\n" });
  });

  it("renames without changes, and overwrites what a move or an addition names", async () => {
    await put({ "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
    const patch = "*** Update File: a.txt\n*** Move to: b.txt\n*** Add File: c.txt\n+C";
    expect(await refused(patch)).toContain("b.txt exists and has not been read");
    await workspace.readText("b.txt");
    expect(await refused(patch)).toContain("c.txt exists and has not been read");
    await workspace.readText("c.txt");
    await applied(patch);
    expect(await tree()).toEqual({ "b.txt": "a\n", "c.txt": "C\n" });
  });

  it("changes nothing when any part of it fails", async () => {
    await put({ "a.txt": "one\n" });
    const add = "*** Add File: new.txt\n+x\n*** Update File: a.txt\n@@\n-one\n+1\n";
    expect(await refused(`${add}*** Update File: missing.txt\n@@\n-x\n+y`)).toContain("missing.txt does not exist");
    expect(await refused(`${add}*** Delete File: nothing`)).toContain("does not exist");
    const message = await refused(`${add}*** Update File: a.txt\n@@\n-two\n+2`);
    expect(message).toContain("a.txt: The change at line 9 of the patch: the file does not have these lines:\n  two");
    expect(message).toContain("No file was changed.");
    expect(await refused("*** Update File: a.txt\n@@\n one")).toContain("changes nothing");
    expect(await refused("*** Delete File: a.txt\n*** Update File: a.txt\n@@\n-one\n+1")).toContain(
      "was deleted by an earlier part",
    );
  });

  it("does not follow links, inside or out", async () => {
    await put({ "real.txt": "original\n", "source.txt": "original\n", "dir/file.txt": "original\n" });
    await writeFile(join(base, "out/victim.txt"), "original\n");
    await symlink(join(root, "real.txt"), join(root, "inner.txt"));
    await symlink(join(root, "dir"), join(root, "linked"));
    await symlink(join(base, "out"), join(root, "outside"));
    await symlink(join(base, "out/victim.txt"), join(root, "victim.txt"));
    const change = "@@\n-original\n+changed";
    for (const path of ["inner.txt", "linked/file.txt", "outside/victim.txt", "victim.txt"]) {
      await refused(`*** Update File: ${path}\n${change}`);
      await refused(`*** Delete File: ${path}`);
      await refused(`*** Add File: ${path}\n+changed`);
      await refused(`*** Update File: source.txt\n*** Move to: ${path}\n${change}`);
    }
    await refused("*** Add File: outside/new/nested.txt\n+x");
    expect(await refused(`*** Update File: inner.txt\n${change}`)).toContain("Name the file itself: real.txt");
    expect(await readdir(join(base, "out"))).toEqual(["victim.txt"]);
    await applied(`*** Update File: ${root}/real.txt\n${change}`);
  });

  it("deletes what is not text, but does not change it", async () => {
    await put({ "a.bin": Buffer.from([0, 1, 2]), "b.bin": Buffer.from([0, 1, 2]), "dir/x": "x\n" });
    expect(await refused("*** Update File: a.bin\n@@\n-x\n+y")).toContain("is not a text file");
    expect(await refused("*** Add File: a.bin\n+y")).toContain("is not a text file");
    expect(await refused("*** Delete File: dir")).toContain("folder");
    await applied("*** Delete File: a.bin");
    expect(Object.keys(await tree())).not.toContain("a.bin");
  });

  it("takes a unified diff, with new, deleted and renamed files", async () => {
    await put({ "a.txt": "one\ntwo\n", "b.txt": "b\n", "c d.txt": "c\n" });
    const parts = [
      "diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -7,2 +7,2 @@ far\n one\n-two\n+2\n",
      "diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+n\n",
      "diff --git a/b.txt b/b.txt\ndeleted file mode 100644\n--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n",
      'diff --git "a/c d.txt" "b/e.txt"\nsimilarity index 100%\nrename from c d.txt\nrename to e.txt\n',
    ];
    expect((await run({ patch: parts.join("") })).status).toBe("ok");
    expect(await tree()).toEqual({ "a.txt": "one\n2\n", "n.txt": "n\n", "e.txt": "c\n" });
  });

  it("refuses a diff whose place is not certain", async () => {
    await put({ "a.txt": "one\ntwo\n" });
    for (const [patch, why] of [
      ["--- a/a.txt\n+++ b/a.txt\n@@ -1,0 +2 @@\n+x\n", "only adds lines"],
      ["--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-three\n+x\n", "does not have these lines"],
      [
        "diff --git a/a.bin b/a.bin\nindex 1..2\nBinary files a/a.bin and b/a.bin differ\n--- a/x\n+++ b/x\n@@\n",
        "binary",
      ],
      ["diff --git a/a.txt b/b.txt\nsimilarity index 100%\ncopy from a.txt\ncopy to b.txt\n", "copy"],
      ["diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n", "has no changes"],
    ] as const)
      expect(resultText((await run({ patch })).content), patch).toContain(why);
    expect(await tree()).toEqual({ "a.txt": "one\ntwo\n" });
  });

  it("does nothing after a cancellation", async () => {
    const outcome = await run({ patch: envelope("*** Add File: a\n+x") }, AbortSignal.abort());
    expect(outcome.status).toBe("cancelled");
    expect(await tree()).toEqual({});
  });
});

describe("[T5] apply_patch and the files", () => {
  it("keeps byte order mark, line endings and mode, also in a moved file", async () => {
    await put({ "a.txt": "\ufeffone\r\ntwo\r\n", "b.sh": "\ufeffone\r\ntwo\r\n" });
    await chmod(join(root, "b.sh"), 0o755);
    await applied("*** Update File: a.txt\n@@\n-two\n+2\n+3\n*** Update File: b.sh\n*** Move to: c.sh\n@@\n-two\n+2");
    expect(await tree()).toEqual({ "a.txt": "\ufeffone\r\n2\r\n3\r\n", "c.sh": "\ufeffone\r\n2\r\n" });
    expect((await stat(join(root, "c.sh"))).mode & 0o777).toBe(0o755);
  });

  it("reverts its writes when a later write is refused", async () => {
    await put({ "a.txt": "one\r\ntwo\n", "gone.txt": "x\n", "z.txt": "one\n" });
    await workspace.readText("z.txt");
    await put({ "z.txt": "one\nmore\n" });
    const message = await refused(
      "*** Update File: a.txt\n@@\n-two\n+2\n*** Add File: new/deep/b.txt\n+x\n*** Delete File: gone.txt\n*** Update File: z.txt\n@@\n-one\n+1",
    );
    expect(message).toContain("has changed since it was read");
  });

  it("puts deleted files back when a later deletion is refused", async () => {
    await put({ "a.sh": "x\n", "z.txt": "one\n" });
    await chmod(join(root, "a.sh"), 0o700);
    await workspace.readText("z.txt");
    await put({ "z.txt": "two\n" });
    expect(await refused("*** Delete File: a.sh\n*** Delete File: z.txt")).toContain("has changed since it was read");
    expect((await stat(join(root, "a.sh"))).mode & 0o777).toBe(0o700);
  });
});

it("a patch that cannot be read is an error before anyone is asked", () => {
  const { check } = createApplyPatchTool(workspace);
  const add = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n";
  expect(check?.({ patch: add })).toEqual([]);
  expect(check?.({ patch: "words" })).toEqual([expect.stringMatching(/[^.]$/)]);
  expect(check?.({})).toEqual([expect.stringContaining("patch")]);
});
