/** Text from a model, a page or a project opens one thing inside another without an end: no reader of text runs out of the stack or takes long. */
import { describe, expect, it } from "vitest";
import { readFrontMatter } from "../../src/base/front-matter.js";
import { compileGlob } from "../../src/base/glob.js";
import { parseYaml } from "../../src/base/yaml.js";
import { readCommand } from "../../src/security/permissions/read-command.js";
import { READER } from "../../src/security/permissions/test-support/sample-policy.js";
import { redact } from "../../src/security/redact/redact.js";
import { judgeCommand } from "../../src/security/shell/judge.js";
import { parsePatch } from "../../src/tools/patch/parse.js";
import { globMatcher } from "../../src/tools/search/glob-pattern.js";
import { parseIgnoreFile } from "../../src/tools/search/ignore-rules.js";
import { compilePattern } from "../../src/tools/search/rust-regex.js";
import { htmlToMarkdown } from "../../src/tools/web/html/html-to-markdown.js";
import { processorMs } from "../support/processor-time.js";
import { verifies } from "../verifies.js";

const LENGTH = 32_000;

const SHELL = [
  ...[
    "$((",
    "((",
    "(",
    "{ ",
    "[[ ( ",
    "[[ ! ",
    "! ",
    "time ",
    "f() ",
    "f(){ ",
    "if ",
    "while ",
    "case x in a) ",
    "for i in a; do ",
  ],
  ...[
    "$(",
    "`",
    "${a:-",
    "<(",
    '"$(',
    '"${a:-',
    "a[$((",
    "a=(",
    "<<E\n",
    "coproc ",
    "sudo ",
    "env ",
    "xargs ",
    "bash -c '",
    'sh -c "',
  ],
  ...[
    "eval ",
    "timeout 1 ",
    "find . -exec ",
    "ssh h ",
    "env -S '",
    "{a,",
    "{1..9}",
    "A=1 ",
    "> a ",
    "&& ",
    "\\\n",
    "'",
    '"',
    "$'",
  ],
];
const YAML = ["- ", "? ", "a: ", "&a ", "*a ", "!!x ", "> ", "| ", "{", "[", "{a: ", "[a, ", '"', "'"];
const HTML = [
  "<div>",
  "<table><tr><td>",
  "<ul><li>",
  "<b>",
  "<a href=x>",
  "<!--",
  "</",
  "<svg>",
  "<template>",
  "<p",
  "<pre><code>",
];
const GLOB = ["{", "{a,", "{a,{", "[", "[!", "**/", "*?", "(", "\\", "+("];
const REGEX = ["(", "(?:", "[", "[^", "[[:", "a{1,", "a*", "(a|", "\\p{", "(?i"];

const READERS: readonly (readonly [string, readonly string[], (text: string) => unknown])[] = [
  ["a command", SHELL, (text) => judgeCommand(text)],
  ["a command with its paths", SHELL, (text) => readCommand(text, READER)],
  ["YAML", YAML, parseYaml],
  ["front matter", YAML, (text) => readFrontMatter(`---\na: ${text}\n---\n`)],
  ["a page", HTML, (text) => htmlToMarkdown(text, { url: "http://h/" } as never)],
  ["a rule", GLOB, (text) => compileGlob(text, "text")],
  ["a glob", GLOB, (text) => globMatcher(text)?.test("a/b/c")],
  ["an ignore file", GLOB, parseIgnoreFile],
  ["a pattern", REGEX, (text) => compilePattern(text, { unit: "line", ignoreCase: false })],
  [
    "a patch",
    ["@@\n", "-a\n", "+a\n", " a\n", "*** "],
    (text) => parsePatch(`*** Begin Patch\n*** Update File: f\n${text}`),
  ],
  ["a text with secrets", ["password=", "://a:", "Bearer ", "-----BEGIN ", "eyJ", '{"a":'], redact],
];

describe("openings without an end", () => {
  const cases = READERS.flatMap(([name, openings, read]) => openings.map((opening) => [name, opening, read] as const));
  it.each(cases)("[C5 O5] %s of %j", (_, opening, read) => {
    const text = opening.repeat(LENGTH / opening.length);
    let failed: unknown;
    const took = processorMs(() => {
      for (const each of [text, `a ${text} b`]) {
        try {
          read(each);
        } catch (error) {
          failed ??= error instanceof RangeError ? error : undefined;
        }
      }
    });
    expect(failed).toBeUndefined();
    // It takes some ms; what grows with the square of a text takes far longer.
    expect(took).toBeLessThan(3000);
  });
});

verifies(["C5", "O5"], "are refused with the reason, and what people write is not", () => {
  const nested = (open: string, inner: string, close: string, levels: number) =>
    `${open.repeat(levels)}${inner}${close.repeat(levels)}`;
  const command = (levels: number) => judgeCommand(`echo ${nested("$((", "1", "))", levels)}`).reason;
  expect(command(20)).not.toContain("nested too deeply");
  expect(command(5000)).toContain("nested too deeply");
  expect(globMatcher(nested("{b,", "a", "}", 50))?.test("a")).toBe(true);
  expect(globMatcher(`${nested("{b,", "a", "}", 50)}${nested("{b,", "a", "}", 50)}`)?.test("aa")).toBe(true);
  expect(globMatcher(nested("{b,", "a", "}", 51))).toBeUndefined();
  const pattern = (levels: number) =>
    compilePattern(nested("[", "a", "]", levels), { unit: "line", ignoreCase: false });
  expect(pattern(50).test("a")).toBe(true);
  expect(() => pattern(51)).toThrow("At most 50 character classes may be inside each other.");
});
