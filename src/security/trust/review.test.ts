import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { nameOf } from "./content.js";
import { DEFAULT_POLICY, type PendingItem, reviewContent } from "./review.js";
import { ALICE, NOW, Testbed } from "./test-support/testbed.js";

let bed: Testbed;

beforeEach(() => {
  bed = new Testbed();
});

afterEach(() => bed.remove());

const brief = (items: readonly PendingItem[]) =>
  items.map(({ item, state, change }) => `${state} ${change} ${nameOf(item)}`);

describe("a review", () => {
  it("finds new content, and nothing once it is approved", async () => {
    bed.put("AGENTS.md", "Be kind.\n");
    bed.program(".oxbow/tools/t");
    expect(brief((await bed.review()).pending)).toEqual(["new prose AGENTS.md", "new executable .oxbow/tools/t"]);
    await bed.approveAll();
    const review = await bed.review();
    expect(review.approved).toHaveLength(2);
    expect(review.pending).toEqual([]);
  });

  it("finds a change with both versions", async () => {
    bed.put("AGENTS.md", "Be kind.\n");
    await bed.approveAll();
    bed.put("AGENTS.md", "Run `it`.\n");
    const [changed] = (await bed.review()).pending;
    expect(changed?.state).toBe("changed");
    expect([String(changed?.before), String(changed?.after)]).toEqual(["Be kind.\n", "Run `it`.\n"]);
  });

  it("compares a change of metadata with the approved version, however many small changes there are", async () => {
    bed.put("AGENTS.md", "Be kind.\n");
    await bed.approveAll();
    bed.put("AGENTS.md", "Be kind. \n\n");
    expect(brief((await bed.review()).minorChanges)).toEqual(["changed metadata AGENTS.md"]);
    bed.put("AGENTS.md", "Be kind. \n\nOr not.\n");
    expect(brief((await bed.review()).minorChanges)).toEqual(["changed prose AGENTS.md"]);
  });

  verifies(
    ["P10"],
    "lets words change, and nothing that is new, longer than a message, or without its old text",
    async () => {
      bed.put("AGENTS.md", "Be kind.\n");
      bed.put("GEMINI.md", "Be kind.\n");
      bed.put("QWEN.md", `Be kind.\n${"x".repeat(300_000)}\n`);
      await bed.approveAll();
      bed.put("AGENTS.md", "Be quick.\n");
      bed.put("CLAUDE.md", "Be new.\n");
      bed.put("GEMINI.md", "Be kind.\n".repeat(80));
      bed.put("QWEN.md", "Be brief.\n");
      const review = await bed.review();
      expect(brief(review.minorChanges)).toEqual(["changed prose AGENTS.md"]);
      expect(brief(review.pending).sort()).toEqual([
        "changed prose GEMINI.md",
        "changed prose QWEN.md",
        "new prose CLAUDE.md",
      ]);
    },
  );

  it("lets a policy decide which changes wait", async () => {
    bed.put("AGENTS.md", "Be kind.\n");
    await bed.approveAll();
    bed.put("AGENTS.md", "Be quick.\n");
    const policy = { ...DEFAULT_POLICY, blocking: ["prose", "code-adjacent", "executable"] as const };
    const review = await reviewContent(await bed.find(), bed.lock(), policy);
    expect(brief(review.pending)).toEqual(["changed prose AGENTS.md"]);
  });

  it("lets the description of the user's skill change, and not that of a project's", async () => {
    const mine = join(bed.config, "skills/s/SKILL.md");
    const text = "---\nname: s\ndescription: One thing\n---\n";
    bed.put(mine, text);
    bed.put(".agents/skills/s/SKILL.md", text);
    await bed.approveAll();
    bed.put(mine, text.replace("One", "Another"));
    bed.put(".agents/skills/s/SKILL.md", text.replace("One", "Another"));
    const review = await bed.review();
    expect(brief(review.minorChanges)).toEqual(["changed metadata skills/s/SKILL.md"]);
    expect(brief(review.pending)).toEqual(["changed code-adjacent .agents/skills/s/SKILL.md"]);
  });

  it("asks again when a server keeps its name and changes its command", async () => {
    bed.put(".mcp.json", '{"mcpServers": {"search": {"command": "search"}}}');
    await bed.approveAll();
    bed.put(".mcp.json", '{"mcpServers": {"search": {"command": "sh", "args": ["-c", "evil"]}}}');
    expect(brief((await bed.review()).pending)).toEqual(["changed executable .mcp.json: mcp_servers.search"]);
  });

  it("asks again when a file of a skill becomes a program", async () => {
    bed.put(".agents/skills/s/SKILL.md", "x");
    bed.put(".agents/skills/s/run", "x");
    await bed.approveAll();
    bed.put(".agents/skills/s/run", "x", 0o755);
    expect(brief((await bed.review()).pending)).toEqual(["changed executable .agents/skills/s/run"]);
  });

  it("does not mind the mode of a text", async () => {
    bed.put("AGENTS.md", "x");
    await bed.approveAll();
    bed.put("AGENTS.md", "x", 0o755);
    expect((await bed.review()).approved).toHaveLength(1);
  });

  it("keeps refused content separate, until it changes", async () => {
    bed.put("AGENTS.md", "x");
    const item = await bed.item("AGENTS.md");
    await bed.lock().record({ decision: "refused", item, change: "prose", by: ALICE, at: NOW() });
    expect(brief((await bed.review()).refused)).toEqual(["refused prose AGENTS.md"]);
    expect((await bed.review()).pending).toEqual([]);
    bed.put("AGENTS.md", "y");
    expect(brief((await bed.review()).pending)).toEqual(["new prose AGENTS.md"]);
  });

  it("names removed files, but not nested files that no call touched", async () => {
    bed.put("AGENTS.md", "x");
    bed.put("CLAUDE.md", "x");
    bed.put(".mcp.json", '{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}');
    await bed.approveAll();
    const nested = { ...(await bed.item("AGENTS.md")), path: "sub/AGENTS.md" };
    bed.put("sub/AGENTS.md", "x");
    await bed.lock().record({ decision: "approved", item: nested, change: "prose", by: ALICE, at: NOW() });
    rmSync(join(bed.folder, "CLAUDE.md"));
    bed.put(".mcp.json", '{"mcpServers": {"a": {"command": "a"}}}');
    expect((await bed.review()).removed.map(nameOf)).toEqual(["CLAUDE.md", ".mcp.json: mcp_servers.b"]);
  });

  it("does not show one thing and mean another when a file changes in between", async () => {
    const path = bed.put("AGENTS.md", "shown\n");
    const found = await bed.find();
    writeFileSync(path, "meant\n");
    const review = await reviewContent(found, bed.lock());
    expect(review.pending).toEqual([]);
    expect(review.unusable.map(({ path, problem }) => `${path} ${problem}`)).toEqual([
      "AGENTS.md changed while Oxbow read it",
    ]);
  });
});
