/**
 * The official conformance runner against Oxbow's MCP client: every client scenario that the two newest revisions require. The
 * scenarios that do not apply are in docs/mcp.md.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { verifies } from "../verifies.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PACKAGES = join(process.env.OXBOW_TEST_PACKAGES ?? "", "node_modules");
const RUNNER = join(PACKAGES, "@modelcontextprotocol/conformance/dist/index.js");
/** The runner needs a newer Node than Oxbow does. */
const NODE = join(PACKAGES, `node-${process.platform}-${process.arch}`, "bin/node");
const LIMIT_MS = 240_000;

let folder: string;
beforeAll(async () => {
  // @ts-expect-error: a tool of this repository, without types.
  const { bundle } = await import("../../tools/build/bundle.mjs");
  const entries = { client: "test/support/mcp-conformance-client.ts" };
  const { chunks } = await bundle({ root: ROOT, entries, startUp: [] });
  mkdirSync(join(ROOT, "node_modules/.cache"), { recursive: true });
  // Within the project, so that what is not bundled is found.
  folder = mkdtempSync(join(ROOT, "node_modules/.cache/mcp-conformance-"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const { fileName, code } of chunks) writeFileSync(join(folder, fileName), code);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function conformance(revision: string): Promise<string> {
  const node = existsSync(NODE) ? NODE : process.execPath;
  const command = `${process.execPath} ${join(folder, "client.js")}`;
  const args = [RUNNER, "client", "--command", command, "--requirements", revision, "--timeout", String(LIMIT_MS)];
  return new Promise((resolve) => {
    execFile(node, args, { cwd: folder, timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) => {
      resolve(`${stdout}\n${stderr}`);
    });
  });
}

/** Extensions for clients without a person, or with a company's server. */
const NOT_OURS = /client-credentials|enterprise-managed|dpop|wif-jwt-bearer/;

describe("the official conformance suite for clients", () => {
  for (const [revision, least] of [
    ["2025-11-25", 19],
    ["2026-07-28", 33],
  ] as const) {
    verifies(
      ["E6"],
      `passes for ${revision}`,
      async () => {
        const output = await conformance(revision);
        const summary = output.slice(output.indexOf("SUITE SUMMARY"));
        const lines = summary.split("\n").filter((line) => /^[✓✗] /.test(line) && !NOT_OURS.test(line));
        expect(lines.filter((line) => line.startsWith("✗"))).toEqual([]);
        expect(lines.length).toBeGreaterThanOrEqual(least);
      },
      LIMIT_MS + 20_000,
    );
  }
});
