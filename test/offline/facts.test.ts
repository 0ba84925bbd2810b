/** Mechanical questions about a project, answered from its files and its history. */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openScene } from "./scene.js";

const MANIFEST = {
  name: "thing",
  version: "1.2.3",
  license: "MIT",
  main: "index.js",
  engines: { node: ">=20" },
  scripts: { test: "node --test", build: "tsc" },
  dependencies: { "left-pad": "1.0.0" },
};
const FILES = {
  "package.json": JSON.stringify(MANIFEST, undefined, 2),
  "index.js":
    'app.get("/hello", hello);\napp.listen(process.env.PORT ?? 3000);\nconst server = { port: 8080 };\n// TODO more\n',
  "README.md": "# Thing\n\nIt does things.\n\n## Use\n",
};

async function scene(files: Readonly<Record<string, string>>) {
  const opened = await openScene(files);
  onTestFinished(() => opened.close());
  return opened;
}

describe("what a project's files say", () => {
  it.each([
    ["how do I run the tests", "Run `npm test` (package.json: node --test)."],
    ["how do I build this project?", "Run `npm run build` (package.json: tsc)."],
    ["how do I install the dependencies", "Run `npm install`"],
    ["which Node version", ">=20, says package.json."],
    ["scripts of package.json", "- `test`: node --test"],
    ["list the dependencies", "- `left-pad`: 1.0.0"],
    ["what is the license", "MIT, says package.json."],
    ["what is the entry point", "index.js, says package.json."],
    ["summarize the readme", "It does things."],
    ["which ports does it use", "index.js:3: const server = { port: 8080 };"],
    ["list the environment variables", "- `PORT` (index.js)"],
    ["show the endpoints", 'index.js:1: app.get("/hello", hello);'],
    ["list TODOs", "4: // TODO more"],
    ["biggest files", "package.json"],
    ["are there merge conflicts", "There are no marks of merge conflicts."],
  ])("%s", async (question, answer) => {
    expect(await (await scene(FILES)).ask(question)).toContain(answer);
  });

  it.each([
    [
      "Cargo.toml",
      '[package]\nname = "r"\nrust-version = "1.80"\n\n[dependencies]\nserde = "1"\n',
      "cargo test",
      "rust",
      "1.80",
      'serde = "1"',
    ],
    [
      "go.mod",
      "module x\n\ngo 1.22\n\nrequire (\n\ta.test/b v1.0.0\n)\n",
      "go test ./...",
      "go",
      "1.22",
      "a.test/b v1.0.0",
    ],
    [
      "pyproject.toml",
      '[project]\nrequires-python = ">=3.11"\ndependencies = [\n  "pytest",\n]\n',
      "python3 -m pytest",
      "python",
      ">=3.11",
      '"pytest",',
    ],
  ])("also of %s", async (file, text, command, language, version, dependency) => {
    const project = await scene({ [file]: text });
    expect(await project.ask("how do I run the tests")).toContain(`Run \`${command}\``);
    expect(await project.ask(`which ${language} version is needed`)).toContain(`${version}, says ${file}.`);
    expect(await project.ask("list the dependencies")).toContain(`- ${dependency}`);
  });

  it("that do not say it are named", async () => {
    const project = await scene({ "package.json": "{}" });
    expect(await project.ask("which Node version")).toContain(
      "I did not find the version of node: package.json does not have it.",
    );
    expect(await (await scene({ a: "" })).ask("how do I run the tests")).toContain(
      "I did not find how to test this project",
    );
  });
});

describe("what the history says", () => {
  it("is reported", async () => {
    const project = await scene(FILES);
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=a@b.test", ...args], { cwd: project.root });
    git("init", "-q", "-b", "main");
    for (const message of ["one", "two", "three", "four"]) {
      git("add", "-A");
      git("commit", "-q", "--allow-empty", "-m", message);
      if (message === "one") git("tag", "v1");
    }
    const cases = [
      ["what changed in the last commit", "four"],
      ["diff HEAD~3", "No differences from `HEAD~3`."],
      ["who are the authors", "4  Ann"],
      ["how many commits are there", "4 commits."],
      ["show the first commit", "Ann: one"],
      ["which files change most often", "1  README.md"],
      ["list the branches", "main"],
      ["latest tag", "v1"],
    ] as const;
    for (const [question, answer] of cases) expect(await project.ask(question), question).toContain(answer);
  });

  it("is reported for a time", async () => {
    const project = await scene({});
    const at = (daysAgo: number) => new Date(new Date().setHours(12, 0, 0, 0) - daysAgo * 86_400_000).toISOString();
    const git = (date: string, ...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=a@b.test", ...args], {
        cwd: project.root,
        env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
      });
    git(at(0), "init", "-q", "-b", "main");
    for (const [daysAgo, name] of [
      [40, "older"],
      [3, "newer"],
      [1, "newest"],
    ] as const) {
      await writeFile(join(project.root, `${name}.txt`), "x\n");
      git(at(daysAgo), "add", "-A");
      git(at(daysAgo), "commit", "-q", "-m", `Add ${name}`);
    }
    const yesterday = await project.ask("what changed yesterday?");
    expect(yesterday).toContain("Ann: Add newest");
    expect(yesterday).toContain("newest.txt | 1 +");
    expect(yesterday).not.toContain("newer");
    const week = await project.ask("what changed in the last 7 days");
    expect(week).toContain("Add newer");
    expect(week).not.toContain("Add older");
    expect(await project.ask("what happened today")).toContain("There are no commits (today).");
  });
});
