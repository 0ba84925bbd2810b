import { describe, expect, it } from "vitest";
import { fitsLanguage, isFileName, isMarkdown, looksLikePath } from "./file-names.js";

describe("[U7] the names of files in an answer", () => {
  it.each([...["src/a", "README.md", "Makefile", ".gitignore", "a@b.ts", "..x/y", ".env", "@scope/pkg"]])(
    "%s looks like a path",
    (word) => expect(looksLikePath(word)).toBe(true),
  );

  it.each([
    ...[
      "ruby",
      "src/",
      "1.2",
      "v1.2.3",
      "a b.ts",
      "a*.ts",
      "`a.ts`",
      "a|b.c",
      "C:a.ts",
      "",
      "a\u200b.ts",
      "makefile",
      "a.",
    ],
  ])("%j does not", (word) => expect(looksLikePath(word)).toBe(false));

  it.each(["src/a.ts", "a.ts", "lib/a.unknown", "Dockerfile", "x/LICENSE", ".gitignore", "a/.env.local", "A.PY"])(
    "%s is one without a fence",
    (word) => expect(isFileName(word)).toBe(true),
  );

  it.each([
    "Node.js",
    "console.log",
    "example.com",
    "example.dev/a.ts",
    ".ts",
    "a.unknown",
    "src/a",
    "v1.2",
    "three.js",
  ])("%s is none without a fence", (word) => expect(isFileName(word)).toBe(false));

  it.each([
    ["a.rb", "ruby", true],
    ["Gemfile", "rb", true],
    ["Rakefile", "ruby", true],
    ["a.py", "ruby", false],
    ["a.py", "Python3", true],
    ["a.tsx", "javascript", true],
    ["a.h", "c++", true],
    ["a.yml", "yaml", true],
    ["Dockerfile", "docker", true],
    ["src/Makefile", "make", true],
    ["a.php", "php", true],
    ["a.php", "html", false],
    ["a.sh", "console", false],
    ["a.sh", "terminal", false],
    ["a.log", "log", false],
    ["a.unknown", "ruby", true],
    ["a.rb", "something", true],
    ["a.rb", "", true],
  ] as const)("a block for %s in %j fits: %s", (path, language, fits) => {
    expect(fitsLanguage(path, language)).toBe(fits);
  });

  it("each language fits its own files, and those of no other", () => {
    const samples: Readonly<Record<string, string>> = {
      ...{
        ts: "typescript",
        py: "python",
        sh: "bash",
        ps1: "powershell",
        bat: "cmd",
        json: "jsonc",
        yaml: "yml",
        toml: "toml",
      },
      ...{
        ini: "conf",
        md: "markdown",
        html: "htm",
        xml: "svg",
        css: "scss",
        go: "golang",
        rs: "rust",
        java: "kotlin",
      },
      ...{
        c: "cpp",
        cs: "csharp",
        rb: "ruby",
        php: "php",
        swift: "swift",
        dart: "dart",
        lua: "lua",
        pl: "perl",
        r: "r",
      },
      ...{
        jl: "julia",
        ex: "elixir",
        erl: "erlang",
        hs: "haskell",
        ml: "ocaml",
        clj: "clojure",
        sql: "sql",
        gql: "graphql",
      },
      ...{ proto: "protobuf", tf: "terraform", dockerfile: "docker", mk: "make", tex: "latex", zig: "zig", nim: "nim" },
      ...{ vim: "vim", csv: "tsv", txt: "rst", nix: "nix", prisma: "prisma" },
    };
    for (const [ending, language] of Object.entries(samples)) {
      const fitting = Object.values(samples).filter((other) => fitsLanguage(`a.${ending}`, other));
      expect([ending, fitting]).toEqual([ending, [language]]);
    }
  });

  it("of Markdown are those where a line with # is a heading", () => {
    expect(["README.md", "a.MDX", "markdown", "a.txt", "a.sh"].map(isMarkdown)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});
