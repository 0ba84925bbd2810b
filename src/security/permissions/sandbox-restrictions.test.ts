import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseAccess } from "./path-permissions.js";
import { sandboxRestrictions } from "./sandbox-restrictions.js";

let base: string;
let workspace: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-restrict-")));
  workspace = join(base, "ws");
  for (const folder of ["docs/made", "private", "real"]) mkdirSync(join(workspace, folder), { recursive: true });
  mkdirSync(join(base, "elsewhere"));
  writeFileSync(join(workspace, "notes.txt"), "");
  symlinkSync("real", join(workspace, "link"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const restrictions = (entries: Readonly<Record<string, string>>) =>
  sandboxRestrictions(
    { entries: Object.entries(entries).map(([prefix, access]) => ({ prefix, granted: parseAccess(access) })) },
    workspace,
  );

it("hides what may not be read and makes read-only what may not be written", () => {
  expect(
    restrictions({ private: "none", docs: "r", "notes.txt": "rx", real: "rw", [`${base}/elsewhere`]: "w" }),
  ).toEqual({
    hidden: [join(workspace, "private"), join(base, "elsewhere")],
    readOnlyWithin: ["docs", "notes.txt"],
  });
});

it("follows links to their targets, and skips missing files", () => {
  expect(restrictions({ link: "r", gone: "none" })).toEqual({ hidden: [], readOnlyWithin: ["real"] });
});

it("says nothing where an inner entry grants more, nor about the workspace itself", () => {
  expect(restrictions({ docs: "r", "docs/made": "rw", ".": "r" })).toEqual({ hidden: [], readOnlyWithin: [] });
  expect(restrictions({ docs: "r", "docs/made": "none" })).toEqual({
    hidden: [join(workspace, "docs/made")],
    readOnlyWithin: ["docs"],
  });
});
