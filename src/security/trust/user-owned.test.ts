import { chmodSync, chownSync, lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import type { ContentItem } from "./content.js";
import { Testbed } from "./test-support/testbed.js";
import { bulkProblem } from "./user-owned.js";

let bed: Testbed;
let item: ContentItem;
let file: string;

beforeEach(() => {
  bed = new Testbed();
  const folder = join(bed.config, "skills", "a");
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  for (const each of [bed.config, join(bed.config, "skills"), folder]) chmodSync(each, 0o755);
  file = bed.put(join(folder, "SKILL.md"), "x");
  const facts = { kind: "skill", owner: "user", executable: false, sha256: "0".repeat(64), size: 1 } as const;
  item = { ...facts, root: bed.config, path: "skills/a/SKILL.md" };
});
afterEach(() => bed.remove());

describe("approving all of one's own files at once", () => {
  it("takes what only the user can write", () => {
    expect(bulkProblem(item)).toBeUndefined();
  });

  it("leaves out what came with a project, what is gone and what lies elsewhere", () => {
    expect(bulkProblem({ ...item, owner: "project" })).toBe("it came with the project");
    expect(bulkProblem({ ...item, path: "skills/a/gone.md" })).toBe("it is gone");
    expect(bulkProblem({ ...item, target: join(bed.outside, "x") })).toContain("a link out of");
  });

  it("leaves out what others can write, by the file or by any folder above it", () => {
    for (const path of [file, join(bed.config, "skills", "a"), bed.config]) {
      const { mode } = lstatSync(path);
      for (const bit of [0o020, 0o002]) {
        chmodSync(path, mode | bit);
        expect(bulkProblem(item)).toBe(`other users can write to ${path}`);
      }
      chmodSync(path, mode);
    }
    chmodSync(bed.base, 0o777);
    expect(bulkProblem(item)).toBeUndefined();
  });

  needs("root").it("leaves out another user's file, and a file in another user's folder", () => {
    for (const path of [file, join(bed.config, "skills"), bed.config]) {
      chownSync(path, 12_345, 12_345);
      expect(bulkProblem(item)).toBe(`${path} belongs to another user`);
      chownSync(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
    }
  });
});
