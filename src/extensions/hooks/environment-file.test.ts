import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { readEnvironmentFile } from "./environment-file.js";

const KNOWN = { PATH: "/usr/bin:/bin", HOME: "/home/ann" };
const valuesOf = (text: string) => Object.fromEntries(readEnvironmentFile(text, KNOWN).values);

describe("a file with variables", () => {
  it.each([
    ["plain", "export A=1\nexport B=two", { A: "1", B: "two" }],
    ["quotes", `export A="a b" B='$HOME "x"' C=a\\ b"c"'d'`, { A: "a b", B: '$HOME "x"', C: "a bcd" }],
    [
      "values",
      'export PATH="$PATH:./node_modules/.bin"\nexport X=${PATH}',
      { PATH: "/usr/bin:/bin:./node_modules/.bin" },
    ],
    ["tildes", "export A=~/x:~ B='~' C=a~", { A: "/home/ann/x:/home/ann", B: "~", C: "a~" }],
    ["escapes", 'export A="\\$HOME \\"q\\" \\n \\\\" B=\\$X', { A: '$HOME "q" \\n \\', B: "$X" }],
    ["other forms", "declare -x A=\"1\"; B=2 # c\n  # d\nexport C=$'a\\nb'\nexport D", { A: "1", B: "2", C: "a\nb" }],
    ["several lines", 'export A="one\ntwo"\r\nexport B=x\\\ny', { A: "one\ntwo", B: "xy" }],
    ["empty", "export A=\n\n export B=''", { A: "", B: "" }],
  ])("is read as bash does: %s", (_name, text, expected) => {
    expect(valuesOf(text)).toMatchObject(expected);
    const names = Object.keys(expected);
    const shown = execFileSync(
      "/bin/bash",
      ["-c", `set -a\n${text.replaceAll("\r", "")}\nprintf '%s\\0' "\${${names.join('}" "${')}}"`],
      { env: KNOWN },
    );
    expect(String(shown).split("\0").slice(0, -1)).toEqual(names.map((name) => valuesOf(text)[name]));
  });

  it("unsets", () => {
    expect(readEnvironmentFile("export A=1\nunset A PATH", KNOWN).values).toEqual(
      new Map([
        ["A", undefined],
        ["PATH", undefined],
      ]),
    );
  });

  it("runs nothing, and names the rest", () => {
    const lines = [
      "source ~/.nvm/nvm.sh",
      "export A=$(id)",
      'export B="`id`"',
      "export C=1 && id",
      "export D=${E:-1}",
      "export 1=x",
      "id",
      "export F='open",
    ];
    const { values, ignored } = readEnvironmentFile(
      [...lines.slice(0, -1), "export OK=1", lines.at(-1)].join("\n"),
      KNOWN,
    );
    expect(Object.fromEntries(values)).toEqual({ OK: "1" });
    expect(ignored).toEqual(lines);
  });
});
