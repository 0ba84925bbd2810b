import { describe, expect, onTestFinished } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { applyUndo } from "./apply.js";
import { onlyHunks } from "./only.js";
import { UndoPlace } from "./test-support/undo-place.js";

function place(): UndoPlace {
  const made = new UndoPlace();
  onTestFinished(() => made.discard());
  return made;
}

describe("undoing some changes of a file", () => {
  verifies(["T10", "U3"], "reverts the chosen ones, keeps the others, and a redo takes it back", async () => {
    const here = place();
    here.sh("seq 1 40 > a.txt");
    here.turn();
    await here.bash("sed -i 's/^5$/FIVE/; s/^30$/THIRTY/' a.txt; printf new > b.txt");
    const changed = here.tree();
    const whole = await here.plan();
    const plan = onlyHunks(here.journal, whole, new Map([["a.txt", [2]]]));
    await applyUndo(here.journal, plan);
    here.sh("grep -q FIVE a.txt; ! grep -q THIRTY a.txt; grep -qx 30 a.txt; ! test -e b.txt");
    await here.undo({ redo: true });
    expect(here.tree()).toEqual(changed);
  });

  verifies(["T10"], "is refused for files that come or go, and for changes that are not there", async () => {
    const here = place();
    here.sh("seq 1 40 > a.txt");
    here.turn();
    await here.bash("sed -i 's/^5$/FIVE/' a.txt; printf new > b.txt");
    const whole = await here.plan();
    const part = (path: string, hunk: number) => () => onlyHunks(here.journal, whole, new Map([[path, [hunk]]]));
    expect(part("b.txt", 1)).toThrow("as a whole");
    expect(part("a.txt", 2)).toThrow("has no change 2");
    expect(onlyHunks(here.journal, whole, new Map([["a.txt", [1]]]))).toEqual(whole);
  });
});
