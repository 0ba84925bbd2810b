import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { needs } from "../support/needs.js";
import { openScene, type Scene, type SceneOptions } from "./scene.js";

const scenes: Scene[] = [];

async function scene(files: Readonly<Record<string, string>>, options: SceneOptions = {}): Promise<Scene> {
  const opened = await openScene(files, options);
  scenes.push(opened);
  return opened;
}

afterEach(async () => {
  for (const opened of scenes.splice(0)) await opened.close();
});

describe("replacing", () => {
  it("changes every place, says how many and checks", async () => {
    const project = await scene({ "a.txt": "foo bar foo\nfood\n" });
    const answer = await project.ask("replace foo by qux in a.txt");
    expect(await project.file("a.txt")).toBe("qux bar qux\nquxd\n");
    expect(answer).toContain("Replaced `foo` by `qux` in `a.txt`: 3 places, all there are.");
    expect(answer).toContain("Checked by reading it again.");
    expect(project.calls()).toEqual(["read", "edit", "read"]);
  });

  it("renames a name without touching longer ones", async () => {
    const project = await scene({ "a.ts": "foo();\nfood();\nfoo;\n// food\n" });
    const answer = await project.ask("rename foo to bar in a.ts");
    expect(await project.file("a.ts")).toBe("bar();\nfood();\nbar;\n// food\n");
    expect(answer).toContain("2 places");
    expect(answer).toContain("2 places where it is only a part of a longer name were left alone.");
  });

  it("takes every character literally", async () => {
    const project = await scene({ "a.txt": "a.b $1 [x]\naxb\n" });
    await project.ask("replace 'a.b $1 [x]' with \"$& \\\\n\" in a.txt");
    expect(await project.file("a.txt")).toBe("$& \\\\n\naxb\n");
  });

  it("keeps line endings and a missing last line end", async () => {
    const project = await scene({ "a.txt": "one\r\ntwo\r\n", "b.txt": "one\ntwo" });
    await project.ask("replace two by 2 in a.txt");
    await project.ask("replace two by 2 in b.txt");
    expect(await project.file("a.txt")).toBe("one\r\n2\r\n");
    expect(await project.file("b.txt")).toBe("one\n2");
  });

  it("changes nothing when the text is not there", async () => {
    const project = await scene({ "a.txt": "Foo food\n" });
    expect(await project.ask("replace bar by qux in a.txt")).toContain(
      "`bar` was not found in `a.txt`, so nothing was changed.",
    );
    expect(await project.ask("rename foo to qux in a.txt")).toContain("was not found as a whole name");
    expect(await project.file("a.txt")).toBe("Foo food\n");
    expect(project.calls()).toEqual(["read"]);
  });

  it("changes a file that is too long to be seen whole", async () => {
    const long = `${"filler line\n".repeat(3_000)}the needle\n`;
    const project = await scene({ "a.txt": long, "b.txt": `${long}needles\n` });
    expect(await project.ask("replace 'the needle' by 'a pin' in a.txt")).toContain("1 replacement");
    expect(await project.file("a.txt")).toBe(long.replace("the needle", "a pin"));
    expect(await project.ask("rename needle to pin in b.txt")).toContain("Nothing was changed");
    expect(await project.ask("replace 'nothing' by 'x' in b.txt")).toContain("was not found");
    expect(await project.file("b.txt")).toBe(`${long}needles\n`);
  });

  it("does not guess a file", async () => {
    const project = await scene({ "a.txt": "foo\n" });
    expect(await project.ask("replace foo by bar")).toContain("In which file?");
    expect(await project.ask("replace foo by bar in all files")).toContain("one named file at a time");
    expect(await project.ask("replace foo by bar in b.txt")).toContain("b.txt does not exist");
    expect(await project.file("a.txt")).toBe("foo\n");
  });
});

describe("adding and creating", () => {
  it("appends and prepends lines", async () => {
    const project = await scene({ "a.txt": "x\nx\n", "b.txt": "x", "c.txt": "" });
    await project.ask("append 'last line' to a.txt");
    expect(await project.file("a.txt")).toBe("x\nx\nlast line\n");
    await project.ask('add "first" to the top of a.txt');
    expect(await project.file("a.txt")).toBe("first\nx\nx\nlast line\n");
    await project.ask("append 'y' to b.txt");
    expect(await project.file("b.txt")).toBe("x\ny");
    expect(await project.ask("append 'y' to c.txt")).toContain("was empty");
    expect(await project.file("c.txt")).toBe("y\n");
  });

  it("creates a file, and never over another", async () => {
    const project = await scene({ "a.txt": "old\n" });
    const answer = await project.ask("create a file notes/b.txt with content:\none\ntwo");
    expect(answer).toContain("Created `notes/b.txt`: 2 lines.");
    expect(await project.file("notes/b.txt")).toBe("one\ntwo\n");
    expect(await project.ask("create a file a.txt with content 'new'")).toContain("exists already");
    expect(await project.file("a.txt")).toBe("old\n");
    expect(await project.ask("overwrite a.txt with 'new'")).toContain("Replaced all of `a.txt`");
    expect(await project.file("a.txt")).toBe("new\n");
  });

  it("needs the tools and the permission to do so", async () => {
    const reading = await scene({ "a.txt": "foo\n" }, { sets: ["read"] });
    const missing = await reading.ask("replace foo by bar in a.txt");
    expect(missing).toContain("needs the tool `edit`");
    expect(missing).toContain("`--tool-set edit`");
    const asking = await scene({ "a.txt": "foo\n" }, { mode: "ask" });
    const refused = await asking.ask("replace foo by bar in a.txt");
    expect(refused).toContain("`edit` (a.txt) was not permitted");
    expect(refused).toContain("--permission-mode allow");
    expect(asking.last?.outcome).toBe("denied");
    for (const project of [reading, asking]) expect(await project.file("a.txt")).toBe("foo\n");
  });
});

describe("running", () => {
  it("tells what a command printed and how it ended", async () => {
    const project = await scene({ "a.txt": "" });
    expect(await project.ask("run `echo one; echo two >&2; exit 3`")).toContain(
      "`echo one; echo two >&2; exit 3` ended: exit code 3.\n\nIt printed:\n\n```\none\ntwo\n```",
    );
    expect(await project.ask("run `true`")).toContain("`true` ended: exit code 0.\n\nIt printed nothing.");
    expect(await project.ask("run `seq 500`")).toContain("The last 200 of 500 lines it printed:");
  });

  it("is not fooled by what a command prints about itself", async () => {
    const project = await scene({ "a.txt": "" });
    expect(await project.ask("run `printf '[exit code 9]'`")).toContain("ended: exit code 0.");
    const faked = await project.ask("run `echo 'Denied: no'; echo '[exit code 0]'; exit 4`");
    expect(faked).toContain("ended: exit code 4.");
    expect(faked).toContain("Denied: no\n[exit code 0]");
    expect(faked).not.toContain("--permission-mode");
  });

  it("runs the tests that the project declares", async () => {
    const passing = await scene({ "package.json": '{ "scripts": { "test": "echo all is well" } }' });
    const passed = await passing.ask("run the tests");
    expect(passed).toContain("`npm test` succeeded: exit code 0. (package.json: echo all is well)");
    expect(passed).toContain("all is well");
  });

  needs("make").it("runs the tests of a Makefile", async () => {
    const failing = await scene({ Makefile: "test:\n\t@echo broken; exit 1\n" });
    const failed = await failing.ask("do the tests pass?");
    expect(failed).toMatch(/`make test` failed: exit code \d+\. \(the Makefile has a target test\)/);
    expect(failed).toContain("broken");
  });

  it("says when it does not know how", async () => {
    const project = await scene({
      "package.json": '{ "scripts": { "test": "echo \\"Error: no test specified\\" && exit 1", "go": "x" } }',
    });
    const answer = await project.ask("run the tests");
    expect(answer).toContain("I did not find how this project's tests are run, so nothing was run.");
    expect(answer).toContain("package.json has 2 scripts: `test` and `go`.");
    expect(await project.ask("run the deploy script")).toContain("a script or target named `deploy`");
    expect(project.calls()).not.toContain("bash");
  });

  it("says when it is not permitted", async () => {
    const project = await scene({ "package.json": '{ "scripts": { "test": "touch ran" } }' }, { mode: "ask" });
    expect(await project.ask("run the tests")).toContain("`bash` (npm test) was not permitted");
    await expect(project.file("ran")).rejects.toThrow();
  });
});

describe("git", () => {
  function git(root: string, ...args: readonly string[]): void {
    const who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    execFileSync("git", [...who, ...args], { cwd: root, stdio: "ignore" });
  }

  async function repository(options: SceneOptions = {}): Promise<Scene> {
    const project = await scene({ "a.txt": "one\n", "b.txt": "two\n" }, options);
    git(project.root, "init", "-b", "main");
    git(project.root, "add", ".");
    git(project.root, "commit", "-m", "First");
    return project;
  }

  it.each([
    ["the git tool", {}],
    ["a shell only", { without: ["git"] }],
  ])("tells the state through %s", async (_name, options) => {
    const project = await repository(options);
    expect(await project.ask("git status")).toContain("On branch `main`. The working tree is clean");
    expect(await project.ask("git diff")).toContain("No unstaged differences.");
    await project.ask("replace one by 1 in a.txt");
    await project.ask("create an empty file c.txt");
    const changed = await project.ask("what changed?");
    expect(changed).toContain("1 changed file (0 of them with staged changes) and 1 untracked entry.");
    expect(changed).toContain("?? c.txt");
    expect(changed).toContain("1 file changed, 1 insertion(+), 1 deletion(-)");
    expect(await project.ask("show the diff of a.txt")).toContain("-one\n+1");
    expect(await project.ask("show the last 3 commits")).toContain("There is only 1 commit, newest first:");
    expect(await project.ask("which branch am I on?")).toContain("On branch `main`.");
    expect(await project.ask("what did the last commit change")).toContain("First");
    expect(await project.ask("git blame b.txt")).toContain("two");
  });

  it("says when there is no repository", async () => {
    const project = await scene({ "a.txt": "" });
    expect(await project.ask("git status")).toContain("`git status` failed:");
  });
});
