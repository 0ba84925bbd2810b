import { describe, expect, it } from "vitest";
import type { ProgramRules } from "./rules.js";
import { READ_ONLY_PROGRAMS } from "./table.js";

function* everyRules(table: Readonly<Record<string, ProgramRules>>, path = ""): Generator<[string, ProgramRules]> {
  for (const [name, rules] of Object.entries(table)) {
    yield [`${path}${name}`, rules];
    if (rules.commands !== undefined) yield* everyRules(rules.commands, `${path}${name} `);
  }
}

const words = (list = "") => list.split(" ").filter((word) => word !== "");

describe("the tables of programs", () => {
  it("list every option once, and well formed", () => {
    for (const [name, { flags, valued, files, optional, patterns, required }] of everyRules(READ_ONLY_PROGRAMS)) {
      const all = [...words(flags), ...words(valued), ...words(files)];
      expect([name, all.filter((option, index) => all.indexOf(option) !== index)]).toEqual([name, []]);
      expect([name, all.filter((option) => !/^(-[A-Za-z0-9.]|--[a-z][a-z0-9-]+)$/.test(option))]).toEqual([name, []]);
      const known = [...all, ...words(optional)];
      expect([name, [...words(patterns), ...words(required)].filter((it) => !known.includes(it))]).toEqual([name, []]);
    }
  });

  it("hold no program that runs, writes or connects by itself, and no option known to do so", () => {
    const refused =
      "rm mv cp tee dd sh zsh dash env xargs sudo curl wget ssh nc python2 perl less more man vim make yarn pnpm";
    expect(words(refused).filter((name) => Object.hasOwn(READ_ONLY_PROGRAMS, name))).toEqual([]);
    const options: Readonly<Record<string, string>> = {
      sort: "-o --output --compress-program -T --temporary-directory --files0-from",
      rg: "--pre --pre-glob --hostname-bin -z --search-zip",
      fd: "-x -X --exec --exec-batch",
      sed: "-i -I --in-place -f --file",
      awk: "-f -i -l -o -d -p -E -e -W --file --include --load --profile",
      jq: "-f -L --from-file --rawfile --slurpfile",
      date: "-s --set -f --file",
      file: "-f -m -C -z --files-from --magic-file --compile --uncompress",
      tree: "-o --output --fromfile",
      base64: "-o --output",
      diff: "--to-file --from-file --output -l --paginate",
      "git log": "-p -u --patch -S -G -L -c --cc --ext-diff --textconv --show-signature --output -O",
      grep: "--pre --pager --decompress",
      wc: "--files0-from",
      du: "--files0-from -X --exclude-from",
    };
    for (const [name, rules] of everyRules(READ_ONLY_PROGRAMS)) {
      const listed = [...words(rules.flags), ...words(rules.valued), ...words(rules.files), ...words(rules.optional)];
      expect([name, words(options[name]).filter((option) => listed.includes(option))]).toEqual([name, []]);
    }
  });
});
