import { describe, expect, it } from "vitest";
import { guessedPaths } from "./guessed-paths.js";

describe("what a word with unknown parts may stand for", () => {
  it.each([
    ["$PWD/.envrc", [".envrc"]],
    ['"$' + '{PWD}"/.git/config', [".git/config"]],
    ["$(pwd)/a/.npmrc", ["a/.npmrc"]],
    [".env{rc,}", [".envrc", ".env"]],
    ["{a,.vscode}/{b,tasks.json}", ["a/b", "a/tasks.json", ".vscode/b", ".vscode/tasks.json"]],
    [".e[n]vrc", [".envrc"]],
    ["$NAME", []],
    ["x$NAME", []],
    ["$NAME.txt", []],
  ])("%s: %j", (text, paths) => expect(guessedPaths(text)).toEqual(paths));

  it("is bounded", () => expect(guessedPaths("{a,b}".repeat(40)).length).toBeLessThanOrEqual(16));
});
