import { describe, expect, it } from "vitest";
import { sameSpelling, similarNames } from "./similar-names.js";

async function* of(...names: readonly string[]): AsyncGenerator<string> {
  yield* names;
}

describe("a name that looks the same", () => {
  it.each([
    ["re\u0301sume\u0301", "r\u00e9sum\u00e9"],
    ["Screenshot 9.41 AM", "Screenshot 9.41\u202fAM"],
    ["it's", "it\u2019s"],
    ['a "b"', "a \u201cb\u201d"],
  ])("is found for %j", async (wanted, there) => {
    expect(await sameSpelling(wanted, of("other", there))).toBe(there);
  });

  it("is not guessed when there are two, or none", async () => {
    expect(await sameSpelling("it's", of("it\u2019s", "it\u2018s"))).toBeUndefined();
    expect(await sameSpelling("its", of("it's", "ITS"))).toBeUndefined();
    expect(await sameSpelling("a\ufffd", of("a\ufffd"))).toBeUndefined();
  });
});

describe("names that are likely meant", () => {
  const similar = (wanted: string, ...names: readonly string[]) => similarNames(wanted, of(...names));

  it("have another extension, a letter more, less or other, or two swapped", async () => {
    expect(await similar("main.ts", "main.js", "mian.ts", "mein.ts", "zzz")).toEqual(["main.js", "mein.ts", "mian.ts"]);
    expect(await similar("a", "b", "cd")).toEqual(["b"]);
    expect(await similar("config", "confgi", "cofngi")).toEqual(["confgi"]);
    expect(await similar("README", "readme.md")).toEqual(["readme.md"]);
    // A quarter of the letters may differ.
    expect(await similar("abcdefgh", "abcdefxx", "abcdexxx")).toEqual(["abcdefxx"]);
  });

  it("contain each other, after those that differ by letters, the shortest first", async () => {
    expect(await similar("user", "user-service-tests", "user-service", "usr")).toEqual([
      "usr",
      "user-service",
      "user-service-tests",
    ]);
    expect(await similar("user-service", "user", "use")).toEqual(["user"]);
    expect(await similar("abc", "xx-abc-xx")).toEqual([]);
  });

  it("are three at most, by name if equally near", async () => {
    expect(await similar("cat", "hat", "bat", "rat", "fat")).toEqual(["bat", "fat", "hat"]);
    expect(await similar(".env", ".npmrc")).toEqual([]);
    expect(await similar("x".repeat(300), "x".repeat(299))).toEqual(["x".repeat(299)]);
  });
});
