import { existsSync, readFileSync, statSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import type { JsonObject } from "../../src/protocol/json.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

describe("an output too long for the model", () => {
  verifies(["S4", "S5", "T6"], "is kept without secrets, can be read, and goes with its session", async () => {
    const home = await temporaryFolder();
    const cwd = await temporaryFolder();
    const secret = `ghp_${"aB3dE6gH9".repeat(4)}`;
    const lines = Array.from({ length: 9000 }, (_, index) => (index === 4500 ? `token: ${secret}` : `line ${index}`));
    await writeFile(join(cwd, "big.txt"), `${lines.join("\n")}\n`);
    const calling = async (calls: readonly (readonly [string, JsonObject])[], flags: readonly string[]) => {
      const replies = [...calls.map(([tool, args]) => reply().tool(tool, args)), reply().text("Done.")];
      const mock = await startMockModel({ script: script(replies) });
      try {
        const env = { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
        const { stdout } = await oxbow(["run", "--stream-events", ...flags, "go on"], { cwd, env });
        const results = envelopes(stdout).flatMap((event) => (event.kind === "ToolResult" ? [event.payload] : []));
        return { results, session: envelopes(stdout)[0]?.session ?? "" };
      } finally {
        await mock.close();
      }
    };
    const first = await calling([["bash", { command: "cat big.txt" }]], []);
    const file = String(first.results[0]?.details?.output_file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const kept = readFileSync(file, "utf8");
    expect(kept).not.toContain(secret);
    expect(kept).toContain("line 4499\ntoken: «redacted:");
    expect(kept.endsWith("line 8999\n")).toBe(true);
    const calls = [
      ["read", { path: file, offset: 4490, limit: 5 }],
      ["grep", { pattern: "line 4[0-9]99$", path: file }],
      ["write", { path: file, content: "changed" }],
      ["read", { path: join(home, "config") }],
    ] as const;
    const second = await calling(calls, ["--continue"]);
    expect(second.results.map(({ status }) => status)).toEqual(["ok", "ok", "denied", "denied"]);
    expect(JSON.stringify(second.results[0]?.content)).toContain("line 4491");
    expect(JSON.stringify(second.results[1]?.content)).toContain("line 4099");
    await oxbow(["session", "delete", first.session, "--yes"], { cwd, env: { OXBOW_HOME: home } });
    expect(existsSync(file)).toBe(false);
    expect(await readdir(join(home, "state/output"))).toEqual([]);
    const unkept = await calling([["bash", { command: "cat big.txt" }]], ["--store", "none"]);
    expect(existsSync(String(unkept.results[0]?.details?.output_file))).toBe(false);
  });
});
