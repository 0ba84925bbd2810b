/** Prints every text of the program that a person may read, with its place: to read them all, aloud. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "rolldown/utils";
import { ROOT, setUp } from "../setup/set-up.mjs";

const NOT_SHOWN = /\.(?:test|testkit|d)\.ts$|\/test-support\/|^src\/testkit\//;
/** At least two words, one of them in small letters. */
const PROSE = /[A-Za-z<][\w<>'’-]*[,:;]? +\S*[a-z]{2,}/;
/** Statements for a database, and lists of names that a program splits. */
const CODE = /^\s*(?:SELECT|INSERT|CREATE|UPDATE|DELETE|PRAGMA|ALTER|DROP|WITH|BEGIN)\b/;

export async function main() {
  await setUp({ root: ROOT, need: "install" });
  for (const { place, text } of messagesIn(ROOT)) console.log(`${place}  ${text}`);
}

export function messagesIn(root) {
  return readdirSync(join(root, "src"), { recursive: true })
    .map((name) => join("src", name))
    .filter((file) => file.endsWith(".ts") && !NOT_SHOWN.test(file))
    .sort()
    .flatMap((file) => textsOf(file, readFileSync(join(root, file), "utf8")));
}

/** The texts of one source file; what a template inserts stands in angle brackets. */
export function textsOf(file, source) {
  const found = [];
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (typeof node?.type !== "string") return;
    const text = textIn(node, source);
    if (text !== undefined && PROSE.test(text) && !CODE.test(text) && !isSplit(node, source)) {
      const line = source.slice(0, node.start).split("\n").length;
      found.push({ place: `${file}:${line}`, text: text.replaceAll(/\s*\n\s*/g, " ⏎ ") });
    }
    for (const [key, child] of Object.entries(node)) if (key !== "parent" && typeof child === "object") visit(child);
  };
  visit(parseSync(file, source).program);
  return found;
}

function textIn(node, source) {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type !== "TemplateLiteral") return undefined;
  const parts = node.quasis.map(({ value }, at) => {
    const inserted = node.expressions[at];
    return value.cooked + (inserted === undefined ? "" : `<${shortened(source.slice(inserted.start, inserted.end))}>`);
  });
  return parts.join("");
}

/** A list of names in one text: `"a b c".split(" ")`. */
function isSplit({ end }, source) {
  return /^\s*\.split\(/.test(source.slice(end, end + 10));
}

function shortened(code) {
  return code.length > 30 ? "…" : code.replaceAll(/\s+/g, " ");
}
