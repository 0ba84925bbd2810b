/** Applying a change set, without a sandbox: locks of git, conflicts and plans that a crash left. */
import fs, {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { asOrdinaryUser } from "../../../test/support/ordinary-user.js";
import { type ApplyPlan, applyChanges, dropPlan, finishPlan, hasPlan, readPlan, writePlan } from "./apply-changes.js";
import { entryOf, readChangeSet } from "./change-set.js";

let base: string;
let root: string;
let view: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "apply-")));
  root = join(base, "root");
  view = join(base, "view");
  for (const folder of [root, join(view, "0/upper")]) mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function lay(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** The plan for what a command wrote that began now. */
async function planFor(written: Readonly<Record<string, string>>): Promise<ApplyPlan> {
  const upper = join(view, "0/upper");
  const startedAt = Date.now() + 1;
  lay(upper, written);
  const merged = join(base, "merged");
  for (const layer of [root, upper]) cpSync(layer, merged, { recursive: true });
  const { changes } = await readChangeSet({ lower: root, upper, merged, isHidden: () => false });
  return { root, upper, removed: join(view, "0/removed"), startedAt, changes };
}

const text = (name: string) => readFileSync(join(root, name), "utf8");

describe("while a repository changes", () => {
  const REPOSITORY = { ".git/HEAD": "ref: refs/heads/main\n", ".git/index": "old", ".git/refs/heads/main": "1\n" };
  const CHANGED = { ".git/index": "new", ".git/refs/heads/main": "2\n", plain: "new" };

  it.each([".git/index.lock", ".git/refs/heads/main.lock"])(
    "[P18] what a git has locked with %s refuses the whole plan",
    async (lock) => {
      lay(root, { ...REPOSITORY, [lock]: "" });
      const { done, conflicts } = await applyChanges(await planFor(CHANGED));
      expect([done, conflicts.length, text(".git/index"), existsSync(join(root, "plain"))]).toEqual([
        [],
        3,
        "old",
        false,
      ]);
      expect(existsSync(join(root, lock))).toBe(true);
    },
  );

  it("[P18] no lock stays behind", async () => {
    lay(root, REPOSITORY);
    expect((await applyChanges(await planFor(CHANGED))).conflicts).toEqual([]);
    expect(text(".git/refs/heads/main")).toBe("2\n");
    expect(readdirSync(join(root, ".git"))).toEqual(["HEAD", "index", "refs"]);
    expect(readdirSync(join(root, ".git/refs/heads"))).toEqual(["main"]);
  });

  it("[P18 S14] a plan that a crash left waits for a git, and knows its own lock again", async () => {
    lay(root, REPOSITORY);
    const plan = await planFor(CHANGED);
    lay(root, { ".git/index.lock": "" });
    expect(() => finishPlan(plan)).toThrow("git works there (.git/index.lock)");
    expect(existsSync(join(root, ".git/index.lock"))).toBe(true);
    lay(root, { ".git/index.lock": `oxbow ${plan.startedAt}\n` });
    expect((await finishPlan(plan)).conflicts).toEqual([]);
    expect([text(".git/index"), existsSync(join(root, ".git/index.lock"))]).toEqual(["new", false]);
  });
});

it("[P18] leaves out a version that no name is left for", async () => {
  const name = "n".repeat(252);
  lay(root, { [name]: "theirs", other: "theirs" });
  const plan = await planFor({ [name]: "ours", other: "ours", fine: "ours" });
  lay(root, { [name]: "theirs 2", other: "theirs 2" });
  const { conflicts } = await applyChanges(plan);
  expect(conflicts).toEqual([
    { path: name, ours: undefined },
    { path: "other", ours: "other.oxbow" },
  ]);
  expect([text(name), text("other"), text("other.oxbow"), text("fine")]).toEqual([
    "theirs 2",
    "theirs 2",
    "ours",
    "ours",
  ]);
});

it("[P18 S14] finishes a plan whose folder was renamed", async () => {
  lay(root, { kept: "1" });
  await writePlan(view, [await planFor({ "d/fresh": "2" })]);
  renameSync(view, `${view}-taken`);
  for (const plan of readPlan(`${view}-taken`) ?? []) await finishPlan(plan);
  expect([text("kept"), text("d/fresh")]).toEqual(["1", "2"]);
});

it("[P18] applies folders that their owner cannot look into or change, also for an ordinary user", async () => {
  const place = realpathSync(mkdtempSync("/var/tmp/apply-"));
  chmodSync(place, 0o777);
  const made = { root: join(place, "root"), upper: join(place, "upper"), merged: join(place, "merged") };
  const read = (name: string) => readFileSync(join(made.root, name), "utf8");
  const modeOf = (name: string) => lstatSync(join(made.root, name)).mode & 0o777;
  await asOrdinaryUser(async () => {
    for (const folder of Object.values(made)) mkdirSync(folder);
    lay(made.upper, { "closed/a": "1", "node_modules/p/shut/b": "2", "node_modules/q/c": "3" });
    for (const [name, mode] of [
      ["closed", 0],
      ["node_modules/p/shut", 0o555],
      ["node_modules/q", 0],
    ] as const)
      chmodSync(join(made.upper, name), mode);
    const startedAt = Date.now() + 1;
    const { changes } = await readChangeSet({ ...made, lower: made.root, isHidden: () => false });
    const plan = { ...made, removed: join(place, "removed"), startedAt, changes };
    expect((await applyChanges(plan)).conflicts).toEqual([]);
    expect([modeOf("closed"), modeOf("node_modules/p/shut"), modeOf("node_modules/q")]).toEqual([0, 0o555, 0]);
  });
  expect([read("closed/a"), read("node_modules/p/shut/b"), read("node_modules/q/c")]).toEqual(["1", "2", "3"]);
  rmSync(place, { recursive: true, force: true });
});

it("[P18 T10] changes what is in folders that let no one change it, also for an ordinary user", async () => {
  const place = realpathSync(mkdtempSync("/var/tmp/apply-"));
  chmodSync(place, 0o777);
  const [top, upper] = [join(place, "root"), join(place, "upper")];
  const entry = { size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0 };
  const folder = (mode: number) => ({ ...entry, kind: "folder" as const, mode });
  await asOrdinaryUser(async () => {
    for (const each of [top, upper]) mkdirSync(each);
    lay(top, { "shut/inner/old": "1", "gone/old": "1" });
    lay(upper, { "shut/inner/fresh": "2" });
    const found = lstatSync(join(upper, "shut/inner/fresh"));
    const fresh = { ...entry, kind: "file" as const, mode: 0o644, size: found.size, mtimeMs: found.mtimeMs };
    const old = (name: string) => entryOf(lstatSync(join(top, name)), join(top, name));
    const changes = [
      { path: "gone", before: folder(0o500), after: undefined },
      { path: "gone/old", before: old("gone/old"), after: undefined },
      { path: "shut", before: folder(0o555), after: folder(0o755) },
      { path: "shut/inner", before: folder(0o500), after: folder(0o555) },
      { path: "shut/inner/old", before: old("shut/inner/old"), after: undefined },
      { path: "shut/inner/fresh", before: undefined, after: fresh },
    ].map((change) => ({ ...change, recorded: true }));
    chmodSync(join(top, "shut/inner"), 0o500);
    chmodSync(join(top, "shut"), 0o555);
    chmodSync(join(top, "gone"), 0o500);
    const plan = { root: top, upper, removed: join(place, "removed"), startedAt: Date.now() + 1, changes };
    expect((await applyChanges(plan)).conflicts).toEqual([]);
  });
  expect([readdirSync(top), readdirSync(join(top, "shut/inner"))]).toEqual([["shut"], ["fresh"]]);
  const modes = ["shut", "shut/inner"].map((name) => lstatSync(join(top, name)).mode & 0o777);
  expect(modes).toEqual([0o755, 0o555]);
  rmSync(place, { recursive: true, force: true });
});

describe("when all steps are taken", () => {
  it("[P18] folders are waited for one by one only while they are few", async () => {
    const waited = vi.spyOn(fs, "fsync");
    const wait = async (count: number) => {
      const folders = Array.from({ length: count }, (_, n) => join(root, `${count}-${n}`));
      for (const folder of folders) mkdirSync(folder);
      await writePlan(view, []);
      waited.mockClear();
      await dropPlan(view, folders);
      expect(hasPlan(view)).toBe(false);
      return waited.mock.calls.length;
    };
    syncBuiltinESMExports();
    try {
      expect([await wait(5), await wait(300)]).toEqual([5, process.platform === "linux" ? 0 : 300]);
    } finally {
      waited.mockRestore();
      syncBuiltinESMExports();
    }
  });
});
