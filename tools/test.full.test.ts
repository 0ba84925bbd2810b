import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The least that a build takes. */
const WEB = "src/clients/web";
const NOTHING = {
  "src/main/bin.ts": "export {};\n",
  [`${WEB}/enter.ts`]: "export {};\n",
  [`${WEB}/index.html`]: "<!doctype html>\n",
  [`${WEB}/icon.svg`]: "<svg/>\n",
  [`${WEB}/styles/10-base.css`]: "body {\n  margin: 0;\n}\n",
};

/** A clone of this project with these sources instead of the real ones. */
function plant(files: Record<string, string>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-tests-")));
  folders.push(root);
  const ofProject = [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "biome.json",
    "vitest.config.ts",
    ".gitignore",
  ];
  for (const name of [...ofProject, `${WEB}/tsconfig.json`]) cpSync(join(ROOT, name), join(root, name));
  cpSync(join(ROOT, "tools"), join(root, "tools"), { recursive: true, filter: (path) => !path.endsWith(".test.ts") });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  for (const [name, text] of Object.entries({ ...NOTHING, ...files })) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

function runTests(root: string, args: readonly string[] = [], more: Readonly<Record<string, string>> = {}) {
  const { status, stdout } = spawnSync(process.execPath, [join(root, "tools", "test.mjs"), ...args], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, NO_COLOR: "1", ...more },
  });
  return { status, stdout, last: stdout.trimEnd().split("\n").at(-1) };
}

function checksIn(stdout: string): readonly string[] {
  return [...stdout.matchAll(/^✓ (.+) \([\d.]+ s\)$/gm)].map(([, name = ""]) => name);
}

const PASSING = `import { expect, it } from "vitest";

it("adds", () => {
  expect(1 + 1).toBe(2);
});
`;

const SKIPPING = `import { it } from "vitest";

it("needs a thing", (context) => {
  context.skip("there is no thing here");
});

it("needs a program", { skip: true, meta: { reason: "needs it: install it" } }, () => {});
`;

const SILENT = `import { it } from "vitest";

it.skip("is silent", () => {});
`;

describe("npm test", () => {
  it("counts checks and tests in its last line", () => {
    const { status, stdout, last } = runTests(
      plant({ "src/base/sum.test.ts": PASSING, "src/base/sum.full.test.ts": PASSING }),
    );
    expect(checksIn(stdout)).toEqual(["build", "layers", "wording"]);
    expect({ status, last }).toEqual({ status: 0, last: "4 passed, 0 failed, 0 skipped" });
  });

  it("names tests that pass at the second attempt only, and fails with many of them", () => {
    const flaky = (count: number) =>
      `import { expect, it } from "vitest";\n\nlet runs = 0;\n${Array.from({ length: count }, (_, n) => `it("flakes ${n}", () => {\n  expect(runs++ % 2).toBe(1);\n});\n`).join("")}`;
    const run = (count: number, env: Record<string, string>) =>
      runTests(plant({ "src/base/sum.test.ts": flaky(count) }), ["src"], env);
    expect(run(1, {})).toMatchObject({ status: 1, last: "0 passed, 1 failed, 0 skipped" });
    const few = run(2, { OXBOW_TEST_RETRIES: "1" });
    expect(few).toMatchObject({ status: 0, last: "2 passed, 0 failed, 0 skipped" });
    expect(few.stdout.match(/^~ passed at the second attempt only: .*flakes \d$/gm)).toHaveLength(2);
    expect(run(4, { OXBOW_TEST_RETRIES: "1" })).toMatchObject({ status: 1, last: "4 passed, 4 failed, 0 skipped" });
  });

  it("names a failed test that is in quarantine, and does not count it", () => {
    const failing = `import { expect, it } from "vitest";\n\nit("is unsteady", () => {\n  expect(1).toBe(2);\n});\n`;
    const root = plant({
      "src/base/sum.test.ts": PASSING,
      "src/base/other.test.ts": failing,
      "test/quarantine.txt": "src/base/other.test.ts > is unsteady\n",
    });
    const { status, stdout, last } = runTests(root, ["src"]);
    expect({ status, last }).toEqual({ status: 0, last: "1 passed, 0 failed, 0 skipped" });
    expect(stdout).toContain("~ failed, in quarantine: src/base/other.test.ts > is unsteady");
    rmSync(join(root, "test/quarantine.txt"));
    expect(runTests(root, ["src"])).toMatchObject({ status: 1, last: "1 passed, 1 failed, 0 skipped" });
  });

  it("checks and runs everything with --all", () => {
    const root = plant({ "src/base/sum.test.ts": PASSING, "src/base/sum.full.test.ts": PASSING });
    const { status, stdout, last } = runTests(root, ["--all"]);
    expect(checksIn(stdout).sort()).toEqual([
      "build",
      "layers",
      "lint and format",
      "types",
      "types of the web client",
      "wording",
    ]);
    expect({ status, last }).toEqual({ status: 0, last: "8 passed, 0 failed, 0 skipped" });
  });

  it("fails for each check that fails, and shows why", () => {
    const root = plant({
      "src/base/types.ts": 'export const text: string = "a";\nexport const count: number = text;\n',
      "src/base/format.ts": "export  const a = 1\n",
      "src/base/layers.ts": 'import "node:fs";\n',
      "src/main/bin.ts": 'import "./missing.js";\n',
      "src/base/sum.test.ts": PASSING,
    });
    const { status, stdout, last } = runTests(root, ["--all"]);
    expect(stdout).toContain("Could not resolve './missing.js'");
    expect(stdout).toContain("src/base/types.ts(2,14): error TS2322");
    expect(stdout).toContain("src/base/format.ts format");
    expect(stdout).toContain("src/base/layers.ts:1 node-module");
    expect({ status, last }).toEqual({ status: 1, last: "3 passed, 4 failed, 0 skipped" });
  });

  it("with arguments runs the tests they name, without the checks; names skipped ones, which --no-skips does not allow", () => {
    const failing = "throw new Error();\n";
    const root = plant({
      ...{ "src/base/sum.full.test.ts": PASSING, "src/base/skip.test.ts": SKIPPING, "src/base/other.test.ts": failing },
    });
    const args = ["src/base/sum.full", "src/base/skip"];
    const partial = runTests(root, args);
    expect(partial.stdout).not.toContain("layers");
    const names = ["    src/base/skip.test.ts > needs a thing\n", "    src/base/skip.test.ts > needs a program\n"];
    expect(partial.stdout).toContain(`↓ 1 skipped: there is no thing here\n${names[0]}`);
    expect(partial.stdout).toContain(`↓ 1 skipped: needs it: install it\n${names[1]}`);
    expect(partial).toMatchObject({ status: 0, last: "1 passed, 0 failed, 2 skipped" });
    expect(runTests(root, ["--no-skips", ...args])).toMatchObject({ status: 1, last: "1 passed, 2 failed, 0 skipped" });
  });

  it("counts a skipped test without a reason as failed, unless it was asked for a part", () => {
    const root = plant({ "src/base/sum.test.ts": PASSING, "src/base/silent.test.ts": SILENT });
    const whole = runTests(root);
    expect(whole.stdout).toContain("✗ 1 skipped, which counts as failed: no reason given");
    expect(whole).toMatchObject({ status: 1, last: "4 passed, 1 failed, 0 skipped" });
    expect(runTests(root, ["src"])).toMatchObject({ status: 0, last: "1 passed, 0 failed, 1 skipped" });
  });

  it("counts what fails outside of a test", () => {
    const root = plant({
      "src/base/test.test.ts": 'import { it } from "vitest";\nit("x", () => { throw new Error("x"); });\n',
      "src/base/load.test.ts": 'throw new Error("x");\n',
      "src/base/hook.test.ts":
        'import { afterAll, it } from "vitest";\nafterAll(() => { throw new Error("x"); });\nit("x", () => {});\n',
      "src/base/rejection.test.ts":
        'import { it } from "vitest";\nit("x", () => { void Promise.reject(new Error("x")); });\n',
    });
    expect(runTests(root, ["src/base"])).toMatchObject({ status: 1, last: "2 passed, 4 failed, 0 skipped" });
  });

  it("fails when there is nothing to run", () => {
    expect(runTests(plant({}), ["src/base"])).toMatchObject({
      status: 1,
      last: "0 passed, 1 failed, 0 skipped",
    });
  });
});
