/** Checks the import directions between the folders of src; `--root DIR` checks another tree (the tests do). */

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../setup/set-up.mjs";
import { findCycles } from "./cycles.mjs";
import { findEnvironmentReads } from "./environment.mjs";
import { commandViolations, findCommandNames, loneViolations } from "./homes.mjs";
import { findImports } from "./imports.mjs";
import {
  environmentViolations,
  importViolations,
  isFeature,
  layerOf,
  placeViolations,
  sizeViolations,
} from "./rules.mjs";
import { tokenize } from "./tokens.mjs";
import { declaredTools, toolNameViolations } from "./tool-names.mjs";

const SOURCE = /(?<!\.d)\.[cm]?[jt]sx?$/;
const TEST = /\.test\.[cm]?[jt]sx?$/;

export function main(args) {
  const { values } = parseArgs({ args, options: { root: { type: "string" } } });
  const violations = checkLayers(resolve(values.root ?? ROOT));
  for (const violation of violations) console.log(formatViolation(violation));
  if (violations.length > 0) process.exitCode = 1;
}

export function formatViolation({ file, line, rule, advice }) {
  return `src/${file}:${line} ${rule} — ${advice}`;
}

/** All violations in `root`/src, in the order of files and lines. Tests may import anything. */
export function checkLayers(root) {
  const modules = readModules(root);
  const owners = new Map(
    [...modules].flatMap(([file, { tools }]) => (isFeature(file) ? tools.map((name) => [name, layerOf(file)]) : [])),
  );
  const violations = [...modules].flatMap(([file, { imports, environmentReads, tokens }]) => [
    ...placeViolations(file),
    ...toolNameViolations(file, tokens, owners),
    ...imports.flatMap((each) => importViolations(file, each)),
    ...environmentViolations(file, environmentReads),
  ]);
  const lines = new Map([...modules].map(([file, module]) => [file, module.lines]));
  const homeless = [...loneViolations(modules), ...commandViolations(modules)];
  return [...violations, ...homeless, ...sizeViolations(lines), ...findCycles(modules)].sort(
    (left, right) => left.file.localeCompare(right.file, "en") || left.line - right.line,
  );
}

export function readModules(root) {
  const files = listFiles(join(root, "src")).filter((file) => SOURCE.test(file) && !TEST.test(file));
  return new Map(files.map((file) => [file, readModule(root, file)]));
}

function readModule(root, file) {
  const text = readFileSync(join(root, "src", file), "utf8");
  const tokens = tokenize(text);
  const imports = findImports(tokens);
  return {
    tokens,
    imports,
    environmentReads: findEnvironmentReads(tokens, imports),
    commands: findCommandNames(tokens),
    tools: declaredTools(tokens),
    lines: text.split("\n").length - 1,
  };
}

function listFiles(folder, prefix = "") {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = `${prefix}${entry.name}`;
    return entry.isDirectory() ? listFiles(join(folder, entry.name), `${name}/`) : [name];
  });
}
