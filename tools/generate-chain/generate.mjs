/**
 * Writes src/chain/listing.ts: the hooks and links that connect the features to the loop, in the order of their file names.
 *
 * 1. A link is `NN-name.ts` in request/, tool/, subscribers/ or stages/<stage>/ and exports `create`.
 * 2. Within a folder the order is that of the file names. Names are API: hooks from outside sort among them.
 * 3. A file in one of those folders that is neither a link nor a test is an error, so that a misspelled name is not left out.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ToolError } from "../entry.mjs";
import { ROOT } from "../setup/set-up.mjs";

const LISTING = "src/chain/listing.ts";

const STAGES = ["start", "assemble", "send", "receive", "tool_exec", "tool_done", "done", "error"];
const GROUPS = ["request", "tool", "subscribers"];
const LINK = /^\d\d-[a-z][a-z0-9]*(-[a-z0-9]+)*\.ts$/;
const TEST = /\.test\.ts$/;
// Longer ones would not fit a line of the listing.
const NAME_LENGTH = 40;
const LINE_WIDTH = 120;

export const staleListing = `${LISTING} is stale: run \`node tools/generate-chain.mjs\` (or build) and commit it.`;

export function main(args) {
  const { values } = parseArgs({ args, options: { check: { type: "boolean" } } });
  if (!values.check) writeListing(ROOT);
  else if (!isListingCurrent(ROOT)) throw new ToolError(staleListing);
}

/** Brings the listing up to date; a listing that already is keeps its time of change. */
export function writeListing(root) {
  if (!isListingCurrent(root)) writeFileSync(join(root, LISTING), renderListing(root));
}

export function isListingCurrent(root) {
  if (!existsSync(join(root, "src", "chain"))) return true;
  const path = join(root, LISTING);
  return existsSync(path) && readFileSync(path, "utf8") === renderListing(root);
}

/** The text of the listing, laid out as the formatter would. */
export function renderListing(root) {
  const chain = join(root, "src", "chain");
  refuseUnknownStages(join(chain, "stages"));
  const stages = STAGES.map((stage) => ({ key: stage, links: readLinks(chain, `stages/${stage}`) }));
  const groups = GROUPS.map((group) => ({ key: group, links: readLinks(chain, group) }));
  const links = [...stages, ...groups].flatMap((entry) => entry.links);
  refuseEqualNames(links);
  return [
    "// Written by tools/generate-chain.mjs from the names of the files beside it. Do not edit.",
    "",
    ...renderImports(links),
    "",
    "export const listing: ChainListing = {",
    "  stages: {",
    ...stages.flatMap((entry) => renderEntry("    ", entry)),
    "  },",
    ...groups.flatMap((entry) => renderEntry("  ", entry)),
    "};",
    "",
  ].join("\n");
}

function readLinks(chain, folder) {
  const path = join(chain, folder);
  if (!existsSync(path)) return [];
  const names = readdirSync(path).filter((name) => !TEST.test(name) && !name.startsWith("."));
  const wrong = names.find((name) => !LINK.test(name) || name.length > NAME_LENGTH + ".ts".length);
  if (wrong !== undefined) {
    throw new ToolError(
      `src/chain/${folder}/${wrong}: a link is called NN-name.ts: two digits, lower-case words, at most ${NAME_LENGTH} characters.`,
    );
  }
  return names.sort().map((file) => {
    const name = file.slice(0, -".ts".length);
    return { name, source: `./${folder}/${name}.js`, local: camelCase(`${folder.replace("stages/", "")}-${name}`) };
  });
}

function refuseUnknownStages(folder) {
  const unknown = existsSync(folder) ? readdirSync(folder).find((name) => !STAGES.includes(name)) : undefined;
  if (unknown === undefined) return;
  throw new ToolError(`src/chain/stages/${unknown}: there is no such stage. The stages are ${STAGES.join(", ")}.`);
}

function refuseEqualNames(links) {
  const seen = new Map();
  for (const { local, source } of links) {
    const other = seen.get(local);
    if (other !== undefined) throw new ToolError(`src/chain: ${other} and ${source} are too alike. Rename one.`);
    seen.set(local, source);
  }
}

function renderImports(links) {
  const creators = links.map(({ local, source }) => ({ clause: `{ create as ${local} }`, source }));
  return [...creators, { clause: "type { ChainListing }", source: "./services.js" }]
    .sort((left, right) => left.source.localeCompare(right.source, "en", { numeric: true }))
    .map(({ clause, source }) => `import ${clause} from "${source}";`);
}

function renderEntry(indent, { key, links }) {
  const items = links.map(({ name, local }) => `{ name: "${name}", create: ${local} }`);
  const line = `${indent}${key}: [${items.join(", ")}],`;
  if (items.length < 2 && line.length <= LINE_WIDTH) return [line];
  return [`${indent}${key}: [`, ...items.map((item) => `${indent}  ${item},`), `${indent}],`];
}

function camelCase(name) {
  return name.replace(/[-_]([a-z0-9])/g, (_, letter) => letter.toUpperCase());
}
