/** MCP servers from the entry of a file to the result of a call. */
import { afterEach, beforeEach, describe, expect } from "vitest";
import { resultsOf } from "../support/extended-engine.js";
import { McpProject } from "../support/mcp-project.js";
import { verifies } from "../verifies.js";

let project: McpProject;
beforeEach(() => {
  project = new McpProject();
});
afterEach(() => project.close());

const call = (tool: string, args = '{"text": "hi"}') => `reply\n  tool ${tool} ${args}\nreply\n  text: Done.\n`;

describe("an MCP server", () => {
  verifies(["E6"], "of .mcp.json works once a person approved it", async () => {
    project.server("echo", { tools: { say: {} } });
    await project.approve("echo");
    await project.open(call("mcp__echo__say"));
    expect(resultsOf(await project.turn("go"))).toEqual(['ok: say got {"text":"hi"}']);
    expect(project.requests[0]).toContain('"name":"mcp_search"');
    expect(project.requests[0]).not.toContain("mcp__echo__say");
    expect(project.requests[1]).toContain("mcp__echo__say");
  });
});
