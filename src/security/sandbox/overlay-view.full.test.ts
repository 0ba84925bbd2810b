/** Random programs in a view, and crashes at every step while their changes are applied. */
import { spawnSync } from "node:child_process";
import fs, {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { sample } from "../../../test/support/thorough.js";
import { type ApplyPlan, applyChanges, finishPlan, readPlan, writePlan } from "../../system/overlay/apply-changes.js";
import { SandboxTestbed } from "./sandbox-testbed.js";
import { SessionSpace } from "./session-space.js";

let bed: SandboxTestbed;
let space: SessionSpace;

beforeEach(() => {
  bed = new SandboxTestbed();
  space = new SessionSpace();
});

afterEach(async () => {
  await bed.close();
  await space.close();
});

const { it } = needs("sandbox");

/** Names that a tree is made of; few, so that operations meet. */
const name = fc.constantFrom("a", "b", "c", "d e", "ü", "node_modules");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const operation = fc.oneof(
  fc.record({ op: fc.constant("write"), path, text: fc.string({ maxLength: 8 }) }),
  fc.record({ op: fc.constant("append"), path }),
  fc.record({ op: fc.constant("mkdir"), path }),
  fc.record({ op: fc.constant("rm"), path }),
  fc.record({ op: fc.constant("mv"), path, to: path }),
  fc.record({ op: fc.constant("link"), path, to: path }),
  fc.record({ op: fc.constant("symlink"), path, to: path }),
  fc.record({ op: fc.constant("chmod"), path, mode: fc.constantFrom(0o644, 0o755, 0o600) }),
);

/** Carries out what it can; the rest fails, as in any program. */
const PROGRAM = `
const fs = require("fs");
for (const { op, path, to, text, mode } of JSON.parse(process.argv[1])) {
  try {
    if (op === "write") fs.writeFileSync(path, text);
    if (op === "append") fs.appendFileSync(path, "more");
    if (op === "mkdir") fs.mkdirSync(path, { recursive: true });
    if (op === "rm") fs.rmSync(path, { recursive: true });
    if (op === "mv") fs.renameSync(path, to);
    if (op === "link") fs.linkSync(path, to);
    if (op === "symlink") fs.symlinkSync(to, path);
    if (op === "chmod" && !fs.statSync(path).isDirectory()) fs.chmodSync(path, mode);
  } catch {}
}`;

function snapshot(root: string, folder = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const each of readdirSync(join(root, folder))) {
    const inner = folder === "" ? each : `${folder}/${each}`;
    const stat = lstatSync(join(root, inner));
    if (stat.isSymbolicLink()) found[inner] = `-> ${readlinkSync(join(root, inner))}`;
    else if (stat.isDirectory()) Object.assign(found, { [inner]: "folder" }, snapshot(root, inner));
    else found[inner] = `${(stat.mode & 0o777).toString(8)} ${readFileSync(join(root, inner), "utf8")}`;
  }
  return found;
}

function plant(tree: Readonly<Record<string, string | null>>): void {
  for (const each of readdirSync(bed.workspace)) rmSync(bed.path(each), { recursive: true });
  for (const [each, text] of Object.entries(tree)) {
    if (text === null) mkdirSync(bed.path(each), { recursive: true });
    else bed.write(bed.path(each), text);
  }
}

const TREE = {
  "node_modules/a/b": "7",
  "node_modules/b/c/a": "8",
  "a/node_modules/c/b": "9",
  a: null,
  "a/a": "1",
  "a/b/c": "2",
  b: "3",
  "c/a": "4",
  "c/d e": "5",
  "ü/ü": "6",
};

const WITH_GIT = { ...TREE, ".git/index": "old", ".git/refs/heads/main": "1" };

/** So that an apply takes each of its ways. */
const OF_EVERY_KIND = [
  { op: "rm", path: "node_modules/a" },
  { op: "write", path: "node_modules/a", text: "a file now" },
  { op: "rm", path: "node_modules/b" },
  { op: "mkdir", path: "node_modules/b/c" },
  { op: "write", path: "node_modules/b/c/a", text: "in a new folder" },
  { op: "rm", path: "a/b" },
  { op: "write", path: "a/b", text: "a file now" },
  { op: "rm", path: "b" },
  { op: "mkdir", path: "b/new" },
  { op: "write", path: "b/new/x", text: "in place of a file" },
  { op: "append", path: "c/a" },
  { op: "chmod", path: "c/d e", mode: 0o600 },
  { op: "mv", path: "ü/ü", to: "moved" },
  { op: "symlink", path: "link", to: "c/a" },
  { op: "append", path: ".git/index" },
  { op: "append", path: ".git/refs/heads/main" },
];

/** Runs operations in a view. The caller ends the command. */
async function ran(operations: readonly unknown[]) {
  const wrapped = await bed.wrap(`node -e '${PROGRAM}' "$OPS"`, {
    sandbox: { space },
    writes: "held",
    env: { OPS: JSON.stringify(operations) },
  });
  const startedAt = Date.now();
  expect((await bed.run(wrapped)).output).toBe("");
  const { view } = wrapped;
  if (view === undefined) throw new Error("no view");
  const [merged] = view.folders.map((folder) => folder.merged);
  const mounting = (
    await space.join({
      bubblewrap: "bwrap",
      path: process.env.PATH,
      workspace: bed.workspace,
      mounts: [],
      network: "shared",
      folder: bed.state,
    })
  )?.mounting;
  const seen = snapshot(join(mounting?.root ?? "", merged ?? ""));
  const [set] = await view.read(undefined);
  if (set === undefined) throw new Error("no changes were read");
  const { root, upper, changes } = set;
  const plan: ApplyPlan = { root, upper, removed: view.removedOf(root), startedAt, changes };
  return { plan, seen, folder: view.folder, end: () => wrapped.ended() };
}

const CHANGING = [
  "renameSync",
  "unlinkSync",
  "rmdirSync",
  "mkdirSync",
  "chmodSync",
  "writeFileSync",
  "rmSync",
] as const;

const APPLY = `
import { applyChanges, readPlan } from "../../system/overlay/apply-changes.js";
for (const plan of readPlan(process.argv[2]) ?? []) await applyChanges(plan);`;
const CHANGING_CALLS =
  "?rename,?renameat,?renameat2,?unlink,?unlinkat,?rmdir,?mkdir,?mkdirat,?chmod,?fchmod,?fchmodat,?link,?linkat,?symlink,?symlinkat," +
  "?fsync,?fdatasync,?ftruncate,?utimensat,?copy_file_range,?sendfile";

class Crash extends Error {}

/** Lets the step with this number fail, as if the program had been killed there. Returns how many were taken. */
async function crashingAt(step: number, action: () => Promise<unknown>): Promise<number> {
  const originals = CHANGING.map((each) => [each, fs[each]] as const);
  let taken = 0;
  for (const [each, original] of originals) {
    Object.assign(fs, {
      [each]: (...args: unknown[]) => {
        if (++taken > step) throw new Crash();
        return (original as (...all: unknown[]) => unknown)(...args);
      },
    });
  }
  syncBuiltinESMExports();
  try {
    await action();
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
  } finally {
    Object.assign(fs, Object.fromEntries(originals));
    syncBuiltinESMExports();
  }
  return taken;
}

describe("the changes of a random program", () => {
  it("[P18] are applied as the program saw them", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 12 }), async (operations) => {
        plant(TREE);
        const before = snapshot(bed.workspace);
        const { plan, seen, end } = await ran(operations);
        expect(snapshot(bed.workspace)).toEqual(before);
        expect((await applyChanges(plan)).conflicts).toEqual([]);
        expect(snapshot(bed.workspace)).toEqual(seen);
        await end();
      }),
      { numRuns: 40 },
    );
  }, 600_000);

  it("[P18 S14] are complete after a crash at any step, when the next start has finished them", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 4, maxLength: 12 }),
        fc.integer({ min: 0, max: 12 }),
        async (operations, step) => {
          plant(TREE);
          const { plan, seen, folder, end } = await ran(operations);
          await writePlan(folder, [plan]);
          await crashingAt(step, () => applyChanges(plan));
          const [left] = readPlan(folder) ?? [];
          if (left === undefined) throw new Error("no plan is left");
          expect((await finishPlan(left)).conflicts).toEqual([]);
          expect(snapshot(bed.workspace)).toEqual(seen);
          await end();
        },
      ),
      { numRuns: 60 },
    );
  }, 600_000);

  it("[P18 S14] are complete after a crash at each step in turn", async () => {
    let steps = 0;
    for (let step = 0; step <= steps; step++) {
      plant(WITH_GIT);
      const { plan, seen, folder, end } = await ran(OF_EVERY_KIND);
      await writePlan(folder, [plan]);
      const taken = await crashingAt(step, () => applyChanges(plan));
      // Every step is taken once more than the one before was.
      steps = Math.max(steps, Math.min(taken, step + 1));
      const [left] = readPlan(folder) ?? [];
      if (left === undefined) throw new Error("no plan is left");
      expect([step, (await finishPlan(left)).conflicts]).toEqual([step, []]);
      expect([step, snapshot(bed.workspace)]).toEqual([step, seen]);
      await end();
    }
    expect(steps).toBeGreaterThan(25);
  }, 600_000);

  needs("sandbox", "strace").it(
    "[P18 S14] are complete after a kill at any system call that changes something",
    async () => {
      const program = join(bed.outside, "apply.mjs");
      await build({
        stdin: { contents: APPLY, resolveDir: import.meta.dirname, loader: "ts" },
        ...{ outfile: program, bundle: true, platform: "node", format: "esm", logLevel: "silent" },
      });
      const trace = join(bed.outside, "trace");
      /** Strace counts each call of each thread from 1. */
      const killedAt = async (kill?: { readonly call: string; readonly count: number }) => {
        plant(WITH_GIT);
        const { plan, seen, folder, end } = await ran(OF_EVERY_KIND);
        await writePlan(folder, [plan]);
        const inject = kill === undefined ? [] : ["-e", `inject=${kill.call}:signal=KILL:when=${kill.count}`];
        const words = [
          "-f",
          "-o",
          trace,
          "-e",
          `trace=${CHANGING_CALLS}`,
          ...inject,
          process.execPath,
          program,
          folder,
        ];
        const { signal } = spawnSync("strace", words, { env: { PATH: process.env.PATH, UV_THREADPOOL_SIZE: "1" } });
        const [left] = readPlan(folder) ?? [];
        if (left === undefined) throw new Error("no plan is left");
        expect([kill, (await finishPlan(left)).conflicts]).toEqual([kill, []]);
        expect([kill, snapshot(bed.workspace)]).toEqual([kill, seen]);
        await end();
        return signal;
      };
      expect(await killedAt()).toBe(null);
      const counts = new Map<string, number>();
      const kills = [...readFileSync(trace, "utf8").matchAll(/^(\d+) +([a-z_0-9]+)\(/gm)].map(
        ([, thread, call = ""]) => {
          const count = (counts.get(`${thread} ${call}`) ?? 0) + 1;
          counts.set(`${thread} ${call}`, count);
          return { call, count };
        },
      );
      expect(kills.length).toBeGreaterThan(80);
      for (const kill of sample(kills, 8)) expect([kill, await killedAt(kill)]).toEqual([kill, "SIGKILL"]);
    },
    900_000,
  );

  it("[P18] refuse the whole plan where a git holds its lock, and leave no lock behind", async () => {
    plant({
      ".git/HEAD": "ref: refs/heads/main\n",
      ".git/index": "old",
      ".git/objects": null,
      ".git/refs": null,
      "src/a": "1",
    });
    const { plan, end } = await ran([
      { op: "write", path: ".git/index", text: "new" },
      { op: "write", path: "src/a", text: "2" },
    ]);
    writeFileSync(bed.path(".git/index.lock"), "");
    const refused = await applyChanges(plan);
    expect([refused.done, refused.conflicts.map((each) => each.path).toSorted()]).toEqual([
      [],
      [".git/index", "src/a"],
    ]);
    expect(readFileSync(bed.path("src/a"), "utf8")).toBe("1");
    rmSync(bed.path(".git/index.lock"));
    expect((await applyChanges(plan)).conflicts).toEqual([]);
    expect(readFileSync(bed.path(".git/index"), "utf8")).toBe("new");
    expect(existsSync(bed.path(".git/index.lock"))).toBe(false);
    await end();
  });
});
