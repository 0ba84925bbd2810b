/** Fails on phrases that make the text of this project hard to read; `--root DIR` checks another tree. */

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../setup/set-up.mjs";
import { NOT_YET_COVERED, PHRASES } from "./phrases.mjs";

const TEXT = /\.(?:ts|mjs|md)$/;
/** Tests contain sample data, so only their comments and titles are checked. */
const TEST = /\.test\.ts$|(?:^|\/)test-support\/|^test\//;
const COMMENT_OR_TITLE = /^\s*(?:\/\/|\/\*|\* )|\b(?:describe|it|test|verifies)(?:\.\w+)*\(|^\s*"[^"]* [^"]*",$/;
/** The table itself and its tests. */
const OWN = /^tools\/check-wording/;
const FOLDERS = ["assets", "docs", "examples", "src", "test", "tools"];
/** Decision records keep their wording: they are history. */
const HISTORY = /^docs\/decisions\//;

export function main(args) {
  const { values } = parseArgs({ args, options: { root: { type: "string" } } });
  const findings = checkWording(resolve(values.root ?? ROOT));
  for (const finding of findings) console.log(formatFinding(finding));
  if (findings.length > 0) process.exitCode = 1;
}

export function formatFinding({ file, line, found, advice }) {
  return `${file}:${line} "${found}" — ${advice}`;
}

/** Every phrase of the table in these folders and the pages of the root folder, in the order of files and lines. */
export function checkWording(root, notYetCovered = NOT_YET_COVERED) {
  const skipped = notYetCovered.map((folder) => `src/${folder}/`);
  return listFiles(root)
    .filter((file) => TEXT.test(file) && !HISTORY.test(file) && !OWN.test(file))
    .filter((file) => !skipped.some((folder) => file.startsWith(folder)))
    .flatMap((file) => findPhrases(file, readFileSync(join(root, file), "utf8")));
}

function findPhrases(file, text) {
  const isSource = file.startsWith("src/") && !TEST.test(file);
  const phrases = PHRASES.filter(({ sourceOnly, except }) => (!sourceOnly || isSource) && !except?.test(file));
  const isTest = TEST.test(file);
  return text.split("\n").flatMap((content, index) =>
    (isTest && !COMMENT_OR_TITLE.test(content) ? [] : phrases).flatMap(({ pattern, advice }) => {
      const found = pattern.exec(content)?.[0];
      return found === undefined ? [] : [{ file, line: index + 1, found, advice }];
    }),
  );
}

function listFiles(root) {
  const top = readdirSync(root, { withFileTypes: true });
  const pages = top.filter((entry) => entry.isFile()).map(({ name }) => name);
  const folders = top.filter((entry) => entry.isDirectory() && FOLDERS.includes(entry.name));
  return [...pages, ...folders.flatMap(({ name }) => filesBelow(root, name))].sort();
}

function filesBelow(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.name === "node_modules") return [];
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}
