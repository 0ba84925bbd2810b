import { describe, expect, onTestFinished } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { applyUndo } from "./apply.js";
import { follows, onlyThese } from "./only.js";
import { UndoPlace } from "./test-support/undo-place.js";

function place(): UndoPlace {
  const made = new UndoPlace();
  onTestFinished(() => made.discard());
  return made;
}

describe("undoing some entries of a turn", () => {
  verifies(["T10", "U3"], "changes only the chosen files, and a redo takes it back", async () => {
    const here = place();
    here.sh("printf one > a.txt; printf two > b.txt");
    here.turn();
    await here.bash("printf ONE > a.txt; printf TWO > b.txt");
    const changed = here.tree();
    const plan = onlyThese(await here.plan(), ["a.txt"]);
    const { done } = await applyUndo(here.journal, plan);
    expect(done.map(({ path }) => path)).toEqual(["a.txt"]);
    expect(here.tree()).not.toEqual(changed);
    here.sh("test $(cat a.txt) = one; test $(cat b.txt) = TWO");
    await here.undo({ redo: true });
    expect(here.tree()).toEqual(changed);
  });

  verifies(["T10", "U3"], "keeps a folder that still holds a file, and makes those that a file needs", async () => {
    const here = place();
    here.sh("mkdir -p old/deep; printf one > old/deep/a; printf two > old/b");
    here.turn();
    await here.bash("rm -r old; mkdir -p new/deep; printf three > new/deep/c; printf four > new/d");
    const whole = await here.plan();
    const folders = whole.items.filter((item) => item.kind === "folder");
    expect(folders.every((item) => follows(whole, item))).toBe(true);
    await applyUndo(here.journal, onlyThese(whole, ["old/deep/a", "new/d"]));
    here.sh("test -f old/deep/a; ! test -e old/b; ! test -e new/d; test -f new/deep/c");
  });

  verifies(["T10"], "a folder whose content goes as a whole goes with it", async () => {
    const here = place();
    here.sh("printf x > keep.txt");
    here.turn();
    await here.bash("mkdir -p new/deep; printf three > new/deep/c; printf y > keep.txt");
    await applyUndo(here.journal, onlyThese(await here.plan(), ["new/deep/c"]));
    here.sh("! test -e new; test $(cat keep.txt) = y");
  });
});
