/**
 * Finds what a module imports: `{ specifier, line, when: "types" | "start" | "call", names }`.
 *
 * 1. `types` are erased by the compiler. `start` runs when the module does (`import`, `export … from`), `call` when the
 *    code gets there (`import("…")`, `require("…")`).
 * 2. `import { type A } from` is `start`: under verbatimModuleSyntax an empty import of the module remains.
 * 3. `names` are the names bound by an import: imported name → local name (`*` for a namespace).
 */
export function findImports(tokens) {
  const imports = [];
  tokens.forEach((token, index) => {
    if (token.kind !== "name" || isMember(tokens[index - 1])) return;
    const reader = READERS.get(token.text);
    const found = reader?.(tokens, index);
    if (found !== undefined) imports.push({ line: token.line, names: [], ...found });
  });
  return imports;
}

const READERS = new Map([
  ["import", readImport],
  ["export", readExport],
  ["require", readRequire],
]);

function readImport(tokens, index) {
  const next = tokens[index + 1];
  if (next === undefined) return undefined;
  if (next.kind === "string") return { specifier: next.text, when: "start" };
  if (next.text === "(") return readImportCall(tokens, index);
  const erased = next.text === "type" && !isSign(tokens[index + 2], ",") && !isBareFrom(tokens, index + 2);
  const clause = readClause(tokens, index + (erased ? 2 : 1));
  if (clause === undefined) return undefined;
  return { specifier: clause.specifier, when: erased ? "types" : "start", names: erased ? [] : clause.names };
}

/** `import type from "x"` imports a default called `type`. */
function isBareFrom(tokens, index) {
  return tokens[index]?.text === "from" && tokens[index + 1]?.kind === "string";
}

/** `import("x").Name` and `typeof import("x")` are types; a promise has no members but these three. */
function readImportCall(tokens, index) {
  const argument = tokens[index + 2];
  const after = tokens[index + 3];
  if (argument?.kind !== "string" || !(isSign(after, ")") || isSign(after, ","))) return undefined;
  const member = isSign(after, ")") && isSign(tokens[index + 4], ".") ? tokens[index + 5]?.text : undefined;
  const isType =
    tokens[index - 1]?.text === "typeof" || (member !== undefined && !["then", "catch", "finally"].includes(member));
  return { specifier: argument.text, when: isType ? "types" : "call" };
}

function readExport(tokens, index) {
  const erased = tokens[index + 1]?.text === "type";
  const first = tokens[index + (erased ? 2 : 1)];
  if (!isSign(first, "{") && !isSign(first, "*")) return undefined;
  const clause = readClause(tokens, index + (erased ? 2 : 1));
  return clause === undefined ? undefined : { specifier: clause.specifier, when: erased ? "types" : "start" };
}

function readRequire(tokens, index) {
  const [open, argument] = [tokens[index + 1], tokens[index + 2]];
  if (!isSign(open, "(") || argument?.kind !== "string") return undefined;
  return { specifier: argument.text, when: "call" };
}

/** Reads `Default, { a as b, type C }` or `* as all` up to `from "…"`; undefined for anything else. */
function readClause(tokens, start) {
  const names = [];
  let inBraces = false;
  for (let index = start; index < tokens.length; index += 1) {
    const token = tokens[index];
    const next = tokens[index + 1];
    if (token.text === "from" && !inBraces && next?.kind === "string") return { specifier: next.text, names };
    if (isSign(token, "{") || isSign(token, "}")) inBraces = isSign(token, "{");
    else if (isSign(token, "*") || token.kind === "name" || token.kind === "string") {
      const isAlias = next?.text === "as" && ["name", "string"].includes(tokens[index + 2]?.kind);
      names.push({
        imported: inBraces || isSign(token, "*") ? token.text : "default",
        local: tokens[index + (isAlias ? 2 : 0)].text,
      });
      if (isAlias) index += 2;
    } else if (!isSign(token, ",")) return undefined;
  }
  return undefined;
}

export function isSign(token, text) {
  return token?.kind === "sign" && token.text === text;
}

/** Tells whether the token after this one is a member (`foo.import`), not a word of the language. */
export function isMember(before) {
  return isSign(before, ".") || isSign(before, "?.");
}
