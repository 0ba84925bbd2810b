import { describe, expect, test } from "vitest";
import { wordsIn } from "../../base/shell-word.js";
import { memoryFile } from "../skills/test-support/memory-files.js";
import { expandPrompt, type PromptArguments } from "./expand-prompt.js";
import { readPromptFile } from "./read-prompt-file.js";

const ran: string[] = [];
const ports = {
  run: async (command: string) => {
    ran.push(command);
    return `<${command}>`;
  },
  read: async (path: string) => (path === "a.md" ? "text of a: $1 !`no`" : undefined),
};

const expand = (body: string, line = "", more: Partial<PromptArguments> = {}) =>
  expandPrompt(body, { line, names: [], missing: "keep", ...more }, ports);

describe("arguments", () => {
  test("fill the whole line, words and names", async () => {
    expect(await expand("Fix $ARGUMENTS now", '12 "two words"')).toBe('Fix 12 "two words" now');
    expect(await expand("$1 and $2, $3", 'a "b c"')).toBe("a and b c, $3");
    expect(await expand("$1|$3|", "a b", { missing: "empty" })).toBe("a||");
    expect(await expand("$00|$1", "a", { missing: "empty" })).toBe("$00|a");
    expect(await expand("$0 $1 $2", "a b")).toBe("a b $2");
    expect(await expand("$ARGUMENTS[1] $ARGUMENTS[0]", "a b")).toBe("b a");
    expect(await expand("on $BRANCH, not $HOME", 'BRANCH="x y"')).toBe("on x y, not $HOME");
    expect(await expand("$issue by $who", "7 ann", { names: ["issue", "who"] })).toBe("7 by ann");
    expect(await expand("in ${CLAUDE_PROJECT_DIR} ${OTHER}", "", { variables: { CLAUDE_PROJECT_DIR: "/p" } })).toBe(
      "in /p ${OTHER}",
    );
    expect(await expand("costs \\$1 and $1", "5")).toBe("costs $1 and 5");
  });

  test("go to the end when no placeholder uses them", async () => {
    expect(await expand("Review.", "src only")).toBe("Review.\n\nARGUMENTS: src only");
    expect(await expand("Review.")).toBe("Review.");
    expect(await expand("Review $1.", "")).toBe("Review $1.");
  });

  test("are not expanded themselves", async () => {
    ran.length = 0;
    expect(await expand("Do $ARGUMENTS", "$1 !`rm -rf x` @a.md")).toBe("Do $1 !`rm -rf x` @a.md");
    expect(ran).toEqual([]);
  });

  test("are split as a shell splits words", () => {
    expect(wordsIn(`a "b \\"c\\"" 'd e' f"g h"i k=`)).toEqual(["a", 'b "c"', "d e", "fg hi", "k="]);
    expect(wordsIn(`it's`)).toEqual(["it's"]);
  });
});

describe("commands and files", () => {
  test("give their output where they stand", async () => {
    ran.length = 0;
    const body = "Status: !`git status $1`\n```!\ngit log\ngit diff\n```\nno!`x` `!`y`\n```sh\n!`z`\n```";
    expect(await expand(body, "-s")).toBe(
      "Status: <git status -s>\n<git log\ngit diff>\nno!`x` `!`y`\n```sh\n!`z`\n```",
    );
    expect(ran).toEqual(["git status -s", "git log\ngit diff"]);
    // A fence that is never closed is text.
    expect(await expand("a\n```!\ngit $1\n", "log")).toBe("a\n```!\ngit log");
    expect(await expand("~~~!\ngit log\n```\n~~~\nb")).toBe("<git log\n```>\nb");
    expect(ran).toHaveLength(3);
  });

  test("a file that exists is put in; other words with @ stay", async () => {
    expect(await expand("See @a.md. Ask @ann or me@x.md, `@a.md`", "1")).toContain(
      'See @a.md\n<file path="a.md">\ntext of a: $1 !`no`\n</file>\n. Ask @ann or me@x.md, `@a.md`',
    );
    expect(await expand("Compare @$1", "a.md")).toContain("text of a");
  });
});

describe("files by others", () => {
  const read = (source: string, name: string, text: string) =>
    readPromptFile(memoryFile("prompt", { source, name, text }));

  test("have the names that their tools give them", async () => {
    const names = [];
    for (const [source, name] of [
      ["/p/.oxbow", "review.md"],
      ["/p/.claude", "git/fix issue.md"],
      ["/home/.codex", "draft.md"],
      ["/home/.config/oxbow", "x.md"],
    ] as const) {
      const file = await read(source, name, "Do it.");
      names.push("name" in file && [file.name, file.layout]);
    }
    expect(names).toEqual([
      ["review", "oxbow"],
      ["git:fix-issue", "claude"],
      ["prompts:draft", "codex"],
      ["x", "oxbow"],
    ]);
  });

  test.each([
    ["# Fix it\n\nNow.", { summary: "Fix it", argumentNames: [], problems: [] }],
    ["\n  \n### ##\nNow.", { summary: "##" }],
    ["\n\n  Now. \nThen.", { summary: "Now.", body: "Now. \nThen." }],
    ["# \nNow.", { summary: "a prompt" }],
    ["", { summary: "a prompt", body: "" }],
    [`---\ndescription: ${"d".repeat(130)}\n---\nNow.`, { summary: "d".repeat(120) }],
    ["---\narguments: [a, b]\n---\nNow.", { argumentNames: ["a", "b"] }],
    ["---\narguments:\n  - name: a\n  - c\n  - title: d\n---\nNow.", { argumentNames: ["a", "c", ""] }],
    ["---\nmodel: inherit\n---\nNow.", { model: undefined }],
    ["---\nmodel: m\n---\nNow.", { model: "m" }],
    ["---\nuser-invocable: true\n---\nNow.", { problems: [] }],
    ["---\nuser-invocable: false\n---\nNow.", { problems: ["it is not for people, so it is not a command"] }],
  ])("%j", async (text, expected) => {
    const file = await read("/p/.oxbow", "x.md", text);
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, (file as never)[name]]));
    expect(found).toEqual(expected);
  });

  test("five as people write them are read and expanded unchanged", async () => {
    const written: readonly (readonly [string, string, string])[] = [
      [
        "---\nallowed-tools: Bash(git add:*), Bash(git status:*), Bash(git commit:*)\ndescription: Create a git commit\n---\n\n## Context\n\n- Status: !`git status`\n- Diff: !`git diff HEAD`\n\n## Your task\n\nCreate one commit.\n",
        "",
        "## Context\n\n- Status: <git status>\n- Diff: <git diff HEAD>\n\n## Your task\n\nCreate one commit.",
      ],
      [
        "---\nargument-hint: [pr-number] [priority] [assignee]\ndescription: Review pull request\n---\nReview PR #$1 with priority $2 and assign to $3.\n",
        "456 high alice",
        "Review PR #456 with priority high and assign to alice.",
      ],
      [
        "Find and fix issue #$ARGUMENTS. Follow these steps:\n1. Understand it\n",
        "123",
        "Find and fix issue #123. Follow these steps:\n1. Understand it",
      ],
      [
        "---\ndescription: Draft a release note for a version: short\nmodel: claude-haiku-4-5\n---\nDraft notes for $VERSION about $TOPIC.\n",
        'VERSION=1.2 TOPIC="new parser"',
        "Draft notes for 1.2 about new parser.",
      ],
      [
        "\uFEFF---\r\ndescription: Optimise code\r\n---\r\n# Optimise\r\nLook at @missing/file.ts and suggest three changes.\r\n",
        "fast",
        "# Optimise\nLook at @missing/file.ts and suggest three changes.\n\nARGUMENTS: fast",
      ],
    ];
    for (const [text, line, expected] of written) {
      const file = await read("/p/.claude", "c.md", text);
      if ("refused" in file) throw new Error(file.refused);
      expect(await expand(file.body, line)).toBe(expected);
    }
    expect(await read("/p/.claude", "c.md", written[1]?.[0] ?? "")).toMatchObject({
      summary: "Review pull request",
      argumentHint: "[pr-number] [priority] [assignee]",
    });
    expect(await read("/p/.claude", "c.md", written[4]?.[0] ?? "")).toMatchObject({ summary: "Optimise code" });
    const described = "---\narguments:\n  - name: query\n    required: true\n  - name: limit\n---\n$query $limit";
    expect(await read("/p/.claude", "c.md", described)).toMatchObject({ argumentNames: ["query", "limit"] });
    expect(await read("/p/.oxbow", "c.md", "---\nopen")).toMatchObject({
      refused: expect.stringContaining("not closed"),
    });
  });
});
