import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { ToolSet } from "../../engine/ports.js";
import { parseFlags } from "../../feature/flags.js";
import type { Layer } from "../../feature/setting.js";
import { loadSettings, resolveSettings } from "./settings.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "oxbow-tool-sets-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const FLAGS = [{ name: "tool-set", value: "SET", repeatable: true as const, help: "" }];

async function load(own: object, { project, flags = [] }: { project?: object; flags?: readonly string[] } = {}) {
  const variables = { OXBOW_HOME: home };
  const loaded = await loadSettings(parseFlags([], [], ""), variables);
  const sources = { ...loaded.sources, flags: parseFlags(FLAGS, flags, "") };
  const layer = (scope: Layer["scope"], profile: object): Layer => ({
    ...{ scope, path: `${scope}.toml`, text: "" },
    profile: profile as Layer["profile"],
  });
  const layers = [layer("user", own), ...(project === undefined ? [] : [layer("project", project)])];
  const { settings, warnings } = await resolveSettings({ ...loaded, sources, layers });
  const { value } = settings.tool_sets;
  const offers = (...tools: readonly (readonly [string, ToolSet?])[]) =>
    tools.filter(([tool, set]) => value.offers(tool, set)).map(([tool]) => tool);
  return { value, warnings, offers };
}

const SAMPLES = [
  ["read", "read"],
  ["grep", "read"],
  ["bash", "command"],
  ["web_fetch", "web"],
  ["my_tool"],
  ["mcp__github__issues"],
  ["mcp_search", "read"],
] as const;

const MINE = { mine: ["read_file", "my_tool", "mcp__github__*"] };

describe("tool sets of one's own", () => {
  const cases: readonly (readonly [string, object, readonly string[], readonly string[]])[] = [
    ["nothing chosen", { tool_sets: MINE }, [], SAMPLES.map(([tool]) => tool)],
    [
      "a fixed set keeps the tools of extensions",
      { tool_sets: ["web"] },
      [],
      ["web_fetch", "my_tool", "mcp__github__issues"],
    ],
    [
      "an own set names every tool, also by another name and by a pattern",
      { tool_sets: { ...MINE, use: ["mine"] } },
      [],
      ["read", "my_tool", "mcp__github__issues", "mcp_search"],
    ],
    [
      "both together",
      { tool_sets: MINE },
      ["--tool-set", "mine,command"],
      ["read", "bash", "my_tool", "mcp__github__issues", "mcp_search"],
    ],
    [
      "a whole fixed set inside",
      { tool_sets: { small: ["set:read", "web_fetch"] } },
      ["--tool-set", "small"],
      ["read", "grep", "web_fetch", "mcp_search"],
    ],
  ];
  for (const [name, own, flags, expected] of cases) {
    verifies(["T2"], name, async () => expect((await load(own, { flags })).offers(...SAMPLES)).toEqual(expected));
  }

  verifies(["T2", "E5"], "a project chooses among what the user chose, and defines none", async () => {
    const own = { tool_sets: { ...MINE, use: ["mine", "read"] } };
    const wider = await load(own, { project: { tool_sets: ["command"] } });
    expect(wider.warnings.join()).toMatch(/"tool_sets" is ignored: a project may only make it stricter/);
    expect(wider.value.names).toEqual(["read", "mine"]);
    const stricter = await load(own, { project: { tool_sets: ["read"] } });
    expect(stricter.offers(...SAMPLES)).toEqual(["read", "grep", "mcp_search"]);
    const defines = await load({}, { project: { tool_sets: { theirs: ["bash"] } } });
    expect(defines.warnings.join()).toContain("only you may define tool sets");
  });

  it.each([
    [{ tool_sets: { read: ["bash"] } }, /"read" is a built-in tool set/],
    [{ tool_sets: { "a b": ["bash"] } }, /"a b" cannot name a tool set/],
    [{ tool_sets: { mine: "bash" } }, /mine: expected a list of tools/],
    [{ tool_sets: { mine: [] } }, /mine: expected a list of tools/],
    [{ tool_sets: { mine: ["set:all"] } }, /mine: there is no tool set "all"/],
    [{ tool_sets: { ...MINE, use: ["their"] } }, /no tool set "their"; there are read, .*, agents, mine/],
  ])("%j is refused with a reason", async (own, words) => {
    await expect(load(own)).rejects.toThrow(words);
  });

  it("says which named tools do not exist", async () => {
    const { value } = await load({ tool_sets: { mine: ["read", "gerp", "mcp__x__y", "my_*"], use: "mine" } });
    expect(value.missing((tool) => tool === "read")).toEqual(["gerp"]);
  });
});
