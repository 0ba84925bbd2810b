import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findProgram } from "./find-program.js";

const base = realpathSync(mkdtempSync(join(tmpdir(), "find-program-")));
afterAll(() => rmSync(base, { recursive: true }));

function program(folder: string, name: string, mode = 0o755): string {
  mkdirSync(join(base, folder), { recursive: true });
  const file = join(base, folder, name);
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, mode);
  return file;
}

const path = (...folders: string[]) => folders.map((folder) => join(base, folder)).join(delimiter);

describe("findProgram", () => {
  const trusted = program("usr", "tool");
  const planted = program("workspace/bin", "tool");
  program("plain", "tool", 0o644);
  mkdirSync(join(base, "folders/tool"), { recursive: true });
  mkdirSync(join(base, "linked"));
  symlinkSync(planted, join(base, "linked/tool"));

  it("takes the first that can be run", () => {
    expect(findProgram("tool", path("missing", "plain", "folders", "workspace/bin", "usr"))).toBe(planted);
    expect(findProgram("other", path("usr"))).toBeUndefined();
    expect(findProgram("tool", undefined)).toBeUndefined();
  });

  it("skips relative folders", () => {
    expect(findProgram("tool", `.${delimiter}bin${delimiter}${delimiter}${path("usr")}`)).toBe(trusted);
  });

  it("skips programs of the workspace, also through a link", () => {
    const outside = join(base, "workspace");
    expect(findProgram("tool", path("workspace/bin", "linked", "usr"), { outside })).toBe(trusted);
    expect(findProgram("tool", path("workspace/bin"), { outside: join(base, "gone") })).toBe(planted);
  });
});
