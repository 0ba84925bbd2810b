/** Gathering context by hand: a whole way of working with a model that has no tools. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { reply } from "../../src/testkit/index.js";
import { HookProject } from "../support/hook-project.js";
import { verifies } from "../verifies.js";

let project: HookProject;
beforeEach(() => {
  project = new HookProject();
});
afterEach(() => project.remove());

const FENCE = "```";
const done = reply().text("Done.");
/** Offers the model no tools. */
const NO_TOOLS = { flags: ["--permission-mode", "deny"] };

describe("with a model without tools", () => {
  verifies(["U7"], "/apply asks once before it writes, where a person can answer", async () => {
    const fixed = `Fixed:\n\n${FENCE}js a.js\nexport const a = 1;\n${FENCE}\n\n${FENCE}js b.js\nexport const b = 2;\n${FENCE}\n`;
    await project.open([reply().text(fixed)], { ...NO_TOOLS, answer: "deny" });
    await project.turn("Write.");
    expect(await project.slash("/apply")).toBe("Nothing is written.");
    expect(project.read("a.js")).toBeUndefined();
    await project.close();
    await project.open([reply().text(fixed)], { ...NO_TOOLS, answer: "allow_once" });
    await project.turn("Write.");
    expect(await project.slash("/apply")).toBe("Created a.js\nCreated b.js");
    expect([project.read("a.js"), project.read("b.js")]).toEqual(["export const a = 1;\n", "export const b = 2;\n"]);
  });

  verifies(["U7"], "files are read, searched, answered and written by commands", async () => {
    project.put("src/sum.js", "export const sum = (a, b) => a - b;\n");
    project.put("src/other.js", "export const other = 1;\n");
    const fixed = `Fixed:\n\n${FENCE}js src/sum.js\nexport const sum = (a, b) => a + b;\n${FENCE}\n\n${FENCE}js test/sum.js\nimport "../src/sum.js";\n${FENCE}\n`;
    await project.open([reply().text(fixed), reply().text("Good.")], NO_TOOLS);
    expect(await project.slash("/files src")).toContain("sum.js");
    expect(await project.slash("/search a\\s-\\sb src")).toContain("sum.js");
    expect(await project.slash("/read src/sum.js src/other.js")).toContain("The model gets this with your next input");
    const first = await project.turn("Fix sum.");
    expect(first.lastRequest).not.toContain('"tools"');
    expect(first.lastRequest).toMatch(
      /Fix sum\..*\[context: \/files src\].*\[context: \/search .*\[context: \/read src\/sum.js\].*a - b/,
    );
    expect(first.of("ContextAdded")).toHaveLength(4);
    expect(await project.slash("/apply")).toBe(
      "change   src/sum.js (+1 -1 lines)\nnew      test/sum.js (1 line)\n\nNothing is written yet. /apply --yes writes them.",
    );
    expect(project.read("src/sum.js")).toContain("a - b");
    expect(await project.slash("/apply --yes")).toBe("Updated src/sum.js\nCreated test/sum.js");
    expect(project.read("src/sum.js")).toBe("export const sum = (a, b) => a + b;\n");
    // Undo covers it like a change of the model.
    expect(await project.slash("/unapply yes")).toContain("Reverted");
    expect([project.read("src/sum.js"), project.read("test/sum.js")]).toEqual([
      expect.stringContaining("a - b"),
      undefined,
    ]);
    // The file is not as it was when it was read: the user looks again first.
    expect(await project.slash("/apply --yes")).toMatch(/^refused: .*changed/);
    expect(await project.slash("/apply")).toContain("change   src/sum.js (+1 -1 lines)");
    expect(await project.slash("/apply --yes")).toBe("Updated src/sum.js\nCreated test/sum.js");
    expect(await project.command("run", "cat src/sum.js; exit 3")).toMatchObject({
      value: { exit_code: 1, text: expect.stringContaining("a + b") },
    });
    const second = await project.turn("Well?");
    expect(second.lastRequest).toMatch(/Well\?.*\[context: \/run cat src\/sum.js; exit 3\].*a \+ b/);
    // Once given, it is part of the conversation and not given again.
    expect(second.lastRequest.match(/\[context: \/files src\]/g)).toHaveLength(1);
  });

  verifies(["P7", "U7"], "the audit has commands that ran and every refusal, with the file", async () => {
    project.put("a.txt", "one\n");
    await project.open([reply().text("Some text.")]);
    await project.turn("Say something.");
    expect(await project.slash("/permissions set closed r--")).not.toMatch(/^refused/);
    const refused = [
      "/read ../outside.txt",
      "/write closed/new.txt",
      "/record start ../log.md",
      "/record start closed/l.md",
    ];
    for (const line of refused) expect(await project.slash(line)).toMatch(/^refused: (?!.*Ask the user)/);
    expect(project.read("../log.md")).toBeUndefined();
    await project.command("run", "echo hello");
    await project.slash("/safemode on");
    expect(await project.slash("/run touch made")).toMatch(/^refused: /);
    const lines = (await project.slash("/audit show 50")).split("\n").map((line) => line.replace(/^\S+ +/, ""));
    expect(lines).toEqual([
      expect.stringMatching(/^denied +read \.\.\/outside\.txt +\(workspace boundary\)$/),
      expect.stringMatching(/^denied +write closed\/new\.txt +\(.*closed/),
      expect.stringMatching(/^denied +write \.\.\/log\.md +\(workspace boundary\)$/),
      expect.stringMatching(/^denied +write closed\/l\.md +\(.*closed/),
      expect.stringMatching(/^allowed +bash: echo hello +\(person\)$/),
      expect.stringMatching(/^denied +bash: touch made +\(safe mode/),
    ]);
  });

  verifies(["T10"], "the model learns with the next input what its user undid", async () => {
    await project.open([reply().tool("write", { path: "n.txt", content: "hi" }), done, done, done], {
      flags: ["--permission-mode", "allow"],
    });
    await project.turn("Write it.");
    expect(await project.slash("/undo yes")).toBe("Reverted n.txt. The model learns it with your next prompt.");
    expect((await project.turn("And now?")).lastRequest).toContain(
      "The user undid changes: n.txt. Read such a file again",
    );
    expect(await project.slash("/undo redo yes")).toContain("Restored n.txt.");
    expect((await project.turn("Now?")).lastRequest).toContain("restored changes that had been undone: n.txt.");
  });

  verifies(["U1"], "/tools lists the tools of the session, and what only the shell has says so", async () => {
    await project.open([done]);
    expect(await project.slash("/tools")).toMatch(/^read +\S.*\n(?:.*\n)*bash +\S/m);
    for (const name of ["serve", "token", "completion"])
      expect(await project.slash(`/${name}`)).toContain(`/${name} works only outside a conversation: oxbow ${name}`);
  });

  verifies(["U6"], "/export writes a new file and prints its path", async () => {
    await project.open([reply().text("A fine answer.")]);
    await project.turn("Say something.");
    for (const [line, ending] of [
      ["/export", /oxbow-sess_\w+\.md$/],
      ["/export", /oxbow-sess_\w+-2\.md$/],
      ["/export --format jsonl", /oxbow-sess_\w+\.jsonl$/],
    ] as const) {
      const [, file = ""] = /The conversation is in (\/.+)\.$/.exec(await project.slash(line)) ?? [];
      expect(file).toMatch(ending);
      expect(readFileSync(file, "utf8")).toContain("A fine answer.");
    }
  });

  verifies(["P2"], "a promoted rule is listed and holds at once", async () => {
    await project.open([reply().tool("bash", { command: "touch made" }), done], {
      flags: ["--permission-mode", "ask"],
      answer: "allow_pattern",
    });
    await project.turn("Make it.");
    expect(await project.slash("/permissions promote 1")).toContain("Written to");
    const listed = await project.slash("/permissions");
    expect(listed).not.toContain("Rules: none");
    expect(listed).toMatch(/Rules:\n.*config\.toml.*\n.*touch/);
  });

  verifies(
    ["U7"],
    "changes are written as a plain answer gives them: under a name, as an edit, as a diff",
    async () => {
      project.put("src/sum.js", "// adds\nexport const sum = (a, b) => a - b;\nexport const zero = 0;\n");
      project.put("src/max.js", "export const max = (a) => a;\n\nexport const min = (a) => a;\n");
      const search =
        "<<<<<<< SEARCH\nexport const sum = (a, b) => a - b;\n=======\nexport const sum = (a, b) => a + b;\n>>>>>>> REPLACE";
      const diff =
        "--- a/src/max.js\n+++ b/src/max.js\n@@ -9,1 +9,1 @@\n-export const max = (a) => a;\n+export const max = Math.max;\n";
      const edits = `src/sum.js\n${FENCE}js\n${search}\n${FENCE}\n\n${FENCE}diff\n${diff}${FENCE}\n\n### package.json\n${FENCE}json\n// package.json\n{}\n${FENCE}\nRun:\n${FENCE}sh\nnpm test\n${FENCE}\n`;
      const unclear = `### src/a.ts\n${FENCE}ts\n1\n${FENCE}\n### src/a.ts\n${FENCE}ts\n2\n${FENCE}\n`;
      const cut = `### src/max.js\n${FENCE}js\nexport const max = Math.max;\n// ... rest of the file\n${FENCE}\n`;
      project.put("src/long.js", "line();\n".repeat(30));
      const part = `### src/long.js\n${FENCE}js\nline();\nline();\n${FENCE}\n`;
      const secret = `src/max.js\n${FENCE}\n<<<<<<< SEARCH\nexport const min = (a) => a;\n=======\nexport const min = "«redacted:github-token»";\n>>>>>>> REPLACE\n${FENCE}`;
      await project.open(
        [edits, unclear, cut, part, secret].map((answer) => reply().text(answer)),
        NO_TOOLS,
      );
      await project.turn("Fix it.");
      const shown =
        "change   src/sum.js (+1 -1 lines)\nchange   src/max.js (+1 -1 lines)\nnew      package.json (1 line)";
      expect(await project.slash("/apply")).toBe(`${shown}\n\nNothing is written yet. /apply --yes writes them.`);
      expect(project.read("src/sum.js")).toContain("a - b");
      // Someone changes a file after the preview.
      project.put("src/sum.js", "export const sum = (a, b) => a - b; // changed\n");
      expect(await project.slash("/apply --yes")).toMatch(/^refused: .*src\/sum\.js/s);
      project.put("src/sum.js", "export const sum = (a, b) => a - b;\n");
      expect(await project.slash("/apply")).toContain("change   src/sum.js (+1 -1 lines)");
      expect(await project.slash("/apply --yes")).toBe("Updated src/sum.js\nUpdated src/max.js\nCreated package.json");
      expect(project.read("src/sum.js")).toBe("export const sum = (a, b) => a + b;\n");
      expect(project.read("src/max.js")).toBe("export const max = Math.max;\n\nexport const min = (a) => a;\n");
      expect(project.read("package.json")).toBe("{}\n");
      expect(await project.slash("/apply --yes")).toMatch(
        /^refused: src\/sum\.js: the SEARCH text .*Nothing is written\./s,
      );
      await project.turn("Again.");
      expect(await project.slash("/apply --yes")).toMatch(
        /^refused: .*another text for src\/a\.ts.*Nothing is written\./s,
      );
      await project.turn("Again.");
      expect(await project.slash("/apply --yes")).toMatch(/^refused: src\/max\.js: the block leaves text out/);
      await project.turn("Again.");
      expect(await project.slash("/apply")).toMatch(/^refused: src\/long\.js: the block has 2 lines and the file 30/);
      await project.turn("Again.");
      expect(await project.slash("/apply --yes")).toMatch(/^refused: src\/max\.js is not written: .*secret/);
      expect([project.read("src/a.ts"), project.read("src/max.js")]).toEqual([
        undefined,
        expect.stringContaining("min = (a)"),
      ]);
    },
  );

  verifies(["U7"], "an answer goes to a file: its first code block, or all of it", async () => {
    await project.open(
      [reply().text(`Take:\n${FENCE}\none\n${FENCE}\n${FENCE}\ntwo\n${FENCE}`), reply().text("Plain words.")],
      NO_TOOLS,
    );
    expect(await project.slash("/write a.txt")).toBe("refused: The model has not answered yet.");
    await project.turn();
    expect(await project.slash("/write a.txt")).toBe("Created a.txt");
    expect(await project.slash("/apply")).toContain("No code block of the last answer names a file");
    await project.turn();
    expect(await project.slash("/write a.txt")).toBe("Updated a.txt");
    expect(project.read("a.txt")).toBe("Plain words.\n");
  });

  verifies(["U7"], "git is looked at, and only looked at", async () => {
    const git = (...args: string[]) => execFileSync("git", args, { cwd: project.folder, stdio: "ignore" });
    git("init", "-q", "-b", "trunk");
    project.put("a.txt", "one\n");
    await project.open([done], NO_TOOLS);
    expect(await project.slash("/git status --short")).toContain("a.txt");
    expect(await project.slash("/git push")).toMatch(/^refused/);
    expect((await project.turn()).lastRequest).toContain("[context: /git status --short]");
  });
});

describe("what commands may not do", () => {
  verifies(["U7", "P2"], "leave the workspace, write guarded files, or write half of an answer", async () => {
    const blocks = `${FENCE}ts ok.ts\n1\n${FENCE}\n${FENCE}sh .git/hooks/pre-commit\nevil\n${FENCE}\n${FENCE}ts ../out.ts\n1\n${FENCE}`;
    const secret = `ghp_${randomBytes(40).toString("base64").replaceAll(/\W/g, "").slice(0, 36)}`;
    project.put("secret.txt", `token ${secret}\n`);
    await project.open([reply().text(blocks), done]);
    await project.turn();
    expect(await project.slash("/apply --yes")).toMatch(/^refused: .*pre-commit/);
    expect([project.read("ok.ts"), project.read(".git/hooks/pre-commit")]).toEqual([undefined, undefined]);
    expect(await project.slash("/write ../out.ts")).toMatch(/^refused/);
    expect(await project.slash("/read /etc/passwd")).toMatch(/^refused/);
    expect(await project.slash("/read missing.txt")).toMatch(/^refused/);
    expect(await project.slash("/read secret.txt")).toContain("redacted");
    expect((await project.turn()).lastRequest).not.toContain(secret);
  });
});

describe("/init", () => {
  verifies(["X8"], "asks the model for an AGENTS.md, with the wishes of the person", async () => {
    await project.open([done]);
    const { lastRequest } = await project.slashTurn("/init Mention the docs folder.");
    expect(lastRequest).toMatch(/Write AGENTS\.md in the root of this repository.*The user adds: Mention the docs/);
  });
});

describe("/btw", () => {
  verifies(["U2"], "asks beside the conversation, with what it holds, and leaves nothing in it", async () => {
    await project.open([reply().text("The answer is blue."), reply().text("Because of the sky."), done]);
    await project.session();
    await project.turn("Which colour?");
    expect(await project.slash("/btw why is it blue")).toBe("Because of the sky.");
    expect(project.requests().at(-1)).toMatch(
      /Which colour\?.*The answer is blue\..*beside the conversation.*why is it blue/,
    );
    const { lastRequest } = await project.turn("Go on.");
    expect(lastRequest).toMatch(/The answer is blue\..*Go on\./);
    expect(lastRequest).not.toMatch(/why is it blue|Because of the sky/);
  });

  verifies(["U2"], "answers while a call of the turn still runs", async () => {
    project.put("gate", "");
    const wait = "while [ -e gate ]; do sleep 0.05; done";
    await project.open([reply().tool("bash", { command: wait }), reply().text("It waits for the gate."), done]);
    await project.session();
    const turn = project.turn("Wait for it.");
    await expect.poll(() => project.requests().length, { timeout: 10_000 }).toBe(1);
    expect(await project.slash("/btw what does it do now")).toBe("It waits for the gate.");
    expect(project.requests().at(-1)).not.toContain("tool_use");
    rmSync(project.path("gate"));
    expect((await turn).lastRequest).not.toContain("what does it do now");
  });
});

describe("pinned context", () => {
  verifies(["X8"], "survives /clear, compaction and a resume", async () => {
    await project.open([reply().text("Long. ".repeat(800)), reply().text("A SUMMARY"), done, done, done]);
    const session = await project.session();
    await project.slash('/context add Use "tabs", not spaces.');
    await project.slash("/context add The port is 8080.");
    expect((await project.turn("one")).lastRequest).toMatch(
      /one.*\[pinned context\].*Use \\"tabs\\", not spaces\..*8080/,
    );
    expect(await project.command("compact")).toMatchObject({ ok: true });
    const after = await project.turn("two");
    expect(after.lastRequest).toMatch(/A SUMMARY.*\[pinned context\].*8080.*two/);
    expect(after.lastRequest).not.toContain("Long. Long.");
    await project.clear();
    const cleared = await project.turn("three");
    expect(cleared.lastRequest).toMatch(/three.*\[pinned context\].*8080/);
    expect(cleared.lastRequest).not.toContain("A SUMMARY");
    await project.close();
    await project.open([done, done]);
    await project.session(session);
    expect(await project.slash("/context show")).toContain("The port is 8080.");
    await project.slash("/context clear");
    expect((await project.turn("four")).lastRequest).toContain("The user removed the pinned context");
    expect(await project.slash("/context")).toMatch(/^Context of (?![\s\S]*[Pp]inned)/);
  });

  verifies(["X8"], "a folder is loaded file by file, and what waits can be seen and dropped", async () => {
    for (const name of ["a.ts", "deep/b.ts", "c.md"]) project.put(`src/${name}`, `text of ${name}\n`);
    project.put("src/data.bin", "\u0000\u0001\u0002");
    project.put(".gitignore", "ignored\n");
    project.put("src/ignored/x.ts", "no");
    await project.open([done, done], NO_TOOLS);
    expect(await project.slash("/context load-dir src *.ts")).toContain("The model gets 2 files");
    expect(await project.slash("/context")).toContain("[context: /read src/deep/b.ts]");
    expect((await project.turn()).lastRequest).toMatch(/text of a\.ts.*text of deep\/b\.ts/);
    expect(await project.slash("/context load-dir src")).toContain("Left out: src/data.bin");
    await project.slash("/context clear");
    expect((await project.turn()).of("ContextAdded")).toEqual([]);
    expect(await project.slash("/context load-dir src *.none")).toMatch(/^refused: No file matches/);
  });
});

verifies(["X9"], "a template is a prompt by name", async () => {
  project.put(".oxbow/templates/review.md", "---\ndescription: reviews a file\n---\nReview $ARGUMENTS for bugs.\n");
  await project.open([done]);
  expect(await project.slash("/template")).toContain("review  reviews a file");
  expect(await project.slash("/template use other")).toMatch(/^refused: There is no template/);
  await project.slash("/template use review src/a.ts");
  await expect.poll(() => project.requests().at(-1)).toContain("Review src/a.ts for bugs.");
});

verifies(["X1", "X8"], "/context says which instruction files the model has, and which not and why", async () => {
  project.put("AGENTS.md", "Use tabs.");
  project.put("CLAUDE.md", "Use blanks.");
  await project.open([done]);
  expect((await project.turn()).lastRequest).toMatch(/^(?!.*Use blanks).*Use tabs/);
  const shown = await project.slash("/context show");
  expect(shown).toContain("./AGENTS.md  read\n./CLAUDE.md  not read: not in context_sources");
  expect(shown).toMatch(/To read all of them: context_sources = \["AGENTS\.md", "CLAUDE\.md"\] in .*config\.toml$/);
});
