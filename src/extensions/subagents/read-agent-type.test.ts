import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ExtensionFile } from "../../base/extension-files.js";
import { BUILT_IN_TOOLS, toolsMeant } from "../../runtime/parts/own-tools.js";
import { agentTypes, findType, mayUse } from "./agent-types.js";
import { isForeignName, newestOf } from "./choose-model.js";
import { agentTool } from "./definition.js";
import { readAgentType } from "./read-agent-type.js";

const origin = { path: "/p/.claude/agents/reviewer.md", name: "reviewer.md", scope: "project" } as const;

function read(text: string) {
  const type = readAgentType(text, origin);
  if ("fault" in type) throw new Error(type.fault);
  return type;
}

describe("an agent type from a file", () => {
  it("has its fields and its prompt, with Claude Code's tool names as ours", () => {
    const type = read(
      "---\nname: code-reviewer\ndescription: Reviews code. Use PROACTIVELY.\ntools: Read, Grep, Glob, Bash, Edit\nmodel: haiku\ncolor: purple\n---\n\nYou review code.\n",
    );
    expect(type).toMatchObject({ name: "code-reviewer", model: "haiku", prompt: "You review code.", without: [] });
    const used = BUILT_IN_TOOLS.map(({ name }) => name).filter((tool) => mayUse(type, tool, toolsMeant));
    expect(used).toEqual(["read", "glob", "grep", "edit", "apply_patch", "bash", "background"]);
    const theirs = [
      "MultiEdit",
      "BashOutput",
      "KillShell",
      "LS",
      "WebFetch",
      "WebSearch",
      "TodoWrite",
      "Task",
      "Skill",
    ];
    expect(theirs.map((name) => toolsMeant(name)[0])).toEqual([
      "edit",
      "background",
      "background",
      "ls",
      "web_fetch",
      "web_search",
      "todo",
      "agent",
      "skill",
    ]);
  });

  it("takes a list of tools, tools to leave out, types to start, and all tools without a list", () => {
    const few = read("---\ndescription: d\ntools:\n  - Read\n  - mcp__db__query\n---\n");
    expect(["read", "mcp__db__query", "ls"].filter((tool) => mayUse(few, tool, toolsMeant))).toEqual([
      "read",
      "mcp__db__query",
    ]);
    const type = read("---\ndescription: d\ndisallowedTools: Write, Edit\n---\n");
    expect(type.tools).toBeUndefined();
    expect(["write", "edit", "apply_patch", "read"].filter((tool) => mayUse(type, tool, toolsMeant))).toEqual(["read"]);
    expect(read("---\ndescription: d\ntools: Agent(explore, tester), Read\n---\n")).toMatchObject({
      tools: ["Agent", "Read"],
      agents: ["explore", "tester"],
    });
    expect(read('---\ndescription: d\ntools: "*"\n---\n').tools).toBeUndefined();
    expect(read("---\ndescription: d\ntools: []\n---\n").tools).toEqual([]);
  });

  it("takes limits that narrow, and nothing that widens", () => {
    const text =
      "---\ndescription: d\nmodel: inherit\npermissionMode: bypassPermissions\nmaxTurns: 7\nisolation: worktree\neffort: low\nhooks:\n  Stop: []\n---\n";
    expect(read(text)).toEqual({
      name: "reviewer",
      description: "d",
      prompt: "",
      without: [],
      maxIterations: 7,
      isolation: "worktree",
      effort: "low",
      scope: "project",
      path: origin.path,
    });
    expect(read("---\ndescription: d\npermissionMode: plan\n---\n").onlyReads).toBe(true);
  });

  it("reads the example", async () => {
    const path = join(import.meta.dirname, "..", "..", "..", "examples", "agents", "reviewer.md");
    const type = readAgentType(await readFile(path, "utf8"), { path, name: "reviewer.md", scope: "user" });
    expect(type).toMatchObject({ name: "reviewer", tools: ["read", "grep", "glob", "bash"], maxIterations: 30 });
  });

  it("says what is wrong with a file", () => {
    expect(readAgentType("Just text", origin)).toMatchObject({ fault: "It has no description" });
    expect(readAgentType("---\nname: a:b\ndescription: d\n---\n", origin)).toMatchObject({
      fault: '"a:b" is not a name for an agent type',
    });
    expect(readAgentType("---\nname: open\n", origin)).toMatchObject({ fault: expect.stringContaining("not closed") });
  });
});

describe("the types of a place", () => {
  const file = (path: string, text: string, scope: ExtensionFile["scope"]): ExtensionFile => ({
    ...{ kind: "agent", scope, path, source: "/s", name: path.slice(1), executable: false, sha256: "" },
    read: async () => text,
    program: async () => path,
  });

  it("take the most local one of a name, and keep the rest apart", async () => {
    const { types, shadowed, faults } = await agentTypes([
      file("/explore.md", "---\ndescription: mine\n---\n", "user"),
      file("/broken.md", "nothing", "user"),
      file("/zed.md", "---\ndescription: z of the user\n---\n", "user"),
      file("/zed.md", "---\ndescription: z of the project\n---\n", "project"),
    ]);
    expect(types.map(({ name, scope }) => [name, scope])).toEqual([
      ["explore", "user"],
      ["general", "built-in"],
      ["zed", "project"],
    ]);
    expect(shadowed.map(({ name, scope }) => [name, scope])).toEqual([
      ["explore", "built-in"],
      ["zed", "user"],
    ]);
    expect(faults).toEqual([{ path: "/broken.md", fault: "It has no description" }]);
    expect(findType(types, "general-purpose")?.name).toBe("general");
    expect(findType(types, "Explore")?.description).toBe("mine");
    const { description } = agentTool(types, { cheap: true });
    expect(description).toContain("- zed: z of the project");
    expect(agentTool(types, { cheap: true }).description).toBe(description);
  });

  it("load with a description of several lines that is not YAML", () => {
    const text = [
      "---",
      "name: checker",
      'description: Use this agent when the user asks to "check" something. Examples:',
      "",
      "<example>",
      "Context: The user wrote a function",
      'user: "Is it right?"',
      "</example>",
      "",
      "model: inherit",
      'tools: ["Read", "Grep"]',
      "color: yellow",
      "---",
      "",
      "You check things.",
    ].join("\n");
    const type = readAgentType(text, { path: "/c.md", name: "c.md", scope: "project" });
    expect(type).toMatchObject({ name: "checker", prompt: "You check things.", tools: ["Read", "Grep"] });
    expect((type as { description: string }).description).toMatch(
      /^Use this agent.*user: "Is it right\?" <\/example>$/,
    );
  });

  it("cost few tokens with the built-in types alone", async () => {
    const { types } = await agentTypes([]);
    const { description, inputSchema } = agentTool(types, { cheap: true });
    expect(description.length + JSON.stringify(inputSchema).length).toBeLessThan(900);
  });
});

describe("the model of a type", () => {
  it("is the newest that an alias of Claude Code means", () => {
    const ids = ["claude-3-5-haiku-20241022", "claude-haiku-4-5", "claude-haiku-4-5-20251001", "claude-sonnet-4-5"];
    expect(newestOf("haiku", ids)).toBe("claude-haiku-4-5");
    expect(newestOf("sonnet", ["anthropic/claude-sonnet-4", "anthropic/claude-sonnet-4.5", "gpt-5"])).toBe(
      "anthropic/claude-sonnet-4.5",
    );
    expect(newestOf("opus", ids)).toBeUndefined();
    expect(["haiku", "claude-sonnet-4-5", "openai:gpt-5", "anthropic:claude-x"].filter(isForeignName)).toEqual([
      "haiku",
      "claude-sonnet-4-5",
    ]);
  });
});
