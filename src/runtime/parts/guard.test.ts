import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { processorMsOf } from "../../../test/support/processor-time.js";
import { verifies } from "../../../test/verifies.js";
import { RunGuard } from "./guard.js";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "guard-")));
  mkdirSync(join(root, ".git"));
  symlinkSync(".git", join(root, "link"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

verifies(["C7", "P1"], "looks behind links, and at no path that nothing can be opened by", async () => {
  const guard = new RunGuard({ root, variables: { HOME: root }, ownFolders: [] });
  const long = "/x".repeat(130_000);
  for (const path of ["/link/hooks/new", `${long}${"/..".repeat(130_000)}/link/hooks/new`]) {
    expect(await guard.reasonBehindLinks(`${root}${path}`)).toBeDefined();
  }
  expect(await guard.reasonBehindLinks(`${root}/a`)).toBeUndefined();
  const took = await processorMsOf(async () => {
    expect(await guard.reasonBehindLinks(`${root}${long}`)).toBeUndefined();
    expect(await guard.isOwn(`${root}${long}`)).toBe(false);
  });
  expect(took).toBeLessThan(1000);
});
