import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { link, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../../test/support/needs.js";
import { times } from "../../test/support/thorough.js";
import { Searcher } from "./search/searcher.js";
import { type PathGuard, Workspace, WorkspaceError } from "./workspace.js";

let base: string;
let root: string;
let racer: ChildProcess | undefined;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "workspace-guard-")));
  root = join(base, "ws");
  await mkdir(join(root, ".git/hooks"), { recursive: true });
  await mkdir(join(base, "own"));
  await writeFile(join(base, "own/creds.key"), "the key");
});
afterEach(async () => {
  racer?.kill("SIGKILL");
  racer = undefined;
  await rm(base, { recursive: true, force: true });
});

const GUARD: PathGuard = {
  reason: async (path) => (path.includes("/.git") ? "git runs it" : undefined),
  isOwn: async (_path, found) => {
    const { ino } = await import("node:fs").then(({ statSync }) =>
      statSync(join(base, "own/creds.key"), { bigint: true }),
    );
    return found?.ino === ino;
  },
};

const open = () => Workspace.open(root, { guard: GUARD });

async function refused(action: Promise<unknown>): Promise<void> {
  const error = await action.then(
    () => new Error("not refused"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WorkspaceError);
  expect((error as WorkspaceError).code).toBe("guarded");
}

describe("a guarded place", () => {
  it("is not written, made, removed or moved without a yes to that very path", async () => {
    const workspace = await open();
    await writeFile(join(root, ".git/hooks/old"), "x");
    await writeFile(join(root, "a"), "x");
    await mkdir(join(root, "folder/.git"), { recursive: true });
    await refused(workspace.writeText(".git/hooks/pre-commit", "x"));
    await refused(workspace.writeText("lib/.git/hooks/pre-commit", "x"));
    await refused(workspace.writeBytes(".git/commondir", Buffer.from("x")));
    await refused(workspace.remove(".git/hooks/old"));
    await refused(workspace.move("a", ".git/hooks/a"));
    await refused(workspace.move(".git/hooks/old", "b"));
    await refused(workspace.move("folder", "elsewhere"));
    await refused(workspace.allowing([join(root, ".git/hooks/other")]).writeText(".git/hooks/pre-commit", "x"));
    expect(await readdir(join(root, ".git/hooks"))).toEqual(["old"]);
    expect(existsSync(join(root, "lib/.git"))).toBe(false);
  });

  it("is changed with one, and so are the folders on the way", async () => {
    const workspace = await open();
    const path = join(root, "lib/.git/hooks/pre-commit");
    await workspace.allowing([path]).writeText("lib/.git/hooks/pre-commit", "x");
    expect(await readFile(path, "utf8")).toBe("x");
    await refused(workspace.writeText("lib/.git/hooks/pre-push", "x"));
  });

  it("is known by where a link leads", async () => {
    await symlink(".git/hooks", join(root, "innocent"));
    await refused((await open()).writeText("innocent/pre-commit", "x"));
  });
});

describe("an own file", () => {
  it("is neither read nor replaced under another name", async () => {
    await link(join(base, "own/creds.key"), join(root, "notes.txt"));
    const workspace = await open();
    await refused(workspace.readText("notes.txt"));
    await refused(workspace.remove("notes.txt"));
    expect(await readFile(join(base, "own/creds.key"), "utf8")).toBe("the key");
  });
});

/** Swaps until it is killed; each says first that it runs. Python has the system call for exchanging two names. */
const RACES: Readonly<Record<string, string>> = {
  "a folder for a link to the hooks": `
os.mkdir("f"); os.symlink(".git/hooks", "l")
while True:
    os.rename("f", "t"); os.rename("l", "f"); os.rename("f", "l"); os.rename("t", "f")`,
  "a folder for a link, in one step": `
os.mkdir("f"); os.symlink(".git/hooks", "l")
while True: exchange("f", "l")`,
  "a folder above for a link": `
os.makedirs("up/f"); os.makedirs("other"); os.symlink("../.git/hooks", "other/f")
os.symlink("up/f", "f")
while True: exchange("up", "other")`,
  "a missing folder for a link": `
os.symlink(".git/hooks", "l")
while True:
    try: os.rename("l", "f"); os.rename("f", "l")
    except OSError: pass`,
};

const PRELUDE = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def exchange(a, b): libc.renameat2(-100, a.encode(), -100, b.encode(), 2)
print("ready", flush=True)
`;

async function race(code: string): Promise<void> {
  const child = spawn("python3", ["-c", PRELUDE + code], { cwd: root, stdio: ["ignore", "pipe", "ignore"] });
  racer = child;
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("error", reject);
  });
}

needs("linux", "python3").describe("a process that swaps", () => {
  it.each(Object.keys(RACES))("%s gets no change through", async (name) => {
    await race(RACES[name] ?? "");
    for (let round = 0; round < times(30, 300); round++) {
      const workspace = await open();
      const path = `f/file-${round}`;
      await workspace.writeText(path, "x").catch(() => {});
      if (round % 3 === 0) await workspace.writeText(`f/made-${round}/deep/x`, "x").catch(() => {});
      if (round % 3 === 1) await workspace.move(path, `f/moved-${round}`).catch(() => {});
      if (round % 3 === 2) await workspace.remove(path).catch(() => {});
    }
    racer?.kill("SIGKILL");
    expect(await readdir(join(root, ".git/hooks"))).toEqual([]);
  });
});

describe("[P15] a search", () => {
  it.each(["with ripgrep", "built in"])(
    "does not count matches in an own file under another name (%s)",
    async (way) => {
      await link(join(base, "own/creds.key"), join(root, "z.txt"));
      await writeFile(join(root, "a.txt"), "the a");
      await link(join(root, "a.txt"), join(root, "b.txt"));
      const isOwn = async (path: string) => (await stat(path)).ino === (await stat(join(base, "own/creds.key"))).ino;
      const workspace = await Workspace.open(root, { guard: { ...GUARD, isOwn } });
      const searcher = new Searcher(workspace, way === "built in" ? { ripgrep: false } : { path: process.env.PATH });
      for (const mode of ["content", "files"] as const) {
        const request = { pattern: "^the", mode, limit: 1, context: 0, ignoreCase: false, multiline: false };
        const { totalFiles, totalCount } = await searcher.search(".", request, AbortSignal.timeout(9000));
        expect([totalFiles, totalCount]).toEqual([2, 2]);
      }
    },
  );
});
