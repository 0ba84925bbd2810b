/** Shows what the sessions of one engine share, and what its health shows of that. */
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { SessionId } from "../../src/protocol/ids.js";
import type { HealthInfo } from "../../src/protocol/queries.js";
import { McpProject } from "../support/mcp-project.js";
import { settledTurn, slash } from "../support/slash-turn.js";
import { verifies } from "../verifies.js";

const SKILL = "---\nname: release\ndescription: Releases.\ntriggers:\n  keywords: [changelog]\n---\nDo the steps.\n";

let project: McpProject;
beforeEach(() => {
  project = new McpProject();
});
afterEach(() => project.close());

async function health(): Promise<HealthInfo> {
  const reply = await project.client.query("GetHealth", {});
  if (!reply.ok) throw new Error(reply.failure.message);
  return reply.answer;
}

describe("the caches of an engine", () => {
  verifies(
    ["O3", "O1", "E6"],
    "share instructions, skills and MCP schemas between sessions, and its health counts them",
    async () => {
      project.bed.put("AGENTS.md", "Be brief.\n");
      project.bed.put(".oxbow/skills/release/SKILL.md", SKILL);
      project.server("echo", { tools: { say: {} } });
      await project.approve("echo");
      await project.bed.approveAll();
      const turn = 'reply\n  tool mcp__echo__say {"text": "hi"}\nreply\n  text: Done.\n';
      await project.open(`${turn}${turn}`);
      const { client, session } = project;
      await settledTurn(client, session, "the changelog, with echo");
      const counted = async () => new Map((await health()).caches?.each.map(({ name, ...counts }) => [name, counts]));
      const first = await counted();
      for (const name of ["instruction files", "skill bodies", "MCP schemas"]) {
        expect([name, first.get(name)?.entries, first.get(name)?.bytes]).not.toEqual([name, 0, 0]);
      }
      const made = await client.send("CreateSession", { cwd: project.bed.folder });
      const other = (made.ok ? made.session : undefined) as SessionId;
      await settledTurn(client, other, "the changelog, with echo");
      const second = await counted();
      for (const name of ["instruction files", "skill bodies", "MCP schemas"]) {
        const [before, after] = [first.get(name), second.get(name)];
        expect([name, after?.entries, after?.misses]).toEqual([name, before?.entries, before?.misses]);
        // Sessions in one folder share its instructions as a whole.
        if (name !== "instruction files") expect([name, after?.hits]).not.toEqual([name, before?.hits]);
      }
      expect((await health()).parts?.MCP).toEqual({ ok: true, detail: "echo: ready, 1 tool, 2 sessions" });
      const shown = await slash(client, other, "/health");
      const words = JSON.stringify(shown);
      for (const word of ["instruction files", "skill bodies", "MCP schemas", "evicted", "of 33.6 MB", "echo: ready"])
        expect(words).toContain(word);
      await client.send("EndSession", {}, other);
      expect((await health()).parts?.MCP?.detail).toBe("echo: ready, 1 tool, 1 session");
      await client.send("EndSession", {}, session);
      expect((await health()).parts?.MCP).toEqual({ ok: true, detail: "no server in use" });
      // One process for both sessions.
      expect(project.record("echo").filter((line) => line.startsWith("start"))).toHaveLength(1);
    },
  );
});
