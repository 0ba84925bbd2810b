import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../base/clock.js";
import { WorkTreeSearch } from "./work-tree-search.js";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "nested-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const make = (name: string) => mkdirSync(join(root, name), { recursive: true });
/** An hour ahead of the disk: every folder counts as changed long ago. */
const clock = { now: () => 0, wall: () => Date.now() + 3_600_000 };

/** Two changes within one tick of the file system have the same time. */
function untilDiskTicks(): void {
  const probe = mkdtempSync(join(tmpdir(), "tick-"));
  const { ctimeNs } = statSync(probe, { bigint: true });
  do writeFileSync(join(probe, "file"), "");
  while (statSync(join(probe, "file"), { bigint: true }).ctimeNs === ctimeNs);
  rmSync(probe, { recursive: true });
}

describe("[P8] repositories below a folder", () => {
  it("are found when they appear, also with the time of their folder set back, and forgotten when they go", () => {
    make("a/b/c");
    const nested = new WorkTreeSearch(root, { clock });
    expect(nested.find()).toEqual([]);
    make("a/b/c/.git");
    utimesSync(join(root, "a/b/c"), 0, 0);
    expect(nested.find()).toEqual([join(root, "a/b/c")]);
    make("new/deep/.git");
    expect(nested.find()).toEqual(["new/deep", "a/b/c"].map((name) => join(root, name)));
    untilDiskTicks();
    rmSync(join(root, "a/b/c/.git"), { recursive: true });
    expect(nested.find()).toEqual([join(root, "new/deep")]);
  });

  it("are found in folders that changed in the same tick as the search", () => {
    const nested = new WorkTreeSearch(root, { clock: systemClock });
    for (let at = 0; at < 50; at++) {
      make(`r${at}`);
      nested.find();
      make(`r${at}/.git`);
      nested.mayHaveChanged();
      expect(nested.find()).toContain(join(root, `r${at}`));
    }
  });

  it("stay found behind more folders than are looked through", () => {
    make("z/kept/.git");
    const nested = new WorkTreeSearch(root, { clock, maxFolders: 20 });
    nested.find();
    for (let at = 0; at < 30; at++) mkdirSync(join(root, `a${at}`));
    expect(nested.find()).toEqual([join(root, "z/kept")]);
  });

  it("are not searched again at once, unless a command ran", () => {
    let now = 0;
    const slow = { now: () => (now += 5), wall: clock.wall };
    const nested = new WorkTreeSearch(root, { clock: slow });
    nested.find();
    make("new/.git");
    expect(nested.find()).toEqual([]);
    nested.mayHaveChanged();
    expect(nested.find()).toEqual([join(root, "new")]);
    make("later/.git");
    now += 100;
    expect(nested.find()).toHaveLength(2);
  });
});
