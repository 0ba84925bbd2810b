import { expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { shortName, toolName } from "./tool-names.js";

verifies(["E6"], "names of MCP tools never collide, and every provider takes them", () => {
  const servers = ["a", "a_", "a__b", "a.b", "a b", "a_b", "b", "ünï", "x".repeat(80), "-", "_"];
  const tools = [
    "c",
    "b__c",
    "_b",
    "__c",
    "c.d",
    "c d",
    "c_d",
    "c/d",
    "y".repeat(80),
    `${"y".repeat(79)}z`,
    "😀",
    "😁",
    "C",
  ];
  const names = servers.flatMap((server) => tools.map((tool) => toolName(server, tool)));
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(toolName("git-hub", "create_issue")).toBe("mcp__git-hub__create_issue");
  expect(new Set(servers.map(shortName)).size).toBe(servers.length);
});

verifies(["E6", "P11"], "a tool cannot take the name of a tool that has a hash", () => {
  const name = toolName("x y", "read file");
  const [, server = "", tool = ""] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  expect(toolName(server, tool)).not.toBe(name);
  expect(toolName("a", "b__bash")).not.toBe(toolName("a__b", "bash"));
});
