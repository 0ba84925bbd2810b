import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findOwnProgram, findProgram } from "./find-program.js";
import { noteWorkspace } from "./project-folders.js";
import { ownVariables } from "./trusted-path.js";

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

  const elsewhere = { outside: join(base, "gone") };

  it("takes the first that can be run", () => {
    expect(findProgram("tool", path("missing", "plain", "folders", "workspace/bin", "usr"), elsewhere)).toBe(planted);
    expect(findProgram("other", path("usr"), elsewhere)).toBeUndefined();
    expect(findProgram("tool", undefined, elsewhere)).toBeUndefined();
  });

  it("skips relative folders", () => {
    expect(findProgram("tool", `.${delimiter}bin${delimiter}${delimiter}${path("usr")}`, elsewhere)).toBe(trusted);
  });

  it("skips programs of the workspace, also through a link", () => {
    const outside = join(base, "workspace");
    expect(findProgram("tool", path("workspace/bin", "linked", "usr"), { outside })).toBe(trusted);
    expect(findProgram("tool", path("workspace/bin"), elsewhere)).toBe(planted);
  });

  it("skips programs of the project around the workspace", () => {
    mkdirSync(join(base, "repository/.git"), { recursive: true });
    program("repository/bin", "tool");
    program("plain-project/node_modules/.bin", "tool");
    program("plain-project/.venv/bin", "tool");
    writeFileSync(join(base, "plain-project/.venv/pyvenv.cfg"), "");
    const folders = path("repository/bin", "plain-project/node_modules/.bin", "plain-project/.venv/bin", "usr");
    expect(findProgram("tool", folders, { outside: join(base, "repository/packages/a") })).toBe(
      join(base, "plain-project/node_modules/.bin/tool"),
    );
    expect(findProgram("tool", folders, { outside: join(base, "plain-project/packages/a") })).toBe(
      join(base, "repository/bin/tool"),
    );
    expect(
      findProgram("tool", path("plain-project/.venv/bin", "usr"), { outside: join(base, "plain-project/a") }),
    ).toBe(trusted);
  });

  it("finds programs in a workspace that is the whole disk", () => {
    expect(findProgram("sh", "/usr/bin:/bin", { outside: "/" })).toMatch(/bin\/sh$/);
  });
});

describe("programs of other workspaces of this process", () => {
  mkdirSync(join(base, "elsewhere/.git"), { recursive: true });
  const names = path("elsewhere/bin", "elsewhere/packages/a/bin", "open", "own");
  for (const folder of ["elsewhere/bin", "elsewhere/packages/a/bin", "open"]) program(folder, "helper");
  chmodSync(join(base, "open"), 0o777);
  const trusted = program("own", "helper");

  it("are not used by Oxbow itself, nor those of folders that everyone may write to", () => {
    const outside = { outside: join(base, "gone") };
    expect(findProgram("helper", path("open", "own"), outside)).toBe(trusted);
    expect(findOwnProgram("helper", names)).toBe(join(base, "elsewhere/bin/helper"));
    noteWorkspace(join(base, "elsewhere/packages/a"));
    expect(findOwnProgram("helper", names)).toBe(trusted);
    expect(findProgram("helper", names, outside)).toBe(trusted);
    expect(ownVariables({ PATH: names, OTHER: "kept" }, process.cwd())).toEqual({ PATH: path("own"), OTHER: "kept" });
  });
});
