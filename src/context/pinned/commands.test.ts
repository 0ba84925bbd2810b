import { beforeEach, expect, it } from "vitest";
import { rerun } from "../../../test/support/transcript.js";
import { slashLine } from "../../commands/test-support/slash-line.js";
import type { JsonObject } from "../../protocol/json.js";
import { type Gathering, sessionCommands, type TypedCall } from "./commands.js";
import { GatheredContext } from "./gathered-context.js";
import { PinnedContext } from "./pinned-context.js";

/** Holds what the tools answer; a file that is not here is a problem. */
let files: Readonly<Record<string, string>>;
let listed: string;
let calls: TypedCall[];
let gathering: Gathering;

beforeEach(() => {
  [files, listed, calls] = [{ "a.txt": "one", "b.txt": "two" }, "a.txt\nb.txt", []];
  const [pinned, gathered] = [new PinnedContext(), new GatheredContext()];
  gathering = {
    pinned,
    gathered,
    gather: async (call) => {
      calls.push(call);
      gathered.add(call.command, `output of ${call.does}`);
      return { text: `output of ${call.does}`, value: {} };
    },
    call: async (call) => {
      calls.push(call);
      if (call.does === "find") return listed === "" ? { problem: "There is no such folder." } : { text: listed };
      const text = files[String(call.args.path)];
      return text === undefined ? { problem: `There is no file ${call.args.path}.` } : { text };
    },
    keep: async (command, text) => void gathered.add(command, text),
    answer: (command, text) => ({ text: `${command}:\n${text}`, value: {} }),
    windowFacts: async () => ({
      ...{ model: "p:m", frame: undefined, messages: [], instructions: "", sections: "" },
      ...{ counted: undefined, window: undefined, shortensAt: undefined },
    }),
    instructions: async () => ({ files: [], lines: [] }),
  };
});

const say = (line: string) => slashLine(...sessionCommands(async () => gathering))(line);
/** The tool and the arguments that a line calls. */
async function called(line: string): Promise<readonly [string, string, JsonObject] | undefined> {
  calls = [];
  await say(line);
  const [call] = calls;
  return call && [call.command, call.does, call.args];
}

it("each command calls its tool with what was typed", async () => {
  expect(await called("search fo+ src")).toEqual([
    "/search fo+ src",
    "search",
    { pattern: "fo+", limit: 100, path: "src" },
  ]);
  expect(await called("search fo+")).toEqual(["/search fo+", "search", { pattern: "fo+", limit: 100 }]);
  expect(await called("files")).toEqual(["/files", "list", {}]);
  expect(await called("files src")).toEqual(["/files src", "list", { path: "src" }]);
  expect(await called("git log -n 3 'a b'")).toEqual(["/git log -n 3 a b", "run", { command: "git log -n 3 'a b'" }]);
  expect(calls.map(({ onlyReads }) => onlyReads)).toEqual([true]);
  expect(await called("git status")).toEqual(["/git status", "run", { command: "git status" }]);
  expect(await called("git push")).toBeUndefined();
  expect(await called("run echo 'a  b' | cat")).toEqual([
    "/run echo 'a  b' | cat",
    "run",
    { command: "echo 'a  b' | cat" },
  ]);
  expect(calls.map(({ onlyReads }) => onlyReads)).toEqual([undefined]);
});

const TRANSCRIPT = `> context
The next request to p:m is not made yet.

> read a.txt b.txt
/read a.txt b.txt:
one

two

> context add Use tabs.
Pinned. It stays after /clear and compaction.

> context add Use short lines.
Pinned. It stays after /clear and compaction.

> context show
WINDOW

Pinned:
Use tabs.
Use short lines.

With your next input:
[context: /read a.txt]  3 characters
[context: /read b.txt]  3 characters

> read a.txt nowhere.txt
refused: There is no file nowhere.txt.

> context clear
Removed the pinned text, and what waited for your next input.

> read nowhere.txt a.txt
refused: There is no file nowhere.txt.

> context
WINDOW

> context load-dir docs
a.txt
b.txt

The model gets 2 files with your next input (6 characters).

> context
WINDOW

With your next input:
[context: /read a.txt]  3 characters
[context: /read b.txt]  3 characters
`;

it("says what is pinned and what waits, and keeps nothing of files of which one fails", async () => {
  const window = (await say("context")).text;
  const cut = (text: string) => text.replace(window, "WINDOW");
  const transcript = TRANSCRIPT.replace("The next request to p:m is not made yet.", "WINDOW");
  expect(await rerun(transcript, { say, cut })).toBe(transcript);
  expect(await say("context clear")).toMatchObject({
    value: { dropped: 2 },
  });
  gathering = { ...gathering, instructions: async () => ({ files: [{}], lines: ["AGENTS.md  12 characters"] }) };
  const shown = await say("context");
  expect(shown).toMatchObject({ value: { pinned: "", next: [], instructions: [{}] } });
  expect(shown.text).toMatch(/\n\nInstruction files:\nAGENTS\.md {2}12 characters$/);
});

it("loads a folder as a whole, or says what is left out and why it does not", async () => {
  expect(await called("context load-dir docs *.md")).toEqual([
    "/context load-dir docs *.md",
    "find",
    { path: "docs", pattern: "*.md" },
  ]);
  expect(calls.slice(1).map(({ does, args }) => [does, args])).toEqual([
    ["read", { path: "a.txt" }],
    ["read", { path: "b.txt" }],
  ]);
  expect((await called("context load-dir docs"))?.[2]).toEqual({ path: "docs", pattern: "**/*" });
  listed = "a.txt\n[more files are left out]\nimage.png\n";
  expect(await say("context load-dir .")).toMatchObject({
    text: "a.txt\nLeft out: image.png\n\nThe model gets 1 file with your next input (3 characters).",
    value: { files: ["a.txt"], skipped: ["image.png"] },
  });
  listed = "";
  expect(await say("context load-dir x")).toMatchObject({ ok: false, text: "There is no such folder." });
  for (const none of ["No file matches *.md.", "[nothing]"]) {
    listed = none;
    expect(await say("context load-dir x")).toMatchObject({ ok: false, text: none });
  }
  const many = (count: number) => Array.from({ length: count }, (_, at) => `${at}.txt`);
  files = Object.fromEntries(many(201).map((name) => [name, "x".repeat(2_000)]));
  listed = many(201).join("\n");
  expect(await say("context load-dir x")).toMatchObject({
    text: "x has more than 200 files. Name a smaller folder, or a pattern such as *.ts.",
  });
  listed = many(200).join("\n");
  expect(await say("context load-dir x")).toMatchObject({
    text: expect.stringContaining("gets 200 files with your next input (400,000 characters)"),
  });
  files = { ...files, "7.txt": "x".repeat(2_001) };
  expect(await say("context load-dir y")).toMatchObject({
    text: "y has more than 400,000 characters. Name a smaller part of it.",
  });
});
