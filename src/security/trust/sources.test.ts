import { chmodSync, chownSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { verifies } from "../../../test/verifies.js";
import { nameOf } from "./content.js";
import { discoverContent } from "./discover.js";
import { Testbed } from "./test-support/testbed.js";

const NOBODY = 65534;
let bed: Testbed;
let user: string;

beforeEach(() => {
  bed = new Testbed();
  user = join(bed.base, "home");
});
afterEach(() => bed.remove());

async function found(folder: string) {
  const { items } = await discoverContent({ folder, home: { config: bed.config, user } });
  return items.map((item) => `${item.owner} ${item.kind} ${item.name}`);
}

describe("sources", () => {
  verifies(["E1"], "are found from the working folder up to the home folder, most global first", async () => {
    const project = join(user, "work", "project");
    mkdirSync(join(project, ".git"), { recursive: true });
    mkdirSync(join(project, "sub"));
    bed.program(join(bed.config, "tools/a"));
    bed.program(join(user, ".oxbow/tools/b"));
    bed.program(join(user, "work/.oxbow/tools/c"));
    bed.program(join(project, ".oxbow/tools/d"));
    bed.program(join(project, "sub/.oxbow/tools/e"));
    bed.program(join(project, "other/.oxbow/tools/f"));
    expect(await found(join(project, "sub"))).toEqual([
      "user tool a",
      "project tool b",
      "project tool c",
      "project tool d",
      "project tool e",
    ]);
    // Those above the project would look like the project's without their folder.
    const { items } = await discoverContent({ folder: project, home: { config: bed.config, user } });
    const home = realpathSync(user);
    expect(items.map(nameOf)).toEqual([
      "tools/a",
      join(home, ".oxbow/tools/b"),
      join(home, "work/.oxbow/tools/c"),
      ".oxbow/tools/d",
    ]);
  });

  it("end at the repository, or at the working folder, outside of the home folder", async () => {
    bed.program(join(bed.base, ".oxbow/tools/above"));
    bed.program(".oxbow/tools/inside");
    bed.put("sub/x", "");
    expect(await found(join(bed.folder, "sub"))).toEqual(["project tool inside"]);
    rmSync(join(bed.folder, ".git"), { recursive: true });
    expect(await found(join(bed.folder, "sub"))).toEqual([]);
  });

  needs("root").it("never lie in a folder that other users can fill", async () => {
    const project = join(user, "open", "project");
    bed.program(join(user, "open/.oxbow/tools/above"));
    bed.program(join(project, ".oxbow/tools/own"));
    chmodSync(join(user, "open"), 0o777);
    expect(await found(project)).toEqual(["project tool own"]);
    chmodSync(join(user, "open"), 0o755);
    chownSync(join(user, "open"), NOBODY, NOBODY);
    expect(await found(project)).toEqual(["project tool own"]);
    chownSync(project, NOBODY, NOBODY);
    expect(await found(project)).toEqual(["project tool own"]);
    chmodSync(project, 0o777);
    expect(await found(project)).toEqual([]);
  });

  verifies(["E1"], "include the folders of other tools, in the project and in the home folder", async () => {
    for (const base of [user, bed.folder]) {
      bed.put(join(base, ".claude/settings.json"), '{"hooks": {"Stop": []}, "mcpServers": {"x": {}}, "env": {}}');
      bed.put(join(base, ".claude/settings.local.json"), '{"hooks": {"PreToolUse": []}}');
      bed.put(join(base, ".claude/commands/git/commit.md"), "x");
      bed.put(join(base, ".claude/agents/a.md"), "x");
      bed.put(join(base, ".claude/skills/s/SKILL.md"), "x");
      bed.put(join(base, ".codex/prompts/p.md"), "x");
      bed.put(join(base, ".agents/skills/t/SKILL.md"), "x");
    }
    bed.put(".oxbow/commands/q.md", "x");
    bed.program(".oxbow/commands/run");
    const all = (owner: string) =>
      [
        "skill t/SKILL.md",
        "prompt p.md",
        "event-hooks settings.json",
        "event-hooks settings.local.json",
        "prompt git/commit.md",
        "agent a.md",
        "skill s/SKILL.md",
      ].map((line) => `${owner} ${line}`);
    expect(await found(bed.folder)).toEqual([
      ...all("user"),
      ...all("project"),
      "project prompt q.md",
      "project command run",
    ]);
  });

  verifies(
    ["X1"],
    "hold instructions up to the home folder without a repository, and the user's own first",
    async () => {
      const project = join(user, "work", "project", "sub");
      mkdirSync(project, { recursive: true });
      const texts = async (folder: string, sources?: readonly string[]) => {
        const { items } = await discoverContent({
          folder,
          home: { config: bed.config, user },
          ...(sources && { sources }),
        });
        return items.map((item) => `${item.owner} ${join(item.root, item.path).slice(user.length + 1)}`);
      };
      for (const path of ["AGENTS.md", "work/AGENTS.md", "work/project/AGENTS.md", "work/project/sub/AGENTS.md"]) {
        bed.put(join(user, path), `rules of ${path}`);
      }
      bed.put(join(user, "CLAUDE.md"), "of another tool");
      bed.put(join(user, "work/.oxbow/prompts/10-style.md"), "style");
      bed.put(join(bed.config, "prompts/00-persona.md"), "persona");
      expect(await texts(project)).toEqual([
        "user AGENTS.md",
        "user config/prompts/00-persona.md",
        "project work/AGENTS.md",
        "project work/.oxbow/prompts/10-style.md",
        "project work/project/AGENTS.md",
        "project work/project/sub/AGENTS.md",
      ]);
      mkdirSync(join(user, "work/project/.git"));
      expect(await texts(project)).toEqual([
        "user AGENTS.md",
        "user config/prompts/00-persona.md",
        "project work/.oxbow/prompts/10-style.md",
        "project work/project/AGENTS.md",
        "project work/project/sub/AGENTS.md",
      ]);
      expect(await texts(project, ["CLAUDE.md"])).not.toContain("user AGENTS.md");
      expect(await texts(user)).toContain("project AGENTS.md");
    },
  );

  it("are not the user's own where the tools may write", async () => {
    bed.put(join(user, ".claude/agents/a.md"), "x");
    expect(await found(user)).toEqual(["project agent a.md"]);
    expect(await found(realpathSync(bed.folder))).toEqual(["user agent a.md"]);
  });

  it("may group skills in folders; a skill within a skill belongs to it", async () => {
    for (const path of [
      "a/SKILL.md",
      "a/examples/b/SKILL.md",
      "group/c/SKILL.md",
      "group/c/x.txt",
      "group/y.txt",
      "z.txt",
    ]) {
      bed.put(`.agents/skills/${path}`, path);
    }
    expect(await found(bed.folder)).toEqual([
      "project skill a/SKILL.md",
      "project skill-file a/examples/b/SKILL.md",
      "project skill group/c/SKILL.md",
      "project skill-file group/c/x.txt",
    ]);
  });

  it("keep both names of a program, and count a linked skill once", async () => {
    bed.program(".oxbow/tools/b");
    bed.link("b", ".oxbow/tools/a");
    bed.put(".agents/skills/s/SKILL.md", "x");
    bed.link("../../.agents/skills/s", ".claude/skills/s");
    expect(await found(bed.folder)).toEqual(["project skill s/SKILL.md", "project tool a", "project tool b"]);
  });
});
