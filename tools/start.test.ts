import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../test/verifies.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "oxbow-start-"));
});
afterEach(() => rmSync(home, { recursive: true }));

function start(cwd: string, more: Record<string, string> = {}) {
  const env = { PATH: process.env.PATH, HOME: home, OXBOW_HOME: home, OLLAMA_HOST: "http://127.0.0.1:9", ...more };
  const args = [join(ROOT, "tools", "start.mjs"), "run", "hello", "--store", "none"];
  return spawnSync(process.execPath, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

describe("the program of a clone", () => {
  verifies(["P11", "M6"], "answers in the clone itself, without a terminal, a key or a question", () => {
    const { status, stderr, stdout } = start(ROOT);
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(stdout).not.toBe("");
  });

  it("as 'npm start' says how to have the command everywhere, unless it is there", () => {
    const npm = { npm_lifecycle_event: "start", npm_package_json: join(ROOT, "package.json"), INIT_CWD: home };
    const bin = join(home, "bin");
    mkdirSync(bin);
    expect(start(ROOT, npm).stderr).toContain(`ln -s ${join(ROOT, "oxbow")} ~/.local/bin/oxbow`);
    symlinkSync(join(ROOT, "oxbow"), join(bin, "oxbow"));
    const found = start(ROOT, { ...npm, PATH: `${bin}${delimiter}${process.env.PATH}` });
    expect(found.stderr).not.toContain("ln -s");
  });

  it("vouches for the instructions of this clone as they are, and for nothing else", () => {
    const entries = readFileSync(join(ROOT, "tools", "start", "approved.lock"), "utf8")
      .trim()
      .split("\n");
    const instructions = readFileSync(join(ROOT, "AGENTS.md"));
    const sha256 = createHash("sha256").update(instructions).digest("hex");
    // After a change: 'oxbow ack --emit-lockfile FILE' on a terminal writes the new one.
    expect(entries.map((entry) => JSON.parse(entry))).toMatchObject([{ path: "AGENTS.md", sha256 }]);
  });
});
