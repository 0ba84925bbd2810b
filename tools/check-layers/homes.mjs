import { isSign } from "./imports.mjs";
import { FEATURES, RUNTIME_OF_ONE } from "./layers.mjs";
import { resolveImport } from "./rules.mjs";

/** Files of runtime that use fewer than two features, and are not in the list of those that wait for their move. */
export function loneViolations(modules) {
  const advice =
    "runtime joins features: move it to the feature that it uses, to the layer below, or into the file that uses it";
  return loneFiles(modules)
    .filter((file) => !RUNTIME_OF_ONE.has(file))
    .map((file) => ({ file, line: 1, rule: "one-feature", advice }));
}

export function loneFiles(modules) {
  const files = [...modules].filter(([file]) => file.startsWith("runtime/") && !file.includes("/test-support/"));
  return files.filter(([file, { imports }]) => featuresOf(file, imports).size < 2).map(([file]) => file);
}

function featuresOf(file, imports) {
  const targets = imports.filter(({ specifier }) => specifier.startsWith("."));
  const folders = targets.map(({ specifier }) => resolveImport(file, specifier).split("/")[0]);
  return new Set(folders.filter((folder) => FEATURES.includes(folder)));
}

const COMMAND = /^[a-z][\w-]*:[\w-]+$/;

/** The strings of a module that look like the full name of a command, `memory:add`; `declares`: they are its name. */
export function findCommandNames(tokens) {
  return tokens.flatMap((token, index) => {
    if (token.kind !== "string" || !COMMAND.test(token.text)) return [];
    const declares = isSign(tokens[index - 1], ":") && tokens[index - 2]?.text === "name";
    return [{ name: token.text, line: token.line, declares }];
  });
}

/** Commands of a feature that a file outside of its folder names. */
export function commandViolations(modules) {
  const homes = new Map();
  for (const [file, { commands }] of modules) {
    if (!FEATURES.includes(file.split("/")[0])) continue;
    for (const { name } of commands.filter(({ declares }) => declares)) homes.set(name, folderOf(file));
  }
  return [...modules].flatMap(([file, { commands }]) =>
    commands
      .filter(({ name }) => homes.has(name) && folderOf(file) !== homes.get(name))
      .map(({ name, line }) => {
        const advice = `"${name}" belongs to ${homes.get(name)}: import its declaration, or let it say what it needs`;
        return { file, line, rule: "foreign-command", advice };
      }),
  );
}

function folderOf(file) {
  return file.split("/").slice(0, -1).join("/");
}
