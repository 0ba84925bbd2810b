import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { conditionHolds } from "./condition.js";
import { readHooks } from "./configuration.js";
import { shownHandler } from "./hook-handler.js";
import { parseMatcher } from "./matcher.js";
import { toolViews } from "./tool-views.js";

const ROOT = "/home/ann/app";
const place = { root: ROOT, home: "/home/ann" };

function view(tool: string, args: Record<string, string>) {
  const [first] = toolViews({ tool, args }, ROOT).parts;
  if (first === undefined) throw new Error("no view");
  return first;
}

describe("the condition of a hook", () => {
  verifies(["E3"], "fits any part of a command", () => {
    const fits = (rule: string, command: string) => conditionHolds(rule, view("bash", { command }), place);
    const yes = [
      "git push",
      "git push -f",
      "cd x && git push",
      "A=1 sudo git push x",
      "echo $(git push)",
      "x;git push",
      "(git push)",
    ];
    for (const command of yes) expect([command, fits("Bash(git push *)", command)]).toEqual([command, true]);
    for (const command of ["git pushy", "echo git", "git pull"])
      expect([command, fits("Bash(git push:*)", command)]).toEqual([command, false]);
    expect(fits("Bash(rm*)", "rmdir x")).toBe(true);
    expect(fits("Edit(*.ts)", "git push")).toBe(false);
    expect(fits("not a rule (", "git push")).toBe(true);
  });

  verifies(["E3"], "takes no longer for a command that almost fits", () => {
    const command = "a".repeat(2000);
    expect(conditionHolds(`Bash(${"*a".repeat(30)}*b)`, view("bash", { command }), place)).toBe(false);
    expect(conditionHolds(`Edit(${"*a".repeat(30)}*b)`, view("write", { path: command, content: "" }), place)).toBe(
      false,
    );
  });

  verifies(["E3"], "fits paths and addresses", () => {
    const write = (rule: string, path: string) => conditionHolds(rule, view("write", { path, content: "" }), place);
    expect(write("Edit(*.env)", "deep/.env")).toBe(true);
    expect(write("Write(src/**)", "src/a/b.ts")).toBe(true);
    expect(write("Write(/src/*.ts)", "src/a.ts")).toBe(true);
    expect(write("Write(//etc/**)", "/etc/passwd")).toBe(true);
    expect(write("Write(~/x/*)", "/home/ann/x/y")).toBe(true);
    expect(write("Write(src/*.ts)", "src/a/b.ts")).toBe(false);
    expect(write("Read(*.env)", ".env")).toBe(false);
    const fetched = view("web_fetch", { url: "https://docs.example.com/x" });
    expect(conditionHolds("WebFetch(domain:example.com)", fetched, place)).toBe(true);
    expect(conditionHolds("WebFetch(domain:ample.com)", fetched, place)).toBe(false);
  });
});

describe("a matcher", () => {
  it("names tools exactly, or is a regular expression", () => {
    const fits = (matcher: string | undefined, name: string) => parseMatcher(matcher).matches(name);
    for (const all of [undefined, "", " ", "*", ".*"]) expect(fits(all, "Bash")).toBe(true);
    expect(fits("Edit, Write", "Write")).toBe(true);
    expect(fits("Bas", "Bash")).toBe(false);
    expect(fits("mcp__memory", "mcp__memory__add")).toBe(false);
    expect(fits("mcp__memory__.*", "mcp__memory__add")).toBe(true);
    expect(fits("^(Edit|Write)$", "Write")).toBe(true);
    expect(parseMatcher("Write(*.py)").problem).toContain("not a regular expression");
  });
});

describe("the views of a call", () => {
  it("map a changed input back to Oxbow's arguments", () => {
    const edits = [{ old: "a", new: "b", all: true }];
    const edit = toolViews({ tool: "edit", args: { path: "x.ts", edits } }, ROOT).parts[0];
    expect(edit?.input).toMatchObject({
      file_path: `${ROOT}/x.ts`,
      old_string: "a",
      new_string: "b",
      replace_all: true,
    });
    expect(edit?.argsOf?.(edit.input)).toEqual({ path: "x.ts", edits });
    expect(edit?.argsOf?.({ file_path: "/y", old_string: "a", new_string: "c" })).toEqual({
      path: "/y",
      edits: [{ old: "a", new: "c" }],
    });
    const several = toolViews({ tool: "edit", args: { path: "x.ts", edits: [...edits, ...edits] } }, ROOT).parts[0];
    expect(() => several?.argsOf?.({ ...several.input, new_string: "other" })).toThrow("list edits");
    const bash = toolViews({ tool: "bash", args: { command: "ls", timeout: 5 } }, ROOT).parts[0];
    expect(bash?.input).toEqual({ command: "ls", timeout: 5000 });
    expect(bash?.argsOf?.({ command: "ls -l", timeout: 5000 })).toEqual({ command: "ls -l", timeout: 5 });
    const grep = toolViews({ tool: "grep", args: { pattern: "x", mode: "files", ignore_case: true } }, ROOT).parts[0];
    expect(grep?.input).toEqual({ pattern: "x", output_mode: "files", "-i": true });
    expect(grep?.argsOf?.(grep.input)).toEqual({ pattern: "x", mode: "files", ignore_case: true });
  });
});

describe("written hooks", () => {
  verifies(["E3"], "are read one by one: the deadlines of the events, bad ones reported, the same one once", () => {
    const command = { type: "command", command: "true" };
    const entry = (event: string, value: unknown) => ({ scope: "user" as const, path: "s.json", event, value });
    const events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Compact", "Stop"];
    const { hooks } = readHooks(events.map((event) => entry(event, [{ hooks: [command, command] }])));
    expect(hooks.map(({ event, timeoutMs }) => [event, timeoutMs / 1000])).toEqual([
      ["SessionStart", 5],
      ["UserPromptSubmit", 5],
      ["PreToolUse", 30],
      ["PostToolUse", 30],
      ["PreCompact", 60],
      ["Stop", 5],
    ]);
    const bad = [
      "text",
      { matcher: "Write(*)", hooks: [command] },
      { matcher: 5, hooks: [command] },
      {
        hooks: [
          { type: "http", url: "x" },
          { command: "x" },
          { type: "command" },
          { ...command, timeout: -1 },
          { ...command, shell: "powershell" },
          null,
        ],
      },
      { hooks: [{ ...command, command: "good" }] },
    ];
    const read = readHooks([entry("PreToolUse", bad), entry("TeammateIdle", [{ hooks: [command] }])]);
    expect(read.hooks.map(({ handler }) => shownHandler(handler))).toEqual(["good"]);
    expect(read.problems).toHaveLength(9);
  });
});
