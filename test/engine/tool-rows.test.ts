/** The built-in tools in a session: which there are, where they reach, and what they do with results that are too long. */
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { Envelope } from "../../src/protocol/envelope.js";
import { ExtendedEngine, resultsOf } from "../support/extended-engine.js";
import { oxbow } from "../support/program.js";
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

function imagesOf(events: readonly Envelope[]): readonly string[] {
  return events.flatMap((event) =>
    event.kind === "ToolResult"
      ? event.payload.content.flatMap((block) => (block.type === "image" ? [block.media_type] : []))
      : [],
  );
}

describe("the tools of a session", () => {
  verifies(["T1"], "are all there once there are skills, memories and a knowledge base", async () => {
    engine.bed.put(".oxbow/skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets.\n---\nSay hello.\n");
    await engine.bed.approveAll();
    const env = { OXBOW_HOME: engine.home };
    for (const words of [
      ["memory", "add", "The lamp is red."],
      ["kb", "observe", "decision", "The lamp burns oil."],
    ]) {
      expect((await oxbow(words, { cwd: engine.bed.folder, env })).code, words.join(" ")).toBe(0);
    }
    await engine.open(
      [
        call("kb", { action: "search", text: "lamp oil" }),
        call("kb", { action: "record", text: "The tower is white.", kind: "finding" }),
        call("kb", { action: "search", text: "tower" }),
        call("memory", { action: "find", content: "lamp" }),
        call("skill", { name: "greet" }),
        call("write_file", { file_path: "a.txt", contents: "one\n" }),
        call("str_replace", { path: "a.txt", old_str: "one", new_str: "two" }),
        call("read_file", { path: "a.txt" }),
        call("list_dir", { path: "." }),
        call("todo", { todos: [{ text: "Look", status: "in_progress" }] }),
        DONE,
      ].join(""),
    );
    const results = resultsOf(await engine.turn("go"));
    expect(results.map((result) => result.slice(0, 3))).toEqual(results.map(() => "ok:"));
    expect(results[0]).toContain("The lamp burns oil.");
    expect(results[2]).toContain("The tower is white.");
    expect(results[3]).toContain("The lamp is red.");
    expect(results[7]).toContain("1\ttwo");
    const offered = /"tools":\[.*\]/.exec(engine.requests[0] ?? "")?.[0] ?? "";
    const wanted = "read write edit bash grep glob ls web_fetch todo skill agent memory kb".split(" ");
    const missing = (names: readonly string[]) => names.filter((name) => !offered.includes(`"name":"${name}"`));
    expect(missing(wanted)).toEqual([]);
    // What another tool does as well is not offered; a call of it still runs.
    const replaced = ["apply_patch"];
    expect(missing(replaced)).toEqual(replaced);
  });

  verifies(["T1"], "kb is not there without a knowledge base", async () => {
    await engine.open(`${call("kb", { action: "record", text: "x" })}${DONE}`);
    expect(resultsOf(await engine.turn("go")).join()).toMatch(/^error: .*kb/);
    expect(engine.requests[0]).not.toContain('"name":"kb"');
  });

  verifies(["T1"], "kb asks before it records", async () => {
    const env = { OXBOW_HOME: engine.home };
    await oxbow(["kb", "observe", "decision", "The lamp burns oil."], { cwd: engine.bed.folder, env });
    await engine.open(`${call("kb", { action: "record", text: "x" })}${DONE}`, {
      flags: ["--permission-mode", "auto"],
    });
    const events = await engine.turn("go");
    expect(events.filter(({ kind }) => kind === "PermissionResolved")).toMatchObject([{ payload: { tool: "kb" } }]);
    expect(resultsOf(events).join()).toMatch(/^denied: /);
  });

  verifies(["T3"], "use the folders of extra_roots like the workspace, and no other", async () => {
    const extra = join(engine.bed.base, "shared");
    const other = join(engine.bed.base, "other");
    for (const folder of [extra, other]) {
      mkdirSync(folder);
      writeFileSync(join(folder, "a.txt"), "one\n");
      writeFileSync(join(folder, ".envrc"), "export A=1\n");
    }
    symlinkSync(other, join(extra, "out"));
    settings(`extra_roots = ["${extra}", "/no/such/folder"]\n`);
    await engine.open(
      [
        call("read", { path: join(extra, "a.txt") }),
        call("edit", { path: join(extra, "a.txt"), edits: [{ old: "one", new: "two" }] }),
        call("grep", { pattern: "two", path: extra }),
        call("write", { path: join(extra, "made/b.txt"), content: "b\n" }),
        call("read", { path: join(extra, "out/a.txt") }),
        call("read", { path: join(other, "a.txt") }),
        call("write", { path: join(extra, ".envrc"), content: "x" }),
        DONE,
      ].join(""),
    );
    const results = resultsOf(await engine.turn("go"));
    expect(results.map((result) => result.split(":")[0])).toEqual([
      "ok",
      "ok",
      "ok",
      "ok",
      "denied",
      "denied",
      "denied",
    ]);
    expect(results[2]).toContain("two");
    expect(readFileSync(join(extra, "a.txt"), "utf8")).toBe("two\n");
    expect(readFileSync(join(other, "a.txt"), "utf8")).toBe("one\n");
    expect(engine.requests[0]).toContain(`you may use these folders, by absolute path: ${realpathSync(extra)}`);
  });

  verifies(["T4"], "show an image of the workspace as an image, and say what a binary file is", async () => {
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    writeFileSync(join(engine.bed.folder, "dot.png"), png);
    writeFileSync(join(engine.bed.folder, "data.bin"), Buffer.from([0, 1, 2, 3, 0, 255]));
    await engine.open(`${call("read", { path: "dot.png" })}${call("read", { path: "data.bin" })}${DONE}`);
    const events = await engine.turn("go");
    expect(imagesOf(events)).toEqual(["image/png"]);
    expect(engine.requests[1]).toContain('"type":"image"');
    expect(resultsOf(events)[1]).toMatch(/binary/i);
  });

  verifies(["T9"], "cut a long result of an extension and name the file with the rest", async () => {
    const schema = '{"name":"flood","description":"Floods.","input_schema":{"type":"object"}}';
    engine.bed.program(
      ".oxbow/tools/flood",
      `#!/bin/bash\nif [ "$1" = --schema ]; then echo '${schema}'; else seq 1 60000; fi\n`,
    );
    await engine.bed.approveAll();
    await engine.open(`${call("flood", {})}${DONE}`);
    const [cut = ""] = resultsOf(await engine.turn("go"));
    expect(cut.length).toBeLessThan(12_500);
    const [, file = "", line = ""] =
      /characters cut here: the whole output is in (\S+); to go on, read it with offset (\d+) …\]/.exec(cut) ?? [];
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(60_000);
    const shown = cut.slice("ok: ".length, cut.indexOf(" | […")).split("\n");
    // The last shown line may be cut.
    expect([Number(line), lines.slice(0, shown.length - 1)]).toEqual([shown.length, shown.slice(0, -1)]);
  });
});
