import { describe, expect, it } from "vitest";
import { processorMs } from "../../../test/support/processor-time.js";
import { matchIntent } from "./intents.js";
import { parseRequestText } from "./request-text.js";

type Row = readonly [phrase: string, slots: object];

function match(phrase: string) {
  const { intent, slots } = matchIntent(parseRequestText(phrase));
  return { intent, slots };
}

function table(intent: string, rows: readonly Row[]): void {
  describe(intent, () => {
    it.each(rows)("%s", (phrase, slots) => {
      expect(match(phrase)).toEqual({ intent, slots });
    });
  });
}

const everywhere = {};
const src = { path: "src" };
const typescript = { label: "TypeScript", names: ["*.ts", "*.tsx", "*.mts", "*.cts"] };
const markdown = { label: "Markdown", names: ["*.md", "*.markdown", "*.mdx"] };

table("remember", [
  ["Remember that I use fish", { kind: "save", content: "I use fish" }],
  ["please don't forget: `make check` runs the tests", { kind: "save", content: "`make check` runs the tests" }],
  ["what do you remember about the tests?", { kind: "find", about: "the tests" }],
  ["What do you remember?", { kind: "find", about: undefined }],
]);

table("search", [
  [
    "find every TODO in this project and tell me which file has most",
    { goal: "most", terms: ["TODO"], scope: everywhere },
  ],
  [
    "Find all TODOs in src, and tell me which file has the most of them.",
    { goal: "most", terms: ["TODO"], scope: src },
  ],
  ["which file has the most TODOs?", { goal: "most", terms: ["TODO"], scope: everywhere }],
  ["what file contains most FIXMEs", { goal: "most", terms: ["FIXME"], scope: everywhere }],
  ["show me the file with the most TODOs", { goal: "most", terms: ["TODO"], scope: everywhere }],
  [
    "find all TODO comments and tell me which file has the most TODOs",
    { goal: "most", terms: ["TODO"], scope: everywhere },
  ],
  ["count the TODOs per file in src", { goal: "per-file", terms: ["TODO"], scope: src }],
  ["count the TODOs per file", { goal: "per-file", terms: ["TODO"], scope: everywhere }],
  ["How many TODOs does each file have?", { goal: "per-file", terms: ["TODO"], scope: everywhere }],
  ["how many TODOs are in each file", { goal: "per-file", terms: ["TODO"], scope: everywhere }],
  ["find TODOs and FIXMEs and count them per file", { goal: "per-file", terms: ["TODO", "FIXME"], scope: everywhere }],
  ["find all TODOs", { goal: "lines", terms: ["TODO"], scope: everywhere }],
  ["find all todos", { goal: "lines", terms: ["todo"], scope: everywhere, ignoreCase: true }],
  ["Find all TODO and FIXME comments in src", { goal: "lines", terms: ["TODO", "FIXME"], scope: src }],
  ["list every TODO with line numbers", { goal: "lines", terms: ["TODO"], scope: everywhere }],
  ["show me all FIXMEs in markdown files", { goal: "lines", terms: ["FIXME"], scope: { kind: markdown } }],
  ["where are the TODOs", { goal: "lines", terms: ["TODO"], scope: everywhere }],
  ["search for 'foo bar' in src", { goal: "lines", terms: ["foo bar"], scope: src }],
  ["search src for runTurn", { goal: "lines", terms: ["runTurn"], scope: src }],
  ["look in the src folder for “runTurn”", { goal: "lines", terms: ["runTurn"], scope: src }],
  ["search the project for hello world", { goal: "lines", terms: ["hello world"], scope: everywhere }],
  ["grep TODO", { goal: "lines", terms: ["TODO"], scope: everywhere }],
  ["grep -rn TODO src", { goal: "lines", terms: ["TODO"], scope: src }],
  ["grep for import in package.json", { goal: "lines", terms: ["import"], scope: { path: "package.json" } }],
  ["show every line that contains foo", { goal: "lines", terms: ["foo"], scope: everywhere }],
  ["show me where TODO appears", { goal: "lines", terms: ["TODO"], scope: everywhere }],
  ["search for errors in src", { goal: "lines", terms: ["errors"], scope: src }],
  ["find sqlite", { goal: "lines", terms: ["sqlite"], scope: everywhere }],
  [
    "please find every `console.log` in src and show me the lines",
    { goal: "lines", terms: ["console.log"], scope: src },
  ],
  ["search for foo case-insensitively", { goal: "lines", terms: ["foo"], scope: everywhere, ignoreCase: true }],
  ['search for "error" as a whole word', { goal: "lines", terms: ["error"], scope: everywhere, wholeWord: true }],
  ['search for the regex "a.*b" in src', { goal: "lines", terms: ["a.*b"], scope: src, regex: true }],
  ["where is process.env used", { goal: "lines", terms: ["process.env"], scope: everywhere }],
  ["where do we use AbortSignal?", { goal: "lines", terms: ["AbortSignal"], scope: everywhere }],
  ["find where sqlite is used", { goal: "lines", terms: ["sqlite"], scope: everywhere }],
  ["who calls runTurn", { goal: "lines", terms: ["runTurn"], scope: everywhere, wholeWord: true }],
  ["find all references to runTurn in src", { goal: "lines", terms: ["runTurn"], scope: src }],
  ["which files mention sqlite", { goal: "files", terms: ["sqlite"], scope: everywhere }],
  ["which files in src mention sqlite?", { goal: "files", terms: ["sqlite"], scope: src }],
  ['which files contain "process.env"', { goal: "files", terms: ["process.env"], scope: everywhere }],
  ["list the files that use sqlite", { goal: "files", terms: ["sqlite"], scope: everywhere }],
  ["find files with the word sqlite in src", { goal: "files", terms: ["sqlite"], scope: src }],
  ["how many files mention sqlite", { goal: "files", terms: ["sqlite"], scope: everywhere }],
  ["in how many files is sqlite mentioned", { goal: "files", terms: ["sqlite"], scope: everywhere }],
  ["how many times does sqlite occur", { goal: "count", terms: ["sqlite"], scope: everywhere }],
  [
    "how many times does sqlite occur in src/engine?",
    { goal: "count", terms: ["sqlite"], scope: { path: "src/engine" } },
  ],
  [
    'how often does "runTurn" appear in src, ignoring case',
    { goal: "count", terms: ["runTurn"], scope: src, ignoreCase: true },
  ],
  ["how many TODOs are there in src?", { goal: "count", terms: ["TODO"], scope: src }],
  ['count occurrences of "foo" in package.json', { goal: "count", terms: ["foo"], scope: { path: "package.json" } }],
  ["find TODO in src and count them", { goal: "count", terms: ["TODO"], scope: src }],
  ["count how many times TODO appears", { goal: "count", terms: ["TODO"], scope: everywhere }],
  [
    "how many times does scripts occur in package.json",
    { goal: "count", terms: ["scripts"], scope: { path: "package.json" } },
  ],
  ['is "hello" in README.md?', { goal: "exists", terms: ["hello"], scope: { path: "README.md" } }],
  ["do we use lodash anywhere?", { goal: "exists", terms: ["lodash"], scope: everywhere }],
  ["are there any TODOs left?", { goal: "exists", terms: ["TODO"], scope: everywhere }],
  ["does README.md mention docker", { goal: "exists", terms: ["docker"], scope: { path: "README.md" } }],
  ["is sqlite used anywhere", { goal: "exists", terms: ["sqlite"], scope: everywhere }],
  ["where is runTurn defined", { goal: "definition", terms: ["runTurn"], scope: everywhere, wholeWord: true }],
  ["Where's the class Turn declared in src?", { goal: "definition", terms: ["Turn"], scope: src, wholeWord: true }],
  [
    "show me the definition of runTurn()",
    { goal: "definition", terms: ["runTurn"], scope: everywhere, wholeWord: true },
  ],
  ["which file defines runTurn", { goal: "definition", terms: ["runTurn"], scope: everywhere, wholeWord: true }],
  ["find the function runTurn", { goal: "definition", terms: ["runTurn"], scope: everywhere, wholeWord: true }],
  ["where can I find runTurn?", { goal: "definition", terms: ["runTurn"], scope: everywhere, wholeWord: true }],
  ["what file is runTurn in", { goal: "definition", terms: ["runTurn"], scope: everywhere, wholeWord: true }],
  ["where is runTurn", { goal: "definition", terms: ["runTurn"], scope: everywhere, wholeWord: true }],
  ["find where runTurn is defined", { goal: "definition", terms: ["runTurn"], scope: everywhere, wholeWord: true }],
]);

table("list", [
  ["list the files in src", { goal: "entries", scope: src }],
  ["could you please list the files in the src folder for me?", { goal: "entries", scope: src }],
  ["show me what's in src", { goal: "entries", scope: src }],
  ["what files are here", { goal: "entries", scope: everywhere }],
  ["what's in this folder", { goal: "entries", scope: everywhere }],
  ["what is in src/engine?", { goal: "entries", scope: { path: "src/engine" } }],
  ["ls", { goal: "entries", scope: everywhere }],
  ["ls src/", { goal: "entries", scope: src }],
  ["list .", { goal: "entries", scope: everywhere }],
  ["show the tree", { goal: "tree", scope: everywhere }],
  ["show me the directory structure of src", { goal: "tree", scope: src }],
  ["list folders", { goal: "folders", scope: everywhere }],
  ["how many directories are there in src", { goal: "count-folders", scope: src }],
  ["list all markdown files", { goal: "files", scope: { kind: markdown } }],
  ["list all files in src", { goal: "files", scope: src }],
  ["find all *.md files", { goal: "files", scope: everywhere, name: "*.md" }],
  ["find files ending in .json in src", { goal: "files", scope: src, name: "*.json" }],
  ["where is the README", { goal: "files", scope: everywhere, name: "README" }],
  ["look for *.ts files", { goal: "files", scope: everywhere, name: "*.ts" }],
  ["search for files named x.ts", { goal: "files", scope: everywhere, name: "x.ts" }],
  ["find package.json", { goal: "files", scope: everywhere, name: "package.json" }],
  ["where is loop.ts", { goal: "files", scope: everywhere, name: "loop.ts" }],
  ["is there a Dockerfile", { goal: "files", scope: everywhere, name: "Dockerfile" }],
  ["how many TypeScript files are there", { goal: "count-files", scope: { kind: typescript } }],
  [
    "how many .ts files are in src",
    { goal: "count-files", scope: { path: "src", kind: { label: "*.ts", names: ["*.ts"] } } },
  ],
  ["tell me how many files there are", { goal: "count-files", scope: everywhere }],
  ["how many files in total?", { goal: "count-files", scope: everywhere }],
  ["what programming languages are used", { goal: "by-extension", scope: everywhere }],
  ["count the files in src by extension", { goal: "by-extension", scope: src }],
  ["what languages is this project written in", { goal: "by-extension", scope: everywhere }],
  ["what are the 5 largest files in src", { goal: "largest", scope: src, most: 5 }],
  ["which files are biggest?", { goal: "largest", scope: everywhere }],
  ["which files in src are the biggest?", { goal: "largest", scope: src }],
  ["what is the largest file here?", { goal: "largest", scope: everywhere }],
  ["list the files in src by size", { goal: "largest", scope: src }],
  ["which files take up the most space?", { goal: "largest", scope: everywhere }],
  ["are there any big files in src", { goal: "largest", scope: src }],
]);

table("measure", [
  ["how many lines does package.json have", { unit: "lines", file: "package.json" }],
  ["count the lines in src/engine/loop.ts", { unit: "lines", file: "src/engine/loop.ts" }],
  ["how long is README.md?", { unit: "lines", file: "README.md" }],
  ["wc -l package.json", { unit: "lines", file: "package.json" }],
  ["how many words are in README.md", { unit: "words", file: "README.md" }],
  ["how many lines of code are there", { unit: "lines", scope: everywhere }],
  ["how many lines of TypeScript are in src", { unit: "lines", scope: { path: "src", kind: typescript } }],
  ["how many lines of code in src/engine", { unit: "lines", scope: { path: "src/engine" } }],
  ["which file in src has the most lines", { unit: "lines", scope: src, most: true }],
]);

table("read", [
  ["show me README.md", { path: "README.md" }],
  ["show me package.json, please.", { path: "package.json" }],
  ["cat package.json", { path: "package.json" }],
  ["README.md", { path: "README.md" }],
  ["what does the file README.md say", { path: "README.md" }],
  ["what's in package.json?", { path: "package.json" }],
  ['open "my notes.txt"', { path: "my notes.txt" }],
  ["read the readme", { path: "readme", lookUp: true }],
  ["read src/x.ts lines 10-20", { path: "src/x.ts", lines: { type: "range", from: 10, to: 20 } }],
  ["display lines 5 through 9 from src/a.py", { path: "src/a.py", lines: { type: "range", from: 5, to: 9 } }],
  ["src/engine/loop.ts:10-20", { path: "src/engine/loop.ts", lines: { type: "range", from: 10, to: 20 } }],
  ["what is on line 3 of package.json", { path: "package.json", lines: { type: "range", from: 3, to: 3 } }],
  ["read src/x.ts from line 30", { path: "src/x.ts", lines: { type: "range", from: 30 } }],
  ["first 20 lines of src/x.ts", { path: "src/x.ts", lines: { type: "first", count: 20 } }],
  ["can you read me the first ten lines of README.md?", { path: "README.md", lines: { type: "first", count: 10 } }],
  ["show the last 5 lines of package.json", { path: "package.json", lines: { type: "last", count: 5 } }],
  ["tail -n 3 package.json", { path: "package.json", lines: { type: "last", count: 3 } }],
]);

table("project", [
  ["what is this project", { question: "summary" }],
  ["what's this repo about?", { question: "summary" }],
  ["Summarize this project.", { question: "summary" }],
  ["tell me about this codebase", { question: "summary" }],
  ["give me an overview", { question: "summary" }],
]);

table("fact", [
  ["what env vars does it need?", { question: "variables" }],
  ["what are the most recently changed files", { question: "recent" }],
  ["which files are newest?", { question: "recent" }],
  ["what can I run?", { question: "scripts" }],
  ["what version is this", { question: "release" }],
  ["what scripts are there", { question: "scripts" }],
  ["list the dependencies", { question: "dependencies" }],
  ["how do I run the tests", { question: "howto", subject: "test" }],
  ["how can the tests be run", { question: "howto", subject: "test" }],
  ["how do I run the linter", { question: "howto", subject: "lint" }],
  ["how do I run the formatter", { question: "howto", subject: "format" }],
  ["what scripts does package.json have", { question: "scripts" }],
  ["How can I test this project?", { question: "howto", subject: "test" }],
  ["what is the command to build this", { question: "howto", subject: "build" }],
  ["how do I install the dependencies", { question: "howto", subject: "install" }],
  ["how to start the app", { question: "howto", subject: "start" }],
  ["which Node version", { question: "version", subject: "node" }],
  ["what version of node does this project need?", { question: "version", subject: "node" }],
  ["which python version is required", { question: "version", subject: "python" }],
  ["scripts of package.json", { question: "scripts" }],
  ["package.json scripts", { question: "scripts" }],
  ["what is the license", { question: "licence" }],
  ["which license does this project use", { question: "licence" }],
  ["summarize the readme", { question: "readme" }],
  ["summarise README.md", { question: "readme", subject: "README.md" }],
  ["show the headings of docs/use.md", { question: "readme", subject: "docs/use.md" }],
  ["which ports does it use", { question: "ports" }],
  ["list the environment variables", { question: "variables" }],
  ["which env variables does this app read?", { question: "variables" }],
  ["show the api endpoints", { question: "endpoints" }],
  ["are there any merge conflicts", { question: "conflicts" }],
  ["list skipped tests", { question: "skipped" }],
  ["who are the authors", { question: "authors" }],
  ["who wrote this project", { question: "authors" }],
  ["how many commits are there", { question: "commits" }],
  ["show the first commit", { question: "first" }],
  ["which files change most often", { question: "hot" }],
  ["which package manager is used", { question: "manager" }],
  ["what is the entry point", { question: "entry" }],
]);

table("git", [
  ["is anything uncommitted?", { question: "status" }],
  ["when was the last commit?", { question: "log", count: 1 }],
  ["what is different from the last commit", { question: "diff" }],
  ["what changed in the last commit", { question: "show" }],
  ["which files changed in the last commit?", { question: "show" }],
  ["what's in the last commit", { question: "show" }],
  ["diff HEAD~3 HEAD", { question: "diff", commit: "HEAD~3 HEAD" }],
  ["diff HEAD~3", { question: "diff", commit: "HEAD~3" }],
  ["git diff main..HEAD", { question: "diff", commit: "main..HEAD" }],
  ["show the diff between HEAD~3 and HEAD", { question: "diff", commit: "HEAD~3 and HEAD" }],
  ["show the changes of the last 3 commits", { question: "diff", count: 3 }],
  ["git status", { question: "status" }],
  ["run git status", { question: "status" }],
  ["are there uncommitted changes?", { question: "status" }],
  ["which files have changed", { question: "status" }],
  ["which files did I change", { question: "status" }],
  ["what changed recently", { question: "log" }],
  ["what changed yesterday", { question: "log", when: "yesterday", since: "yesterday 00:00" }],
  ["What did I do yesterday?", { question: "log", when: "yesterday", since: "yesterday 00:00" }],
  ["what has changed since monday", { question: "log", when: "since monday", since: "monday 00:00" }],
  ["what happened in the last 3 days", { question: "log", when: "in the last 3 days", since: "3 day ago" }],
  ["show the commits of this week", { question: "log", when: "this week", since: "1 week ago" }],
  ["which files were changed today", { question: "log", when: "today", since: "today 00:00" }],
  ["who committed last month", { question: "log", when: "last month", since: "1 month ago" }],
  ["changes since 2024-05-01", { question: "log", when: "since 2024-05-01", since: "2024-05-01 00:00" }],
  ["show HEAD", { question: "show", commit: "HEAD" }],
  ["what changed", { question: "status", both: true }],
  ["what did I change?", { question: "status", both: true }],
  ["git diff", { question: "diff" }],
  ["show the diff of src/x.ts", { question: "diff", path: "src/x.ts" }],
  ["what is staged?", { question: "diff", staged: true }],
  ["show the last commits", { question: "log" }],
  ["show me the last 3 commits", { question: "log", count: 3 }],
  ["last commit", { question: "log", count: 1 }],
  ["who changed package.json last", { question: "log", count: 5, path: "package.json" }],
  ["show commit abc1234", { question: "show", commit: "abc1234" }],
  ["git blame package.json", { question: "blame", path: "package.json" }],
  ["which branch am I on?", { question: "branch" }],
]);

table("script", [
  ["run the tests", { script: "test" }],
  ["Run the project's tests", { script: "test" }],
  ["run all unit tests and tell me if they pass", { script: "test" }],
  ["do the tests pass?", { script: "test" }],
  ["check whether the tests still pass", { script: "test" }],
  ["test this project", { script: "test" }],
  ["build the project", { script: "build" }],
  ["run the linter", { script: "lint" }],
  ["run the release script", { script: "release" }],
]);

table("run", [
  ["run `npm run build`", { command: "npm run build" }],
  ["run `ls` and show me the output", { command: "ls" }],
  ["run ls -la", { command: "ls -la" }],
  ["npm run build", { command: "npm run build" }],
  ["run the command frobnicate --all", { command: "frobnicate --all" }],
  ["$ echo 'a b'", { command: "echo 'a b'" }],
  ['git commit -m "say why"', { command: 'git commit -m "say why"' }],
  ["what does `date` print?", { command: "date" }],
  ["grep -i todo src", { command: "grep -i todo src" }],
]);

table("edit", [
  ["replace foo by bar in notes.txt", { kind: "replace", file: "notes.txt", from: "foo", to: "bar" }],
  ["replace 'a b' with \"c\" in src/x.ts", { kind: "replace", file: "src/x.ts", from: "a b", to: "c" }],
  [
    'Replace all occurrences of "foo" with "bar" in `a.txt`.',
    { kind: "replace", file: "a.txt", from: "foo", to: "bar" },
  ],
  ["replace every foo with bar in a.txt", { kind: "replace", file: "a.txt", from: "foo", to: "bar" }],
  ["in a.txt, change 'x' to 'y'", { kind: "replace", file: "a.txt", from: "x", to: "y" }],
  ["change foo to bar in a.txt everywhere", { kind: "replace", file: "a.txt", from: "foo", to: "bar" }],
  ["rename foo to bar in src/x.ts", { kind: "replace", file: "src/x.ts", from: "foo", to: "bar", name: true }],
  [
    "rename the function foo to bar in src/x.ts",
    { kind: "replace", file: "src/x.ts", from: "foo", to: "bar", name: true },
  ],
  ["remove 'foo' from a.txt", { kind: "replace", file: "a.txt", from: "foo", to: "" }],
  ['replace "x" with nothing in a.txt', { kind: "replace", file: "a.txt", from: "x", to: "" }],
  ["append 'line' to notes.txt", { kind: "append", file: "notes.txt", content: "line" }],
  ["append hello world to notes.txt", { kind: "append", file: "notes.txt", content: "hello world" }],
  ['add the line "dist/" to .gitignore', { kind: "append", file: ".gitignore", content: "dist/" }],
  ['add "# Title" to the top of README.md', { kind: "prepend", file: "README.md", content: "# Title" }],
  ["create a file foo.txt with content hello world", { kind: "create", file: "foo.txt", content: "hello world" }],
  ["create a file foo.txt with content:\n one\ntwo", { kind: "create", file: "foo.txt", content: " one\ntwo\n" }],
  [
    "create foo.py with the following content:\n```py\nprint(1)\n```",
    { kind: "create", file: "foo.py", content: "print(1)\n" },
  ],
  ["create an empty file foo.txt", { kind: "create", file: "foo.txt", content: "" }],
  ['write "hello" to out.txt', { kind: "create", file: "out.txt", content: "hello" }],
  ['overwrite a.txt with "x"', { kind: "overwrite", file: "a.txt", content: "x" }],
  ["replace foo by bar", { kind: "refused", why: "no-file" }],
  ["rename foo to bar in this project", { kind: "refused", why: "many-files" }],
  ["rename a.ts to b.ts", { kind: "refused", why: "move" }],
  ["delete the file a.txt", { kind: "refused", why: "move" }],
]);

table("about", [
  ["hello", { reason: "greeting" }],
  ["Hi there!", { reason: "greeting" }],
  ["thanks", { reason: "thanks" }],
  ["", { reason: "help" }],
  ["help", { reason: "help" }],
  ["what can you do?", { reason: "help" }],
  ["are you a language model?", { reason: "help" }],
  ["how do I connect ollama", { reason: "help" }],
  ["/help", { reason: "help" }],
  ["?", { reason: "help" }],
]);

describe("requests that need understanding", () => {
  it.each([
    "write a quicksort",
    "fix the bug",
    "fix the bug in src/x.ts",
    "find the bug",
    "find bugs in src",
    "find errors",
    "find me a restaurant",
    "list the planets",
    "Find all TODO comments and tell me which file has the most lines",
    'remove the line "foo" from a.txt',
    "search for bugs",
    "find out why it crashes",
    "find a better way to do this",
    "find every TODO and fix them",
    "where is the problem",
    "explain how the loop works",
    "why does the test fail",
    "add tests to src/x.ts",
    "add a function to src/x.ts",
    "write tests for src/x.ts",
    "implement the feature in README.md",
    "refactor src/engine/loop.ts",
    "rewrite README.md",
    "replace the loop with recursion in src/x.ts",
    "convert tabs to spaces in a.ts",
    "create a quicksort.py that sorts numbers",
    "remove line 5 from a.txt",
    "make a list of ideas",
    "show me how to write a loop",
    "which function is slowest",
    "what should I do next",
    "what is the meaning of life",
    "what time is it",
    "tell me a joke",
    "run a marathon",
    "run the app",
    "count to ten",
    "go through the code and improve it",
    "list the pros and cons of typescript",
    "read my mind",
    "open the door",
    "git is confusing",
    "node is slow",
    "which file is best",
    "test",
  ])("%s", (phrase) => {
    expect(match(phrase).intent).toBe("about");
  });
});

describe("the time it takes", () => {
  it.each([
    ["words", "find the files in the ".repeat(40)],
    ["one long word", "a".repeat(20_000)],
    ["open quotes", "' \" ` ".repeat(5_000)],
    ["a pasted log", "replace all the occurrences of x with y in z by the line to a of b ".repeat(300)],
  ])("stays small for %s", (_name, phrase) => {
    expect(processorMs(() => match(phrase))).toBeLessThan(5_000);
  });
});
