import { chmodSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { Workspace } from "../../tools/workspace.js";
import { StoreError } from "../store.js";
import type { UndoItem } from "./plan-items.js";
import { GAPS } from "./recorder.js";
import { ids, type PlaceOptions, treeOf, UndoPlace } from "./test-support/undo-place.js";

function place(options: PlaceOptions = {}): UndoPlace {
  const made = new UndoPlace(options);
  onTestFinished(() => made.discard());
  return made;
}

function tools(here: UndoPlace): Promise<Workspace> {
  return Workspace.open(here.root, { observer: here.recorder });
}

async function refusal(action: Promise<unknown>): Promise<StoreError> {
  const error = await action.then(
    (value) => new Error(`not refused: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof StoreError)) throw error;
  return error;
}

function brief(items: readonly UndoItem[]): readonly string[] {
  return items.map(({ path, action, state }) => `${action} ${path}${state === "ready" ? "" : ` ${state}`}`);
}

describe("undoing what tools changed", () => {
  verifies(["T10"], "goes back turn by turn, and forward again, byte for byte and mode for mode", async () => {
    const here = place();
    here.sh("printf one > a.txt; mkdir d; printf two > d/b.txt; chmod 755 d/b.txt; printf '\\0\\377\\n' > bin");
    const trees = [here.tree()];
    const workspace = await tools(here);
    here.turn();
    await workspace.writeText("new/deep/c.txt", "three");
    await workspace.readText("a.txt");
    await workspace.writeText("a.txt", "ONE");
    trees.push(here.tree());
    here.turn();
    await here.bash(
      "rm -r d bin; mv a.txt e.txt; ln -s e.txt l; mkdir empty; echo x >> e.txt; chmod 600 new/deep/c.txt",
    );
    trees.push(here.tree());
    here.turn();
    await workspace.move("new", "moved/new");
    await workspace.remove("l");
    await here.bash("true");
    trees.push(here.tree());
    for (const tree of [trees[2], trees[1], trees[0]]) {
      await here.undo();
      expect(here.tree()).toEqual(tree);
    }
    expect((await refusal(here.plan())).message).toContain("undone already");
    for (const tree of trees.slice(1)) {
      await here.undo({ redo: true });
      expect(here.tree()).toEqual(tree);
    }
    await here.undo({ from: 1 });
    expect(here.tree()).toEqual(trees[0]);
  });

  it("survives a restart: another process undoes, and later commands are still compared", async () => {
    const here = place();
    here.sh("echo 1 > a");
    const first = here.tree();
    here.turn();
    await here.bash("echo 2 > a; echo 2 > b");
    here.reopen();
    here.sh("echo mine > theirs");
    here.turn();
    await here.bash("echo 3 > a");
    here.reopen();
    await here.undo();
    here.reopen();
    await here.undo();
    expect(here.tree()).toEqual({ ...first, theirs: expect.stringContaining("mine") });
  });

  it("reverts one turn among others, and reports conflicts with a later turn", async () => {
    const here = place();
    here.turn();
    await here.bash("echo 1 > a; echo 1 > b");
    here.turn();
    await here.bash("echo 2 > b");
    here.turn();
    await here.bash("echo 3 > c");
    const plan = await here.plan({ turn: 1 });
    expect(brief(plan.items)).toEqual(["delete a", "delete b conflict"]);
    expect(plan.items[1]?.reason).toBe("turn 2 changed it again: undo both with --from 1");
    await here.undo({ turn: 2 });
    await here.undo({ turn: 1 });
    expect(Object.keys(here.tree())).toEqual(["c"]);
    expect((await refusal(here.plan({ turn: 1 }))).message).toContain("undone already");
    expect((await refusal(here.plan({ turn: 9 }))).message).toBe("No tool changed anything in turn 9; 1, 2, 3 did.");
  });

  it("[T10] tells the changes of calls that run at the same time apart", async () => {
    const here = place();
    here.turn();
    const begin = (tool: string) => here.recorder.begin({ call: ids.next("call"), tool, changes: "announced" });
    const [first, second] = [await begin("write"), await begin("edit")];
    const announce = (name: string) => async () => {
      await new Promise(setImmediate);
      await here.recorder.before({ absolute: join(here.root, name), before: undefined, after: { kind: "other" } });
    };
    await Promise.all([first.during(announce("one")), second.during(announce("two"))]);
    await first.during(announce("three"));
    expect([(await first.end()).toSorted(), await second.end()]).toEqual([["one", "three"], ["two"]]);
  });

  it("has nothing to undo where no tool changed anything", async () => {
    const here = place();
    expect((await refusal(here.plan())).code).toBe("not-found");
    here.turn();
    await here.bash("true");
    expect((await refusal(here.plan())).code).toBe("not-found");
    expect((await refusal(here.plan({ redo: true }))).code).toBe("not-found");
  });

  it("turns folders into files and back, and keeps folders that are not accessible", async () => {
    const here = place();
    here.sh("mkdir -p x/y shut; echo 1 > x/y/z; echo 2 > f; echo 3 > shut/in; chmod 555 shut");
    onTestFinished(() => chmodSync(join(here.root, "shut"), 0o755));
    const first = here.tree();
    here.turn();
    await here.bash(
      "rm -r x; echo file > x; rm f; mkdir -p f/g; echo 4 > f/g/h; chmod 755 shut; rm -r shut; ln -s f shut",
    );
    const second = here.tree();
    await here.undo();
    expect(here.tree()).toEqual(first);
    await here.undo({ redo: true });
    expect(here.tree()).toEqual(second);
    await here.undo();
  });

  it("restores names that were hard links of one file", async () => {
    const here = place();
    here.sh("echo 1 > a; ln a b; ln a c; echo 2 > d");
    const first = here.tree();
    here.turn();
    await here.bash("echo 3 >> a; rm c; ln -f a d; ln a e; chmod 600 b");
    const second = here.tree();
    await here.undo();
    expect(here.tree()).toEqual(first);
    await here.undo({ redo: true });
    expect(here.tree()).toEqual(second);
  });

  it("undoes in a folder beside the workspace that tools may write to", async () => {
    const here = place();
    const extra = join(here.base, "extra");
    mkdirSync(extra);
    const workspace = await Workspace.open(here.root, { observer: here.recorder, extraRoots: [extra] });
    here.turn();
    await workspace.writeText(join(extra, "sub/x.txt"), "x");
    await here.undo();
    expect(treeOf(extra)).toEqual({});
  });
});

describe("changes by others", () => {
  verifies(["T10"], "are never overwritten: nothing is touched as long as one is in the way", async () => {
    const here = place();
    here.sh("echo 1 > edited; echo 1 > removed; echo 1 > gone; echo 1 > mode; echo 1 > fine; mkdir d; echo 1 > d/x");
    here.turn();
    await here.bash("echo 2 > edited; echo 2 > removed; rm gone; echo 2 > mode; echo 2 > fine; echo 2 > made; rm -r d");
    here.sh("echo mine > edited; rm removed; echo mine > gone; chmod 700 mode; echo mine >> made; echo mine > d");
    const before = here.tree();
    const plan = await here.plan();
    expect(Object.fromEntries(plan.items.map(({ path, state, reason }) => [path, reason ?? state]))).toEqual({
      edited: "another program changed it since",
      removed: "another program removed it since",
      gone: "another program created it again since",
      mode: "another program changed its permissions since",
      fine: "ready",
      made: "another program changed it since",
      d: "another program created it again since",
      "d/x": "d is a file now, not a folder",
    });
    const error = await refusal(here.undo());
    expect(error.code).toBe("conflict");
    expect(error.message).toMatch(/^Nothing was undone\. .*And 2 more\.$/);
    expect(here.tree()).toEqual(before);
    const { done, left } = await here.undo({}, { skipConflicts: true });
    expect([brief(done), left.length]).toEqual([["restore fine"], 7]);
    expect(here.tree()).toEqual({ ...before, fine: before.fine?.replace("2", "1") });
  });

  it("between two turns, or between two calls of one, keep the first from being undone with the second", async () => {
    const here = place();
    here.sh("echo 1 > a");
    here.turn();
    await here.bash("echo 2 > a");
    here.sh("echo mine > a");
    here.turn();
    await here.bash("echo 3 > a");
    const [item] = (await here.plan({ from: 1 })).items;
    expect(item).toMatchObject({ state: "conflict", reason: expect.stringContaining("between the changes") });
    await here.undo();
    expect(readFileSync(join(here.root, "a"), "utf8")).toBe("mine\n");
    here.turn();
    await here.bash("echo 4 > b");
    here.sh("echo mine > b");
    await here.bash("echo 5 > b");
    expect((await here.plan()).items).toMatchObject([{ path: "b", state: "conflict" }]);
  });

  it("that put things back by hand leave nothing to do", async () => {
    const here = place();
    here.sh("echo 1 > a; echo 1 > b");
    here.turn();
    await here.bash("echo 2 > a; rm b");
    here.sh("echo 1 > a; echo 1 > b");
    const plan = await here.plan();
    expect(plan.items).toEqual([]);
    await here.undo();
    expect((await refusal(here.plan())).message).toContain("undone already");
  });

  it("in a folder that was made keep the folder", async () => {
    const here = place();
    here.turn();
    await here.bash("mkdir -p made/inner; echo 1 > made/inner/x");
    here.sh("echo mine > made/y");
    const plan = await here.plan();
    expect(brief(plan.items)).toEqual(["delete made/inner", "delete made/inner/x"]);
    expect(plan.notes.join("\n")).toContain("The folder made stays");
    await here.undo();
    expect(Object.keys(here.tree())).toEqual(["made", "made/y"]);
  });

  it("that removed a folder do not keep a file from coming back", async () => {
    const here = place();
    here.sh("mkdir -p d/e; echo 1 > d/e/x");
    const first = here.tree();
    here.turn();
    await here.bash("rm d/e/x");
    here.sh("rm -r d");
    await here.undo();
    expect(here.tree()).toEqual(first);
    await here.undo({ redo: true });
    expect(here.tree()).toEqual({});
  });

  it("after the plan was made are noticed, and so is a turn that came in between", async () => {
    const here = place();
    here.sh("echo 1 > a; echo 1 > b");
    here.turn();
    await here.bash("echo 2 > a; echo 2 > b");
    const plan = await here.plan();
    here.sh("echo mine > b");
    const { applyUndo } = await import("./apply.js");
    const before = here.tree();
    expect((await refusal(applyUndo(here.journal, plan))).message).toContain("b was changed since the plan was made");
    expect(here.tree()).toEqual(before);
    here.sh("echo 2 > b");
    await here.bash("echo 3 > c");
    expect((await refusal(applyUndo(here.journal, plan))).message).toContain("The session changed");
  });

  it("are refused while a tool of the session runs", async () => {
    const here = place();
    here.turn();
    await here.bash("echo 1 > a");
    await here.journal.enter();
    expect((await refusal(here.plan())).code).toBe("busy");
    here.journal.leave();
    await here.undo();
  });
});

describe("links", () => {
  verifies(["T10"], "planted since lead no undo out of the workspace", async () => {
    const here = place();
    const outside = join(here.base, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "x"), "1\n");
    writeFileSync(join(outside, "a"), "1\n");
    here.sh("mkdir d e; echo 0 > d/x; echo 0 > a; echo 0 > e/x");
    here.turn();
    await here.bash("echo 1 > d/x; echo 1 > a; rm e/x; mkdir g; echo 1 > g/x");
    rmSync(join(here.root, "d"), { recursive: true });
    rmSync(join(here.root, "e"), { recursive: true });
    rmSync(join(here.root, "g"), { recursive: true });
    rmSync(join(here.root, "a"));
    symlinkSync(outside, join(here.root, "d"));
    symlinkSync(outside, join(here.root, "e"));
    symlinkSync(outside, join(here.root, "g"));
    symlinkSync(join(outside, "a"), join(here.root, "a"));
    const plan = await here.plan();
    expect(Object.fromEntries(plan.items.map(({ path, state }) => [path, state]))).toEqual({
      a: "conflict",
      "d/x": "conflict",
      "e/x": "conflict",
      g: "conflict",
    });
    await refusal(here.undo({}, { skipConflicts: true }));
    expect(treeOf(outside)).toMatchObject({ x: expect.stringContaining("1\n"), a: expect.stringContaining("1\n") });
    expect(lstatSync(join(here.root, "a")).isSymbolicLink()).toBe(true);
  });

  it("swapped in between plan and undo are noticed", async () => {
    const here = place();
    const outside = join(here.base, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "x"), "1\n");
    here.sh("mkdir d; echo 0 > d/x");
    here.turn();
    await here.bash("echo 1 > d/x");
    const plan = await here.plan();
    rmSync(join(here.root, "d"), { recursive: true });
    symlinkSync(outside, join(here.root, "d"));
    const { applyUndo } = await import("./apply.js");
    expect((await refusal(applyUndo(here.journal, plan))).code).toBe("conflict");
    expect(readFileSync(join(outside, "x"), "utf8")).toBe("1\n");
  });

  it("made, changed and removed by commands are undone as links, wherever they lead", async () => {
    const here = place();
    here.sh("ln -s /etc/passwd out; ln -s nowhere dangling; mkdir d; ln -s ../d d/loop");
    const first = here.tree();
    here.turn();
    await here.bash("rm out; ln -sfn elsewhere dangling; ln -s d new; rm d/loop; mkdir d/loop; echo 1 > d/loop/x");
    await here.undo();
    expect(here.tree()).toEqual(first);
  });
});

describe("what cannot be undone", () => {
  verifies(["T10"], "is listed: large files, and what is no file", async () => {
    const here = place({ limits: { fileBytes: 1000 } });
    here.sh(
      "head -c 2000 /dev/zero > large; head -c 2000 /dev/zero > large2; echo 1 > grows; mkfifo pipe; echo 1 > small",
    );
    here.turn();
    await here.bash(
      `rm large; echo >> large2; head -c 3000 /dev/zero > grows; head -c 5000 /dev/zero > made; rm pipe; rm small`,
    );
    const plan = await here.plan();
    expect(Object.fromEntries(plan.items.map(({ path, state, reason }) => [path, reason ?? state]))).toEqual({
      grows: "ready",
      large: "there is no backup of its old content: it was too large",
      large2: "there is no backup of its old content: it was too large",
      made: "ready",
      pipe: "it is neither a file nor a link nor a folder",
      small: "ready",
    });
    const { done, left } = await here.undo();
    expect([brief(done), left.length]).toEqual([["restore grows", "delete made", "recreate small"], 3]);
    expect(readFileSync(join(here.root, "grows"), "utf8")).toBe("1\n");
  });

  it("is refused when nothing else is left", async () => {
    const here = place({ limits: { fileBytes: 10 } });
    here.sh("echo a long line that is not kept > large");
    here.turn();
    await here.bash("rm large");
    expect((await refusal(here.undo())).message).toContain("no backup of its old content");
  });

  it("is named for commands that write directly, and for programs that go on", async () => {
    const here = place();
    here.turn();
    const direct = await here.recorder.begin({ call: ids.next("call"), tool: "bash", changes: "unknown" });
    here.sh("echo 1 > direct");
    expect(await direct.end({ goesOn: true })).toEqual([]);
    await here.bash("echo 1 > held");
    const plan = await here.plan();
    expect(brief(plan.items)).toEqual(["delete held"]);
    const notes = plan.notes.join("\n");
    expect(notes).toContain(`Turn 1, bash: ${GAPS.unknown}.`);
    expect(notes).toContain(`Turn 1, bash: ${GAPS.goesOn}.`);
    expect(notes).toContain("Undo covers only what bash changed in files of the workspace");
  });

  it("is what commands change once the journal is full", async () => {
    const here = place({ limits: { journalBytes: 1 } });
    here.sh("echo 1 > a; echo 1 > b");
    here.turn();
    await here.bash("echo 2 > a; touch b");
    expect((await here.plan()).items).toMatchObject([{ path: "a", state: "impossible" }]);
  });

  it("does not keep a step from being taken back when another fails", async () => {
    const here = place();
    here.sh("mkdir d; echo 1 > a; echo 1 > d/b");
    here.turn();
    await here.bash("echo 2 > a; echo 2 > d/b; echo 2 > c");
    const before = here.tree();
    // A name that is taken: the place for what is being made cannot be used.
    const { applyUndo } = await import("./apply.js");
    const plan = await here.plan();
    const damaged = plan.items.map((item) =>
      item.path === "d/b" ? { ...item, to: { kind: "file", mode: 0o644, content: "not there" } as const } : item,
    );
    const error = await refusal(applyUndo(here.journal, { ...plan, items: damaged }));
    expect(error.message).toBe("Nothing was undone. d/b: its content is not in the journal, or damaged there.");
    expect(here.tree()).toEqual(before);
    await here.undo();
    expect(Object.keys(here.tree())).toEqual(["a", "d", "d/b"]);
  });
});
