/** Finds the tests that load a file, the most telling first. */
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findImports } from "../check-layers/imports.mjs";
import { tokenize } from "../check-layers/tokens.mjs";

const TEST = /\.test\.ts$/;
/** Such a test starts programs of its folder, which the runner does not see. */
const STARTS_CHILDREN = /\bbuildChildPrograms\(/;
/** They run the built program, which has no mutation, or need what is not here. */
const APART = /^test\/e2e\/|\.(outside|packages)\.test\.ts$/;

/** Builds the graph of the imports between `files`, which are paths below `root`. */
export class Imports {
  #importers = new Map();
  #imports = new Map();
  #tests;

  constructor(root, all) {
    const files = all.filter((file) => file.endsWith(".ts"));
    const known = new Set(files);
    this.#tests = files.filter((file) => TEST.test(file) && !APART.test(file));
    for (const file of files) {
      const text = readFileSync(join(root, file), "utf8");
      const imports = findImports(tokenize(text)).filter(({ when }) => when !== "types");
      const paths = imports.map(({ specifier }) => join(dirname(file), specifier).replace(/\.js$/, ".ts"));
      const support = join(dirname(file), "test-support");
      const children = files.filter((each) => dirname(each) === support && each.endsWith(".child.ts"));
      const loaded = [
        ...paths.filter((path) => known.has(path)),
        ...(TEST.test(file) && STARTS_CHILDREN.test(text) ? children : []),
      ];
      this.#imports.set(file, loaded);
      for (const each of loaded) this.#importers.set(each, [...(this.#importers.get(each) ?? []), file]);
    }
  }

  /** Sorts by how directly a test loads the file, then by how little else it loads. Tests that share a word with its name or folder come before others. */
  testsOf(file) {
    const steps = this.#reached(file, this.#importers);
    const words = new Set([basename(file, ".ts"), basename(dirname(file))].flatMap((name) => name.split("-")));
    const rank = (test) => {
      if (steps.get(test) === 1) return 0;
      if (dirname(test) === dirname(file)) return 1;
      const isNamed = basename(test, ".test.ts")
        .split("-")
        .some((word) => words.has(word));
      return isNamed || dirname(test) === dirname(dirname(file)) ? 2 : 3;
    };
    return this.#tests
      .filter((test) => steps.has(test))
      .map((test) => [test, rank(test), steps.get(test), this.#reached(test, this.#imports).size])
      .sort((a, b) => a[1] - b[1] || a[2] - b[2] || a[3] - b[3] || (a[0] < b[0] ? -1 : 1))
      .map(([test]) => test);
  }

  /** The files that edges lead to, each with the number of steps. */
  #reached(from, edges) {
    const steps = new Map([[from, 0]]);
    for (const [file, count] of steps) {
      for (const next of edges.get(file) ?? []) if (!steps.has(next)) steps.set(next, count + 1);
    }
    return steps;
  }
}
