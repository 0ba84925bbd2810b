import { describe, expect, it } from "vitest";
import { ChangeError } from "../edit/change-error.js";
import { parsePatch } from "./parse.js";

const body = "*** Update File: a.txt\n@@\n-one\n+two";
const wrapped = `*** Begin Patch\n${body}\n*** End Patch`;

function problem(patch: string): string {
  try {
    parsePatch(patch);
  } catch (error) {
    if (error instanceof ChangeError) return error.message;
    throw error;
  }
  throw new Error("no error");
}

describe("[T1] a patch", () => {
  it("is read into changes of files", () => {
    const patch = [
      "*** Begin Patch",
      "*** Add File: new dir/a.txt",
      "+first",
      "+",
      "++plus",
      "*** Delete File: old.txt",
      "*** Update File: src/b.ts",
      "*** Move to: src/c.ts",
      "@@ class A",
      "@@   run() {",
      " keep",
      "",
      "-drop",
      "+add",
      "*** End of File",
      "*** End Patch",
    ].join("\n");
    expect(parsePatch(patch)).toEqual([
      { kind: "add", path: "new dir/a.txt", text: "first\n\n+plus\n" },
      { kind: "delete", path: "old.txt" },
      {
        kind: "update",
        path: "src/b.ts",
        moveTo: "src/c.ts",
        hunks: [
          {
            patchLine: 9,
            headers: ["class A", "run() {"],
            lines: [
              { kind: "keep", text: "keep" },
              { kind: "keep", text: "" },
              { kind: "drop", text: "drop" },
              { kind: "add", text: "add" },
            ],
            atEnd: true,
          },
        ],
      },
    ]);
  });

  it("may be wrapped in a heredoc, a fence or space", () => {
    const plain = parsePatch(wrapped);
    const variants = [
      `\n  ${wrapped}  \n\n`,
      `<<EOF\n${wrapped}\nEOF\n`,
      `<<'END'\n${wrapped}\nEND`,
      `cat <<"EOF"\n${wrapped}\nEOF`,
      `apply_patch <<'EOF'\n${wrapped}\nEOF`,
      `%%bash\napply_patch <<"EOF"\n${wrapped}\nEOF`,
      `\`\`\`diff\n${wrapped}\n\`\`\``,
      wrapped.replaceAll("\n", "\r\n"),
      body,
    ];
    for (const variant of variants) {
      const [change] = parsePatch(variant);
      expect(change, variant).toMatchObject({ kind: "update", path: "a.txt" });
      const lines = change?.kind === "update" ? change.hunks[0]?.lines : undefined;
      expect(lines, variant).toEqual(plain[0]?.kind === "update" ? plain[0].hunks[0]?.lines : []);
    }
  });

  it("may leave out the first @@, or give line numbers as a unified diff does", () => {
    const hunks = (text: string) => {
      const [change] = parsePatch(`*** Begin Patch\n*** Update File: a\n${text}\n*** End Patch`);
      return change?.kind === "update" ? change.hunks : [];
    };
    expect(hunks(" a\n+b")).toMatchObject([{ headers: [] }]);
    expect(hunks("@@ -1,2 +1,3 @@ def f():\n a\n+b\n\\ No newline at end of file")).toMatchObject([
      { headers: [], lines: [{ text: "a" }, { text: "b" }] },
    ]);
    expect(hunks("@@\n-a\n+b\n\n@@\n-c\n+d")).toHaveLength(2);
  });

  it("keeps lines of the file that look like its own markers", () => {
    const [change] = parsePatch(
      "*** Begin Patch\n*** Update File: a\n@@\n *** Add File: x\n-@@ y\n+*** End Patch\n*** End Patch",
    );
    expect(change).toMatchObject({
      hunks: [{ lines: [{ text: "*** Add File: x" }, { text: "@@ y" }, { text: "*** End Patch" }] }],
    });
  });

  it("is refused with the line and the reason when it is not one", () => {
    expect(problem("hello")).toContain("first line must be '*** Begin Patch'");
    expect(problem("*** Begin Patch\n*** Add File: a\n+x")).toContain("last line must be '*** End Patch'");
    expect(problem("*** Begin Patch\n*** End Patch")).toContain("names no file");
    expect(problem("<<\"EOF'\n*** Begin Patch\n*** End Patch\nEOF")).toContain("first line");
    expect(problem("*** Begin Patch\n*** Rename File: a\n*** End Patch")).toContain(
      'Line 2 of the patch: "*** Rename File: a"',
    );
    expect(problem("*** Begin Patch\n*** Add File: a\n+x\ny\n*** End Patch")).toContain(
      "Line 4 of the patch: every line of a new file",
    );
    expect(problem("*** Begin Patch\n*** Update File: a\n*** End Patch")).toContain("has no changes");
    expect(problem("*** Begin Patch\n*** Update File: a\n@@ b\n*** End Patch")).toContain("Line 3 of the patch");
    expect(problem("*** Begin Patch\n*** Update File: a\n@@\n-x\n>y\n*** End Patch")).toContain(
      "Line 5 of the patch: every line of a change",
    );
    expect(problem("*** Begin Patch\n*** Delete File: \n*** End Patch")).toContain("path is missing");
  });
});
