import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { processorMsOf } from "../../../test/support/processor-time.js";
import { temporaryFolder } from "../../../test/support/program.js";
import { verifies } from "../../../test/verifies.js";
import { ManualClock } from "../../base/clock.js";
import { FileIndex, WorkspaceFiles } from "./file-index.js";

const FILES = [
  "README.md",
  "src/main/start.ts",
  "src/clients/tui/input/composer.ts",
  "src/clients/tui/input/composer.test.ts",
  "docs/composition.md",
  "docs/Upper.md",
  "evil\nname.txt",
];

const index = (list: () => Promise<readonly string[]>, clock = new ManualClock()) => new FileIndex({ list, clock });

describe("finding files", () => {
  const files = index(async () => FILES);

  it("ranks the name before the path, and whole words before loose letters", async () => {
    expect(await files.find("compos", 10)).toEqual([
      "docs/composition.md",
      "src/clients/tui/input/composer.ts",
      "src/clients/tui/input/composer.test.ts",
    ]);
    expect((await files.find("tui/comp", 10))[0]).toBe("src/clients/tui/input/composer.ts");
    expect((await files.find("cmpsr", 1))[0]).toBe("src/clients/tui/input/composer.ts");
    expect(await files.find("upper", 1)).toEqual(["docs/Upper.md"]);
    expect(await files.find("zzz", 10)).toEqual([]);
  });

  it("knows folders, and begins with what lies at the top", async () => {
    expect(await files.find("", 10)).toEqual(["docs/", "src/", "README.md"]);
    expect((await files.find("src/cl", 2))[0]).toBe("src/clients/");
    expect(await files.find("./src/main", 10)).toEqual(["src/main/", "src/main/start.ts"]);
  });

  it("never leaves the folder, and offers no name that cannot be typed", async () => {
    for (const query of ["/etc", "../", "..", "~/"]) expect(await files.find(query, 10), query).toEqual([]);
    expect(await files.find("evil", 10)).toEqual([]);
  });

  it("answers from the list before while it makes a new one", async () => {
    const clock = new ManualClock();
    const lists: ((paths: readonly string[]) => void)[] = [];
    const slow = index(() => new Promise((resolve) => lists.push(resolve)), clock);
    const first = slow.find("a", 10);
    lists[0]?.(["a.ts"]);
    expect(await first).toEqual(["a.ts"]);
    expect(await slow.find("a", 10)).toEqual(["a.ts"]);
    expect(lists).toHaveLength(1);
    clock.advance(3000);
    expect(await slow.find("a", 10)).toEqual(["a.ts"]);
    expect(lists).toHaveLength(2);
    lists[1]?.(["a.ts", "ab.ts"]);
    await new Promise(setImmediate);
    expect(await slow.find("a", 10)).toEqual(["a.ts", "ab.ts"]);
  });

  verifies(["U2"], "100,000 files are searched with little work for a key", async () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `src/part-${at % 317}/some-module/file_${at}.component.ts`);
    const large = index(async () => many);
    await large.find("x", 50);
    const queries = ["f", "fi", "fil", "file_99", "s", "sc", "cmpnt", "part-12/file", "somod77", "zq", ""];
    const took = await processorMsOf(async () => {
      for (let round = 0; round < 4; round++) for (const query of queries) await large.find(query, 50);
    });
    // 44 keys; the figure of one is in the benchmark.
    expect(took).toBeLessThan(5_000);
  });
});

it("lists a repository by its ignore rules and follows no link", async () => {
  const root = await realpath(await temporaryFolder());
  execFileSync("git", ["init", "-q"], { cwd: root });
  mkdirSync(join(root, "node_modules"));
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, ".gitignore"), "node_modules\n*.log\n");
  for (const name of ["src/app.ts", "src/app.log", "node_modules/app.js"]) writeFileSync(join(root, name), "");
  symlinkSync("/etc", join(root, "app-link"));
  const files = new WorkspaceFiles(new ManualClock(), process.env.PATH);
  expect(await files.find(root, "app", { limit: 10 })).toEqual(["src/app.ts"]);
});
