import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PathAccess } from "./facts.js";
import {
  normalPrefix,
  PATH_ACCESSES,
  PATH_PERMISSION_FORMAT,
  parseAccess,
  pathPermissionFile,
  placed,
  printAccess,
  refusingBelow,
  refusingEntry,
  withEntry,
  withoutEntry,
} from "./path-permissions.js";
import { spelledPath } from "./spelled-path.js";
import { pathsOf } from "./test-support/sample-policy.js";

const WORK = "/project";
const refused = (entries: Readonly<Record<string, string>>, path: string, access: PathAccess) =>
  refusingEntry(placed(pathsOf(entries), WORK), spelledPath(path, access, WORK))?.prefix;

describe("letters", () => {
  it.each([
    ["rwxd", "rwxd"],
    ["r", "r---"],
    ["wr", "rw--"],
    ["r--d", "r--d"],
    ["----", "----"],
    ["none", "----"],
    ["READ, write", "rw--"],
    ["delete", "---d"],
  ])("%j is %j", (text, printed) => {
    expect(printAccess(parseAccess(text))).toBe(printed);
  });

  it.each(["", "rr", "rwz", "read,fly", "r,w", "755"])("%j is none", (text) => {
    expect(() => parseAccess(text)).toThrow(/is not a set of permissions. Use the letters r \(read\)/);
  });

  it("are read back from every set", () => {
    for (let bits = 0; bits < 16; bits++) {
      const granted = PATH_ACCESSES.filter((_, index) => (bits & (1 << index)) !== 0);
      expect(parseAccess(printAccess(granted))).toEqual(granted);
    }
  });
});

describe("the most specific prefix", () => {
  const entries = { ".": "r", src: "rw", "src/gen": "r", "src/gen/keep.ts": "rwxd", "/etc": "none", "/": "r" };
  const cases: readonly [path: string, access: PathAccess, by: string | undefined][] = [
    ["/project/a", "read", undefined],
    ["/project/a", "write", "."],
    ["/project", "write", "."],
    ["/project/src/a", "write", undefined],
    ["/project/src/a", "delete", "src"],
    ["/project/srcs/a", "write", "."],
    ["/project/src/gen/x", "write", "src/gen"],
    ["/project/src/gen/keep.ts", "delete", undefined],
    ["/project/SRC/GEN/x", "write", "src/gen"],
    ["/etc/passwd", "read", "/etc"],
    ["/etcetera", "read", undefined],
    ["/usr/bin/x", "exec", "/"],
  ];

  it.each(cases)("%s %s: %s", (path, access, by) => {
    expect(refused(entries, path, access)).toBe(by);
  });

  it("is in the path's own letters where two differ in nothing else", () => {
    expect(refused({ Docs: "none", docs: "r" }, "/project/docs/a", "read")).toBeUndefined();
    expect(refused({ Docs: "none", docs: "r" }, "/project/Docs/a", "read")).toBe("Docs");
  });

  it("below a searched folder is found, and only there", () => {
    const entry = placed(pathsOf({ "a/secret": "none" }), WORK);
    const search = (path: string) => refusingBelow(entry, { ...spelledPath(path, "read", WORK), recursive: true });
    expect(search("/project")?.prefix).toBe("a/secret");
    expect(search("/project/b")).toBeUndefined();
    expect(refusingBelow(entry, spelledPath("/project", "read", WORK))).toBeUndefined();
  });
});

describe("prefixes", () => {
  it.each([
    ["src/", "src"],
    ["./src/../docs", "docs"],
    [".", "."],
    ["/", "/"],
    ["/a//b/", "/a/b"],
    ["~/notes", "/home/ada/notes"],
  ])("%j is %j", (text, prefix) => {
    expect(normalPrefix(text, "/home/ada")).toBe(prefix);
  });

  it.each(["../x", "..", " ", "a\0b"])("%j is refused", (text) => {
    expect(() => normalPrefix(text)).toThrow();
    expect(() => normalPrefix("../".repeat(80_000))).toThrow("A path has at most 4096 characters.");
  });
});

describe("the file", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "oxbow-paths-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("keeps entries, also through another object", async () => {
    const path = join(folder, "paths.json");
    const file = pathPermissionFile(path);
    expect(await file.load()).toEqual({ entries: [] });
    await file.update((state) => withEntry(state, { prefix: "src", granted: ["read", "write"] }));
    await file.update((state) => withEntry(state, { prefix: "docs", granted: [] }));
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({
      schema_version: 1,
      paths: { docs: "----", src: "rw--" },
    });
    const other = pathPermissionFile(path);
    expect(await other.load()).toEqual(file.current);
    await other.update((state) => withoutEntry(state, "src"));
    expect((await file.load()).entries).toEqual([{ prefix: "docs", granted: [] }]);
    expect(await other.update((state) => withoutEntry(state))).toEqual({ entries: [] });
  });

  it("does not lose what another process wrote in between", async () => {
    const path = join(folder, "paths.json");
    const one = pathPermissionFile(path);
    const two = pathPermissionFile(path);
    await Promise.all([one.load(), two.load()]);
    await one.update((state) => withEntry(state, { prefix: "a", granted: [] }));
    await two.update((state) => withEntry(state, { prefix: "b", granted: [] }));
    expect((await one.load()).entries.map(({ prefix }) => prefix)).toEqual(["a", "b"]);
  });

  it.each([{}, { paths: [] }, { paths: { a: 7 } }, { paths: { a: "rwq" } }, { paths: { "../a": "r" } }])(
    "is not read when it holds %j",
    (value) => {
      expect(() => PATH_PERMISSION_FORMAT.decode(value)).toThrow();
    },
  );
});
