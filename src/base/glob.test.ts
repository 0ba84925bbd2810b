import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../test/support/processor-time.js";
import { times } from "../../test/support/thorough.js";
import {
  compileGlob,
  GlobError,
  type GlobKind,
  matchesPath,
  matchesText,
  matchesWords,
  mayMatchWords,
} from "./glob.js";

const words = (text: string) => text.split(" ");

describe("commands", () => {
  const cases: readonly [glob: string, words: readonly string[], matches: boolean][] = [
    ["git push *", ["git", "push", "origin"], true],
    ["git push *", ["git", "push"], true],
    ["git push *", ["git", "pull"], false],
    ["git push", ["git", "push", "origin"], false],
    ["git * --force", words("git push origin --force"), true],
    ["git * --force", words("git push origin --force-with-lease"), false],
    ["npm run test:*", words("npm run test:unit"), true],
    ["npm run test:*", words("npm run test:unit --watch"), false],
    ["npm run test:* *", words("npm run test:unit --watch"), true],
    ["rm -[rR]f *", words("rm -Rf x"), true],
    ["rm -[!i]* *", words("rm -i x"), false],
    // A word with a blank is one word, whatever it looks like.
    ["git commit *", ["git", "commit -m x"], false],
    ["echo a\\ b", ["echo", "a b"], true],
    ["echo a b", ["echo", "a b"], false],
    ["ls \\*", ["ls", "*"], true],
    ["ls \\*", ["ls", "a"], false],
    ["echo {a,b}", ["echo", "{a,b}"], true],
  ];

  it.each(cases)("%j and %j: %j", (glob, list, matches) => {
    expect(matchesWords(compileGlob(glob, "words"), list)).toBe(matches);
  });

  it("lets only a star stand for a word that is not known", () => {
    expect(matchesWords(compileGlob("git add *", "words"), ["git", "add", undefined])).toBe(true);
    expect(matchesWords(compileGlob("git add ?", "words"), ["git", "add", undefined])).toBe(false);
  });

  it("knows what an unknown word could make of a command", () => {
    const glob = compileGlob("rm -rf *", "words");
    expect(mayMatchWords(glob, ["rm", undefined])).toBe(true);
    expect(mayMatchWords(glob, [undefined])).toBe(true);
    expect(mayMatchWords(glob, ["rm", "-rf", undefined])).toBe(true);
    expect(mayMatchWords(glob, ["ls", undefined])).toBe(false);
    expect(mayMatchWords(glob, ["rm", "-i", undefined])).toBe(false);
  });
});

describe("paths", () => {
  const cases: readonly [glob: string, path: string, matches: boolean][] = [
    ["src/**", "src/a/b.ts", true],
    ["src/**", "src", true],
    ["src/**", "srcs/a", false],
    ["**/.env", ".env", true],
    ["**/.env", "a/b/.env", true],
    ["**/.env", "a/.env.local", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/a/b.ts", false],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["a/**/b", "a/x/y/c", false],
    ["/etc/**", "/etc/passwd", true],
    ["**/*.{pem,key}", "keys/x.key", true],
    ["**/*.{pem,key}", "keys/x.pub", false],
    ["{a,b/{c,d}}/x", "b/d/x", true],
    ["**/caf\u00e9", "x/cafe\u0301", true],
  ];

  it.each(cases)("%j and %j: %j", (glob, path, matches) => {
    expect(matchesPath(compileGlob(glob, "path"), path)).toBe(matches);
  });
});

describe("texts", () => {
  it("spans everything with a star and alternatives with braces", () => {
    expect(matchesText(compileGlob("https://docs.rs/*", "text"), "https://docs.rs/a/b c")).toBe(true);
    expect(matchesText(compileGlob("https://docs.rs/*", "text"), "https://docs.rs.evil/")).toBe(false);
    expect(matchesText(compileGlob("{edit,write}", "text"), "write")).toBe(true);
    expect(matchesText(compileGlob("mcp__*__read_*", "text"), "mcp__fs__read_file")).toBe(true);
  });
});

describe("what is not a glob", () => {
  const cases: readonly [kind: GlobKind, text: string, says: RegExp][] = [
    ["words", "  ", /empty/],
    ["words", "rm [a", /not closed/],
    ["path", "a/{b,c", /not closed/],
    ["path", "a**/b", /whole name/],
    ["text", "a\\", /ends in/],
    ["text", "[z-a]", /wrong way round/],
    ["text", "{a,b}".repeat(7), /more than 64/],
    ["text", "a".repeat(1001), /longer/],
  ];

  it.each(cases)("%s %j", (kind, text, says) => {
    expect(() => compileGlob(text, kind)).toThrow(GlobError);
    expect(() => compileGlob(text, kind)).toThrow(says);
  });
});

describe("against a simple reference", () => {
  const some = (parts: readonly string[], most: number) => fc.array(fc.constantFrom(...parts), { maxLength: most });

  it("agrees on random texts", () => {
    const globs = some(["a", "b", "*", "?", "[ab]", "c"], 6).map((parts) => parts.join("") || "*");
    const texts = some(["a", "b", "c"], 8).map((parts) => parts.join(""));
    const check = fc.property(globs, texts, (glob, text) => {
      const reference = new RegExp(`^${glob.replaceAll("*", ".*").replaceAll("?", ".")}$`);
      return matchesText(compileGlob(glob, "text"), text) === reference.test(text);
    });
    fc.assert(check, { seed: 20_260_101, numRuns: times(1000, 5000) });
  });

  it("agrees on random paths", () => {
    const globs = fc.array(fc.constantFrom("a", "b", "*", "**", "a*", "?"), { minLength: 1, maxLength: 5 });
    const paths = fc.array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 5 });
    const check = fc.property(globs, paths, (glob, path) => {
      return matchesPath(compileGlob(glob.join("/"), "path"), path.join("/")) === slow(glob, path);
    });
    fc.assert(check, { seed: 20_260_101, numRuns: times(1000, 5000) });
  });
});

function slow(glob: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = glob;
  if (first === undefined) return path.length === 0;
  if (first === "**") return path.some((_, index) => slow(rest, path.slice(index))) || slow(rest, []);
  const [name, ...below] = path;
  return (
    name !== undefined &&
    new RegExp(`^${first.replaceAll("*", ".*").replaceAll("?", ".")}$`).test(name) &&
    slow(rest, below)
  );
}

describe("time", () => {
  it("stays small on texts made to be slow", () => {
    const glob = compileGlob(`${"*a".repeat(30)}*b`, "text");
    expect(processorMs(() => expect(matchesText(glob, "a".repeat(20_000))).toBe(false))).toBeLessThan(5_000);
  });
});
