/** The reference servers, as people install them, end to end with the mock model and in the sandbox. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { resultsOf } from "../support/extended-engine.js";
import { McpProject } from "../support/mcp-project.js";
import { slash, slashTurn } from "../support/slash-turn.js";
import { verifies } from "../verifies.js";

const PACKAGES = join(process.env.OXBOW_TEST_PACKAGES ?? "", "node_modules/@modelcontextprotocol");
const SANDBOX = ["--permission-mode", "allow", "--sandbox", "auto"];

let project: McpProject;
beforeEach(() => {
  project = new McpProject();
});
afterEach(() => project.close());

async function open(name: string, args: readonly string[], { script, env = {} }: { script: string; env?: object }) {
  const data = join(project.bed.folder, "data");
  mkdirSync(data, { recursive: true });
  const program = { command: process.execPath, args: [join(PACKAGES, `server-${name}/dist/index.js`), ...args], env };
  const entry = { ...program, writable: [data] };
  // The user's own: what it names outside the project stays visible in the sandbox.
  const file = join(project.home, ".claude.json");
  mkdirSync(project.home, { recursive: true });
  writeFileSync(file, JSON.stringify({ mcpServers: { [name]: entry } }));
  await project.approve(name);
  await project.open(script, { flags: SANDBOX, user: "present" });
}

const call = (tool: string, args: object) => `reply\n  tool ${tool} ${JSON.stringify(args)}\nreply\n  text: Done.\n`;

describe("the reference servers", () => {
  verifies(
    ["E6"],
    "server-everything: tools, pictures, links, forms, tasks, resources and prompts",
    async () => {
      const tools = [
        call("mcp__everything__echo", { message: "hello" }),
        call("mcp__everything__get-sum", { a: 2, b: 3 }),
        call("mcp__everything__get-tiny-image", {}),
        call("mcp__everything__get-resource-links", { count: 2 }),
        call("mcp__everything__get-structured-content", { location: "New York" }),
        call("mcp__everything__trigger-elicitation-request", {}),
        call("mcp__everything__simulate-research-query", { topic: "rivers" }),
      ];
      await open("everything", [], { script: `${tools.join("")}reply\n  text: A.\nreply\n  text: B.\n` });
      project.client.subscribe(({ kind, payload }) => {
        if (kind !== "PermissionRequested") return;
        const { call: id } = payload as { call: `call_${string}` };
        void project.client.send(
          "AnswerPermission",
          { call: id, decision: "allow_once", message: "name=Ann" },
          project.session,
        );
      });
      const results: string[] = [];
      for (const _ of tools) results.push(...resultsOf(await project.turn("use everything")));
      expect(results[0]).toContain("hello");
      expect(results[1]).toContain("5");
      expect(results[2]).toMatch(/^ok: /);
      expect(results[3]).toContain("Resource link: ");
      expect(results[4]).toContain("temperature");
      expect(results[5]).toMatch(/^ok: .*Ann/s);
      expect(results[6]).toMatch(/^ok: .*rivers/s);
      expect(project.requests.join("")).toContain('"media_type":"image/png"');
      const status = JSON.stringify(await slash(project.client, project.session, "/mcp:everything status"));
      expect(status).toContain('"protocol":"2025-11-25"');
      await project.turn("Read @everything:demo://resource/dynamic/text/1 please");
      expect(project.requests.at(-1)).toContain("The resource that the user means");
      const { reply } = await slashTurn(project.client, project.session, "/mcp:everything:simple-prompt");
      expect(reply.ok).toBe(true);
    },
    60_000,
  );

  verifies(
    ["E6"],
    "server-filesystem: reads and writes the folder that it may",
    async () => {
      project.bed.put("notes.txt", "Buy milk.");
      const script = [
        call("mcp__filesystem__read_text_file", { path: join(project.bed.folder, "notes.txt") }),
        call("mcp__filesystem__write_file", { path: join(project.bed.folder, "data/new.txt"), content: "Hello." }),
        call("mcp__filesystem__read_text_file", { path: "/etc/passwd" }),
      ];
      await open("filesystem", [project.bed.folder], { script: script.join("") });
      expect(resultsOf(await project.turn("use filesystem"))[0]).toContain("Buy milk.");
      expect(resultsOf(await project.turn("write"))[0]).toMatch(/^ok/);
      expect(readFileSync(join(project.bed.folder, "data/new.txt"), "utf8")).toBe("Hello.");
      expect(resultsOf(await project.turn("outside"))[0]).toMatch(/^error/);
    },
    60_000,
  );

  verifies(
    ["E6"],
    "server-memory: keeps what the model saves",
    async () => {
      const entity = { name: "Ann", entityType: "person", observations: ["likes tea"] };
      const script = [
        call("mcp__memory__create_entities", { entities: [entity] }),
        call("mcp__memory__search_nodes", { query: "tea" }),
      ];
      const env = { MEMORY_FILE_PATH: join(project.bed.folder, "data/memory.jsonl") };
      await open("memory", [], { script: script.join(""), env });
      expect(resultsOf(await project.turn("use memory"))[0]).toMatch(/^ok/);
      expect(resultsOf(await project.turn("search"))[0]).toContain("likes tea");
      expect(readFileSync(env.MEMORY_FILE_PATH, "utf8")).toContain("Ann");
    },
    60_000,
  );
});
