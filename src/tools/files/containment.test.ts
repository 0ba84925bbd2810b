import { describe, expect, it } from "vitest";
import { MOST_PATH } from "../../system/real-path.js";
import { isInside, isKernelPath, pathTextFault } from "./containment.js";

describe("isInside", () => {
  it.each([
    ["/w", ["/w"]],
    ["/w/", ["/w"]],
    ["/w/a/b", ["/w"]],
    ["/w//a/./b", ["/w/"]],
    ["/w/a/../b", ["/w"]],
    ["/w/..a", ["/w"]],
    ["/w/...", ["/w"]],
    ["/w/%2e%2e/x", ["/w"]],
    ["/b/x", ["/a", "/b"]],
    ["/anything", ["/"]],
    ["/w/a", ["/w/x/.."]],
  ])("%j is in %j", (path, allowed) => {
    expect(isInside(path, allowed)).toBe(true);
  });

  it.each([
    ["/w2", ["/w"]],
    ["/w-evil/a", ["/w"]],
    ["/", ["/w"]],
    ["/w/..", ["/w"]],
    ["/w/../x", ["/w"]],
    ["/w/a/../../x", ["/w"]],
    ["relative", ["/w"]],
    ["", ["/w"]],
    ["/w/a\0", ["/w"]],
    ["/w/a", ["/w\0"]],
    ["/w/a", [""]],
    ["/w/a", []],
    [7, ["/w"]],
    ["/w", [{}]],
    ["/W/a", ["/w"]],
  ])("%j is not in %j", (path, allowed) => {
    expect(isInside(path, allowed)).toBe(false);
  });
});

it("kernel trees are closed unless the workspace is in one", () => {
  expect(isKernelPath("/proc/self/environ", ["/"])).toBe(true);
  expect(isKernelPath("/dev/shm/scratch/a", ["/dev/shm/scratch"])).toBe(false);
  expect(isKernelPath("/dev/zero", ["/dev/shm/scratch"])).toBe(false);
  expect(isKernelPath("/process/a", ["/"])).toBe(false);
});

describe("paths as text", () => {
  it("NUL, half a character and nothing are faults everywhere", () => {
    expect(pathTextFault("", "linux")).toBeDefined();
    expect(pathTextFault("a\0b", "linux")).toBeDefined();
    expect(pathTextFault("a\udcff", "linux")).toBeDefined();
    expect(pathTextFault("con", "linux")).toBeUndefined();
  });

  it("a path is no longer than the system opens", () => {
    expect(pathTextFault("/x".repeat(MOST_PATH / 2))).toBeUndefined();
    expect(pathTextFault(`${"/x".repeat(MOST_PATH / 2)}/`)).toBe(`the path has more than ${MOST_PATH} characters`);
  });

  it.each([
    "\\\\server\\share",
    "//server/share",
    "\\\\?\\C:\\x",
    "\\??\\C:\\x",
    "C:relative",
    "CON",
    "a\\nul.txt",
    "com1",
    "a:stream",
    ".git::$DATA",
    "a.",
    "a ",
  ])("%j is a fault on Windows", (path) => {
    expect(pathTextFault(path, "win32")).toBeDefined();
  });

  it.each(["C:\\work\\a.txt", "src/console.ts", "..\\x", ".", "a/./b", ".env.local"])("%j is none", (path) => {
    expect(pathTextFault(path, "win32")).toBeUndefined();
  });
});
