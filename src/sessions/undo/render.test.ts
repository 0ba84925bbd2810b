import { describe, expect, it, onTestFinished } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { changesJson, renderChanges, renderUndoPlan, undoPlanJson } from "./render.js";
import { UndoPlace } from "./test-support/undo-place.js";

async function samplePlan() {
  const here = new UndoPlace({ limits: { fileBytes: 100 } });
  onTestFinished(() => here.discard());
  here.sh(
    "printf 'one\\ntwo\\nthree\\n' > a.txt; echo 1 > taken; printf '\\0\\1' > bin; head -c 200 /dev/zero > large; echo 1 > $'odd\\e[31m'",
  );
  here.turn();
  await here.bash(
    "sed -i s/two/TWO/ a.txt; echo 2 > taken; printf '\\0' > bin; rm large; mkdir d; chmod 600 $'odd\\e[31m'; echo $'\\e]0;x\\a' > d/e",
  );
  here.sh("echo mine > taken");
  return here.plan();
}

describe("an undo plan", () => {
  it("reads like this", async () => {
    expect(renderUndoPlan(await samplePlan(), { color: false })).toBe(
      [
        "Undo of turn 1: 5 changes",
        "",
        "  restore  a.txt (+1 -1)",
        "  restore  bin (1 → 2 bytes)",
        "  delete   d/",
        "  delete   d/e (+0 -1)",
        "  chmod    odd (600 → 644)",
        "",
        "Conflicts (nothing is undone until they are resolved):",
        "  taken: another program changed it since",
        "",
        "Cannot be undone:",
        "  large: there is no backup of its old content: it was too large",
        "",
        "Not covered:",
        "  Undo covers only what bash changed in files of the workspace: not changes outside it, in .git or in ignored folders.",
        "",
        "--- a.txt",
        "+++ a.txt",
        "@@ -1,3 +1,3 @@",
        " one",
        "-TWO",
        "+two",
        " three",
        "",
        "--- d/e",
        "+++ /dev/null",
        "@@ -1,1 +0,0 @@",
        "-␛]0;x␇",
      ].join("\n"),
    );
  });

  it("read forwards says what the session did, also what cannot be undone", async () => {
    const text = renderChanges(await samplePlan(), { color: false });
    expect(text.split("\n").slice(0, 7)).toEqual([
      "  changed a.txt (+1 -1)",
      "  changed bin (2 → 1 bytes)",
      "  new     d/",
      "  new     d/e (+1 -0)",
      "  deleted large (200 → 0 bytes)  (there is no backup of its old content: it was too large)",
      "  chmod   odd (644 → 600)",
      "  changed taken (+1 -1)  (another program changed it since)",
    ]);
    expect(text).toContain("--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three");
    expect(text).toContain("--- /dev/null\n+++ d/e\n@@ -0,0 +1,1 @@\n+␛]0;x␇");
    expect(changesJson(await samplePlan())).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ path: "a.txt", action: "changed", diff: expect.stringContaining("+TWO") }),
        expect.objectContaining({ path: "d/e", action: "new", added: 1, removed: 0 }),
      ]),
    });
  });

  it("has colours where they are wanted, and no other control characters", async () => {
    const text = renderUndoPlan(await samplePlan(), { color: true });
    expect(text).toContain("\u001b[32m+two\u001b[0m");
    expect(text).toContain("\u001b[31m-TWO\u001b[0m");
    expect(text.replace(/\u001b\[\d+m/g, "")).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
  });

  it("is data for programs", async () => {
    const plan = undoPlanJson(await samplePlan());
    expect(JSON.parse(JSON.stringify(plan))).toMatchObject({
      redo: false,
      turns: [{ number: 1 }],
      items: expect.arrayContaining([
        {
          path: "a.txt",
          action: "restore",
          kind: "file",
          state: "ready",
          tools: ["bash"],
          added: 1,
          removed: 1,
          diff: expect.stringContaining("+two"),
        },
        expect.objectContaining({ path: "taken", state: "conflict", reason: "another program changed it since" }),
      ]),
      notes: [expect.stringContaining("Undo covers only what bash changed")],
    });
  });

  needs("linux").it("shows bytes that are not UTF-8 as escapes", async () => {
    const here = new UndoPlace();
    onTestFinished(() => here.discard());
    here.sh("mkdir $'d\\xfe'; ln -s $'to\\xee' link");
    here.turn();
    await here.bash("echo 1 > $'d\\xfe/a\\x9b31m'; rm link");
    const plan = await here.plan();
    const shown = renderUndoPlan(plan, { color: false });
    expect(shown).toContain("delete   $'d\\xfe/a\\x9b31m' (+0 -1)");
    expect(shown).toContain("recreate link (link to $'to\\xee')");
    expect(shown.isWellFormed()).toBe(true);
    expect(JSON.stringify(undoPlanJson(plan))).not.toContain("\\ud");
    here.sh("echo 2 > $'d\\xfe/a\\x9b31m'");
    await expect(here.undo()).rejects.toThrow("$'d\\xfe/a\\x9b31m': another program changed it since");
  });
});
