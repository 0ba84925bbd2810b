/**
 * Writes the reference of docs/plugins.md from src/extensions/plugins/api.ts: each interface with its members and their comments. The
 * text above the mark is written by hand.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ToolError } from "../entry.mjs";
import { ROOT } from "../setup/set-up.mjs";

const SOURCE = "src/extensions/plugins/api.ts";
const PAGE = "docs/plugins.md";
const MARK = `<!-- generated from ${SOURCE} by tools/generate-plugin-reference.mjs -->`;

export function main(args) {
  const { values } = parseArgs({ args, options: { check: { type: "boolean" } } });
  const page = readFileSync(join(ROOT, PAGE), "utf8");
  const wanted = withReference(page, readFileSync(join(ROOT, SOURCE), "utf8"));
  if (values.check && page !== wanted)
    throw new ToolError(`${PAGE} is stale: run 'node tools/generate-plugin-reference.mjs'.`);
  if (page !== wanted) writeFileSync(join(ROOT, PAGE), wanted);
}

export function withReference(page, source) {
  const at = page.indexOf(MARK);
  if (at === -1) throw new ToolError(`${PAGE} has no line ${MARK}`);
  return `${page.slice(0, at)}${MARK}\n\n${reference(source)}\n`;
}

function reference(source) {
  const blocks = [...source.matchAll(/(?:\/\*\* ([^\n]*) \*\/\n)?export interface (\w+) \{\n([\s\S]*?)\n\}/g)];
  return blocks.map(([, comment = "", name, body]) => section(name, comment, body)).join("\n\n");
}

function section(name, comment, body) {
  const rows = membersOf(body).map(
    ({ signature, comment: words }) => `| \`${escaped(signature)}\` | ${escaped(words)} |`,
  );
  const about = comment === "" ? [] : [comment, ""];
  return [`### \`${name}\``, "", ...about, "| | |", "|---|---|", ...rows].join("\n");
}

/** The members of an interface: lines with two spaces before them, with what follows until the next one. */
function membersOf(body) {
  const members = [];
  let comment = "";
  for (const line of body.split("\n")) {
    const text = line.trim();
    const said = /^\/\*\* (.*) \*\/$/.exec(text)?.[1];
    if (said !== undefined) comment = said;
    else if (/^ {2}[a-z]/.test(line)) {
      members.push({ signature: text, comment });
      comment = "";
    } else members.at(-1).signature += ` ${text}`;
  }
  return members.map(({ signature, comment: words }) => ({ signature: tidy(signature), comment: words }));
}

function tidy(signature) {
  return signature
    .replace(/readonly /g, "")
    .replace(/\(\s+/g, "(")
    .replace(/,?\s+\)/g, ")")
    .replace(/: \| /g, ": ")
    .replace(/;$/, "");
}

function escaped(text) {
  return text.replaceAll("|", "\\|");
}
