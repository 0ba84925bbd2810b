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
    nested.mayHaveChanged();
    utimesSync(join(root, "a/b/c"), 0, 0);
    expect(nested.find()).toEqual([join(root, "a/b/c")]);
    make("new/deep/.git");
    nested.mayHaveChanged();
    expect(nested.find()).toEqual(["new/deep", "a/b/c"].map((name) => join(root, name)));
    untilDiskTicks();
    rmSync(join(root, "a/b/c/.git"), { recursive: true });
    nested.mayHaveChanged();
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

  it("are not searched again until something may have changed", () => {
    const nested = new WorkTreeSearch(root, { clock });
    nested.find();
    make("new/.git");
    expect(nested.find()).toEqual([]);
    nested.mayHaveChanged();
    expect(nested.find()).toEqual([join(root, "new")]);
  });

  it("are found below any number of folders, and in folders whose names are not UTF-8", () => {
    const deep = "d/".repeat(60);
    make(`${deep}.git`);
    for (let at = 0; at < 5000; at++) mkdirSync(join(root, `a${at}`));
    make("z/kept/.git");
    mkdirSync(Buffer.concat([Buffer.from(`${root}/odd`), Buffer.of(0xff)]));
    mkdirSync(Buffer.concat([Buffer.from(`${root}/odd`), Buffer.of(0xff), Buffer.from("/.git")]));
    const found = new WorkTreeSearch(root, { clock }).find();
    expect(found).toEqual(["odd\udcff", "z/kept", deep.slice(0, -1)].map((name) => join(root, name)));
  });
});
