/** A call in the dialect of another harness meets the same rules, hooks and records as the call that it means. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { ExtendedEngine, resultsOf } from "../support/extended-engine.js";
import { verifies } from "../verifies.js";

let engine: ExtendedEngine;
beforeEach(() => {
  engine = new ExtendedEngine();
});
afterEach(() => engine.close());

const call = (tool: string, args: object) => `reply\n  tool ${tool} ${JSON.stringify(args)}\n`;
const DONE = "reply\n  text: Done.\n";

function settings(text: string): void {
  mkdirSync(join(engine.home, "config"), { recursive: true });
  writeFileSync(join(engine.home, "config", "config.toml"), text);
}

describe("a rule", () => {
  verifies(["P2", "L21"], "about a tool holds for its aliases, by the real names of parameters", async () => {
    settings(`
[[permissions.rules]]
tool = "write"
path = "docs/**"
decision = "deny"
[[permissions.rules]]
tool = "bash"
argument = { name = "command", glob = "*secret-word*" }
decision = "deny"
`);
    const script = [
      call("write_file", { file_path: "docs/a.md", contents: "x" }),
      call("WriteFile", { filePath: "docs/a.md", content: "x" }),
      call("str_replace_editor", { command: "create", path: "docs/a.md", file_text: "x" }),
      call("run_shell_command", { cmd: ["bash", "-lc", "echo secret-word"] }),
      call("write_file", { file_path: "free.md", contents: "x" }),
    ];
    await engine.open(`${script.join("")}${DONE}`);
    const events = await engine.turn("go");
    expect(resultsOf(events).map((result) => result.split(":")[0])).toEqual([
      "denied",
      "denied",
      "denied",
      "denied",
      "ok",
    ]);
    const started = events.flatMap((event) => (event.kind === "ToolCallStarted" ? [event.payload] : []));
    expect(started.map(({ tool }) => tool)).toEqual(["write", "write", "write", "bash", "write"]);
    expect(started[3]?.args).toEqual({ command: "echo secret-word" });
    // The model sees its call as it was read.
    expect(engine.requests.at(-1)).not.toContain("run_shell_command");
  });

  verifies(["P2", "L21"], "may itself name the tool as other harnesses do; an alias never allows", async () => {
    settings(`
[[permissions.rules]]
tool = "Bash"
command = "echo spelled *"
decision = "allow"
[[permissions.rules]]
tool = "run_shell_command"
command = "echo alias *"
decision = "allow"
[[permissions.rules]]
tool = "search_file_content"
decision = "deny"
`);
    const script = [
      call("bash", { command: "echo spelled one > out.txt" }),
      call("bash", { command: "echo spelled one" }),
      call("bash", { command: "./echo alias one" }),
      call("grep", { pattern: "x" }),
    ];
    await engine.open(`${script.join("")}${DONE}`, { flags: ["--permission-mode", "ask", "--strict-permissions"] });
    const statuses = resultsOf(await engine.turn("go")).map((result) => result.split(":")[0]);
    expect(statuses).toEqual(["denied", "ok", "denied", "denied"]);
  });

  verifies(["P1", "L21"], "of the session is about the real tool", async () => {
    await engine.open(`${call("WriteFile", { file_path: "a.md", content: "x" })}${DONE}`, {
      flags: ["--permission-mode", "ask"],
    });
    const events = await engine.turn("go");
    expect(resultsOf(events)[0]).toMatch(/^denied: Denied: write needs the user's permission/);
  });
});

describe("a call that is refused by name", () => {
  verifies(["L8", "L21"], "starts nothing, asks nothing and is not a denial", async () => {
    await engine.open(`${call("bash", { command: "touch made", sudo: true })}${DONE}`);
    const events = await engine.turn("go");
    expect(resultsOf(events)).toEqual([
      expect.stringMatching(/^error: bash does not know `sudo`; .*nothing was run\.$/),
    ]);
    expect(events.at(-1)?.payload).toMatchObject({ outcome: "answered" });
  });
});

describe("a patch that cannot be read", () => {
  verifies(["L8", "L21"], "is an error of the call before anyone is asked", async () => {
    const patches = ["hello", "*** Begin Patch\n*** Update File: a.md\n@@\n-x\n+y", "--- a/a.md\n+++ b/a.md\n@@\n+x\n"];
    const script = patches.map((patch) => call("apply_patch", { patch })).join("");
    await engine.open(`${script}${DONE}`, { flags: ["--permission-mode", "ask"] });
    const events = await engine.turn("go");
    expect(resultsOf(events)).toEqual(patches.map(() => expect.stringMatching(/^error: Not run: /)));
    expect(events.at(-1)?.payload).toMatchObject({ outcome: "answered" });
  });
});
