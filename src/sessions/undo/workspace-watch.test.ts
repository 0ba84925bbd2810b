import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unless } from "../../../test/support/needs.js";
import { nodeClock } from "../../system/node-clock.js";
import { ignoreTop, loadScope, scopeAbove } from "../../tools/search/ignore-files.js";
import { IGNORE_FILES, type IgnoreScope } from "../../tools/search/ignore-rules.js";
import { TICK_MS } from "./entry-state.js";
import type { IgnoreSource } from "./folder-memory.js";
import { UNDO_LIMITS, type UndoLimits } from "./limits.js";
import { WorkspaceWatch } from "./workspace-watch.js";

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-watch-")));
  root = join(base, "ws");
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true }));

const put = (path: string, content: string) => {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), content);
};

/** Whether files remember when they were made. */
function hasBirthTimes(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "oxbow-watch-"));
  const { birthtimeMs } = statSync(folder);
  rmSync(folder, { recursive: true });
  return birthtimeMs > 0;
}

/** Old enough for its times to be believed. */
const age = (path: string) => utimesSync(join(root, path), new Date(1e12), new Date(1e12));

function gitIgnore(): IgnoreSource {
  const top = ignoreTop(root);
  return {
    files: IGNORE_FILES,
    above: async (folder) => scopeAbove(folder, await top),
    rules: async ({ path, names, above }) =>
      loadScope({
        name: basename(path),
        parent: above as IgnoreScope | undefined,
        top: await top,
        names,
        at: (name) => join(path, name),
      }),
  };
}

function watching(options: { limits?: Partial<UndoLimits>; ignore?: IgnoreSource } = {}) {
  const limits = { ...UNDO_LIMITS, ...options.limits };
  const watch = new WorkspaceWatch({ root, limits, clock: nodeClock, ignore: options.ignore });
  const kept: string[] = [];
  const compare = async () => {
    kept.length = 0;
    const found = await watch.compare(async (content) => {
      kept.push(content.toString());
      return content.toString();
    });
    if (found.is === "too-large") return found.is;
    const changes = found.changes.map(({ path, before, after }) => {
      const sign = before === undefined ? "+" : after === undefined ? "-" : "~";
      return `${sign}${path}${after?.elsewhere ? " from elsewhere" : ""}`;
    });
    return changes.sort();
  };
  return { compare, kept, watch };
}

describe("comparing a workspace", () => {
  it("finds created, changed, removed and renamed files, and nothing else", async () => {
    put("a", "1");
    put("d/b", "1");
    put("d/c", "1");
    put("same", "1");
    const { compare } = watching();
    expect(await compare()).toEqual([]);
    put("a", "2");
    renameSync(join(root, "d/b"), join(root, "d/renamed"));
    rmSync(join(root, "d/c"));
    put("new/x", "1");
    put("same", "1");
    expect(await compare()).toEqual(["+d/renamed", "+new", "+new/x", "-d/b", "-d/c", "~a"]);
    expect(await compare()).toEqual([]);
  });

  it("notices a change of the same size in the same moment", async () => {
    const { compare } = watching();
    put("a", "0");
    await compare();
    for (let round = 1; round < 40; round++) {
      put("a", String(round % 10));
      expect(await compare()).toEqual(["~a"]);
    }
  });

  it("reads only what looks different", async () => {
    const { compare, kept } = watching();
    for (let i = 0; i < 50; i++) put(`f${i}`, `content ${i}`);
    await compare();
    // Until the times of the files are old enough to be believed.
    const read = () => compare().then(() => kept.length);
    await expect.poll(read).toBe(0);
    put("f7", "other");
    expect(await compare()).toEqual(["~f7"]);
    expect(kept).toEqual(["other"]);
  });

  it("does not believe a time that was set back", async () => {
    const { compare } = watching();
    put("a", "1");
    age("a");
    await compare();
    await expect.poll(async () => compare()).toEqual([]);
    put("a", "2");
    age("a");
    expect(await compare()).toEqual(["~a"]);
  });

  it("does not look into .git and node_modules, nor through links", async () => {
    mkdirSync(join(base, "outside"));
    writeFileSync(join(base, "outside", "x"), "secret");
    put(".git/config", "1");
    put("node_modules/m/index.js", "1");
    put("sub/.git", "gitdir: elsewhere");
    symlinkSync(join(base, "outside"), join(root, "link"));
    const { compare, kept } = watching();
    await compare();
    put(".git/config", "2");
    put("node_modules/m/index.js", "2");
    writeFileSync(join(base, "outside", "x"), "other");
    expect(await compare()).toEqual([]);
    expect(kept).toEqual([]);
  });

  it("obeys ignore files, but for small ignored files; what comes into view is not new, what leaves it not gone", async () => {
    put(".gitignore", "build/\n*.log\n.env\n");
    put("build/out.js", "1");
    put(".env", "SECRET=1");
    put("big.log", "x".repeat(100_000));
    const { compare } = watching({ ignore: gitIgnore() });
    await compare();
    put("build/out.js", "2");
    put("big.log", "y".repeat(100_001));
    rmSync(join(root, ".env"));
    expect(await compare()).toEqual(["-.env"]);
    put(".gitignore", "*.log\n");
    put("src/x", "1");
    expect(await compare()).toEqual(["+src", "+src/x", "~.gitignore"]);
    put("build/out.js", "3");
    put("build/new.js", "3");
    expect(await compare()).toEqual(["+build/new.js", "~build/out.js"]);
    put(".gitignore", "build\n");
    expect(await compare()).toEqual(["~.gitignore"]);
  });

  unless(hasBirthTimes() ? undefined : "needs a file system that keeps the time of birth").it(
    "distinguishes files that were moved in from new ones",
    async () => {
      put("node_modules/only-copy", "1");
      writeFileSync(join(base, "thesis"), "1");
      put("kept", "1");
      const { compare } = watching();
      // They were made a good while before the comparison that counts.
      const youngest = statSync(join(root, "kept")).birthtimeMs;
      await expect.poll(() => Date.now() - youngest).toBeGreaterThan(2 * TICK_MS);
      await compare();
      renameSync(join(root, "node_modules/only-copy"), join(root, "out"));
      renameSync(join(base, "thesis"), join(root, "thesis"));
      renameSync(join(root, "kept"), join(root, "renamed"));
      put("made", "1");
      expect(await compare()).toEqual(["+made", "+out from elsewhere", "+renamed", "+thesis from elsewhere", "-kept"]);
    },
  );

  it("keeps no more than the limits allow, and gives up where there is too much", async () => {
    for (let i = 0; i < 10; i++) put(`f${i}`, "12345");
    const few = watching({ limits: { files: 3 } });
    await few.compare();
    expect(few.kept).toHaveLength(3);
    const small = watching({ limits: { totalBytes: 12 } });
    await small.compare();
    expect(small.kept).toHaveLength(2);
    const none = watching({ limits: { fileBytes: 4 } });
    await none.compare();
    expect(none.kept).toEqual([]);
    put("f3", "54321");
    expect(await none.compare()).toEqual(["~f3"]);
    expect(await watching({ limits: { entries: 9 } }).compare()).toBe("too-large");
  });
});
