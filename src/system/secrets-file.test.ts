import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { findSecretsFile, withSecrets } from "./secrets-file.js";

let folder: string;
const file = () => join(folder, ".oxbow-secrets", "env");
const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "pipe" });

function put(text: string, mode = 0o600): void {
  mkdirSync(join(folder, ".oxbow-secrets"), { recursive: true });
  writeFileSync(file(), text);
  chmodSync(file(), mode);
}

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-test-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a file of keys beside a project", () => {
  verifies(["M11"], "gives keys, which the environment overrides, and nothing else", () => {
    put(
      '# mine\n\nOPENROUTER_API_KEY=abc\nexport ZAI_API_KEY="d e"\r\nANTHROPIC_BASE_URL=http://evil\nOXBOW_TOKEN=x\nPATH=/evil\nodd\n',
    );
    const found = findSecretsFile(folder);
    expect(found?.keys).toEqual({ OPENROUTER_API_KEY: "abc", ZAI_API_KEY: "d e" });
    expect(found?.warnings).toEqual(["It holds keys alone; ignored: ANTHROPIC_BASE_URL, OXBOW_TOKEN, PATH, line 8"]);
    const variables = withSecrets(
      { ZAI_API_KEY: "own", OPENROUTER_API_KEY: "", HOME: "/h" },
      { keys: found?.keys ?? {} },
    );
    expect(variables).toEqual({ ZAI_API_KEY: "own", OPENROUTER_API_KEY: "abc", HOME: "/h" });
  });

  verifies(["M11"], "is refused once git tracks it, and names what keeps git from it", () => {
    git("init", "-q");
    put("ZAI_API_KEY=abc\n");
    expect(findSecretsFile(folder)?.warnings).toEqual([
      `git can commit it. Run: echo '*' > ${folder}/.oxbow-secrets/.gitignore`,
    ]);
    git("add", ".");
    const tracked = findSecretsFile(folder);
    expect(tracked?.keys).toEqual({});
    expect(tracked?.refused).toContain(`git rm --cached ${file()}`);
    git("rm", "-q", "--cached", ".oxbow-secrets/env");
    writeFileSync(join(folder, ".oxbow-secrets", ".gitignore"), "*\n");
    expect(findSecretsFile(folder)).toMatchObject({ keys: { ZAI_API_KEY: "abc" }, warnings: [] });
    writeFileSync(join(folder, ".git", "index"), "not an index");
    expect(findSecretsFile(folder)?.refused).toContain("cannot read git's index");
  });

  it("is found above the working folder, up to the top of the repository", () => {
    put("ZAI_API_KEY=abc\n");
    const below = join(folder, "a", "b");
    mkdirSync(below, { recursive: true });
    expect(findSecretsFile(below)).toBeUndefined();
    git("init", "-q");
    expect(findSecretsFile(below)?.path).toBe(file());
    mkdirSync(join(below, ".git", "objects"), { recursive: true });
    writeFileSync(join(below, ".git", "HEAD"), "ref: refs/heads/main\n");
    expect(findSecretsFile(below)).toBeUndefined();
  });

  it("must be a plain file that no one else can read", () => {
    put("ZAI_API_KEY=abc\n", 0o640);
    expect(findSecretsFile(folder)).toMatchObject({ keys: {}, refused: expect.stringContaining("chmod 600") });
    rmSync(file());
    writeFileSync(join(folder, "elsewhere"), "ZAI_API_KEY=abc\n", { mode: 0o600 });
    symlinkSync(join(folder, "elsewhere"), file());
    expect(findSecretsFile(folder)).toMatchObject({ keys: {}, refused: "it is a link" });
    rmSync(file());
    mkdirSync(file());
    expect(findSecretsFile(folder)).toMatchObject({ keys: {}, refused: "it is not a file" });
  });
});
