/** A project with MCP servers, approved by its person, in an engine with the mock model. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseFlags } from "../../src/feature/flags.js";
import { approveServer } from "../../src/runtime/mcp/open-server.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import { ExtendedEngine } from "./extended-engine.js";

export const SERVER = fileURLToPath(new URL("./mcp-server.mjs", import.meta.url));

export class McpProject extends ExtendedEngine {
  /** Writes the plan of a server and names it in `.mcp.json`. */
  server(name: string, plan: object, more: object = {}): void {
    const file = this.planFile(name);
    writeFileSync(file, JSON.stringify({ record: this.recordFile(name), ...plan }));
    this.entry(name, { command: process.execPath, args: [SERVER, file], ...more });
  }

  entry(name: string, entry: object): void {
    this.#servers[name] = entry;
    this.bed.put(".mcp.json", JSON.stringify({ mcpServers: this.#servers }));
  }

  readonly #servers: Record<string, object> = {};

  planFile(name: string): string {
    return join(this.bed.base, `${name}.plan.json`);
  }

  recordFile(name: string): string {
    return join(this.bed.base, `${name}.record`);
  }

  /** Tells what the server was asked, a line each. */
  record(name: string): readonly string[] {
    try {
      return readFileSync(this.recordFile(name), "utf8").trim().split("\n");
    } catch {
      return [];
    }
  }

  async approve(...names: readonly string[]): Promise<void> {
    const variables = { PATH: process.env.PATH, OXBOW_HOME: this.home, HOME: this.home };
    const loaded = await loadSettings(parseFlags([], [], ""), variables);
    for (const name of names) await approveServer(name, { loaded, variables, root: this.bed.folder });
  }
}
