import { isMember, isSign } from "./imports.mjs";

const PROCESS_MODULES = ["process", "node:process"];

/**
 * The lines that read the environment: `process.env`, `process["env"]`, `const { env } = process`, an `env` imported
 * from node:process, and the same through another name for `process`.
 */
export function findEnvironmentReads(tokens, imports) {
  const bound = imports.filter(({ specifier }) => PROCESS_MODULES.includes(specifier)).flatMap(nameWithLine);
  const named = bound.filter(({ imported }) => imported === "env");
  const aliases = bound.filter(({ imported }) => imported === "default" || imported === "*").map(({ local }) => local);
  const names = new Set(["process", ...aliases]);
  const lines = named.map(({ line }) => line);
  tokens.forEach((token, index) => {
    if (token.kind !== "name" || !names.has(token.text) || isForeignMember(tokens, index)) return;
    const alias = readAlias(tokens, index);
    if (alias !== undefined) names.add(alias);
    if (readsMember(tokens, index) || readsPattern(tokens, index)) lines.push(token.line);
  });
  return lines;
}

function nameWithLine({ names, line }) {
  return names.map((name) => ({ ...name, line }));
}

/** `child.process` is another property; `globalThis.process` is not. */
function isForeignMember(tokens, index) {
  return isMember(tokens[index - 1]) && !["globalThis", "global"].includes(tokens[index - 2]?.text);
}

function readsMember(tokens, index) {
  const [first, second, third] = tokens.slice(index + 1, index + 4);
  if (isMember(first) && isSign(second, "[")) return third?.kind === "string" && third.text === "env";
  if (isMember(first)) return second?.text === "env";
  return isSign(first, "[") && second?.kind === "string" && second.text === "env";
}

function isWhole(tokens, index) {
  const next = tokens[index + 1];
  return !isMember(next) && !isSign(next, "[") && !isSign(next, "(");
}

/** `const other = process` */
function readAlias(tokens, index) {
  const [name, equals] = tokens.slice(Math.max(index - 2, 0), index);
  return isSign(equals, "=") && name.kind === "name" && isWhole(tokens, index) ? name.text : undefined;
}

/** `{ a, env: b } = process` */
function readsPattern(tokens, index) {
  if (!isSign(tokens[index - 1], "=") || !isSign(tokens[index - 2], "}") || !isWhole(tokens, index)) return false;
  let depth = 0;
  for (let position = index - 2; position >= 0; position -= 1) {
    const token = tokens[position];
    if (isSign(token, "}")) depth += 1;
    if (isSign(token, "{")) depth -= 1;
    if (depth === 0) return false;
    const isKey = isSign(tokens[position - 1], "{") || isSign(tokens[position - 1], ",");
    if (depth === 1 && isKey && (token.kind === "name" || token.kind === "string") && token.text === "env") return true;
  }
  return false;
}
