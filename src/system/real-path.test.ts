import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { existingPart, MOST_PATH, realpathSoFar } from "./real-path.js";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "real-path-")));
  mkdirSync(join(root, "a/b"), { recursive: true });
  symlinkSync("a", join(root, "link"));
  symlinkSync("nowhere", join(root, "broken"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it("follows links as far as the path exists", () => {
  for (const [path, real] of [
    ["link/b", "a/b"],
    ["link/b/c/d", "a/b/c/d"],
    ["link/none/../b", "a/b"],
    ["link/c/../../c", "c"],
    ["broken/c", "broken/c"],
    ["a/b/", "a/b"],
  ] as const) {
    expect(realpathSoFar(`${root}/${path}`), path).toBe(join(root, real));
  }
  expect(existingPart(`${root}/link/b`)).toEqual({ real: join(root, "a/b"), rest: "" });
  expect(existingPart("/")).toEqual({ real: "/", rest: "" });
  expect(realpathSoFar("/no-such-folder/a")).toBe("/no-such-folder/a");
  expect(realpathSoFar("no-such-folder/a")).toBe(join(realpathSync("."), "no-such-folder/a"));
});

it("follows links at the beginning of a path that is too long for the system", () => {
  const long = "/x".repeat(MOST_PATH);
  expect(realpathSoFar(`${root}/link${long}`)).toBe(join(root, "a", long));
  expect(realpathSoFar(`${root}/${"y".repeat(2 * MOST_PATH)}`)).toBe(join(root, "y".repeat(2 * MOST_PATH)));
  expect(realpathSoFar(`${root}${long}${"/..".repeat(MOST_PATH)}/link/b`)).toBe(join(root, "a/b"));
});
