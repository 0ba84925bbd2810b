import { expect, it } from "vitest";
import { readRuleFile } from "./rule-file.js";

const rule = (fields: string) => readRuleFile(`---\n${fields}\n---\nBody\n`);

it.each([
  ["for every request", "description:\nglobs:\nalwaysApply: true", "always", []],
  ["for files, by globs that are no YAML", "globs: **/*.vue, lib/*.js", "globs", ["**/*.vue", "lib/*.js"]],
  ["for files, by a list", 'globs:\n  - "a/**"\n  - b.ts', "globs", ["a/**", "b.ts"]],
  ["for files, by a list on one line", 'globs: ["a/**", b.ts]', "globs", ["a/**", "b.ts"]],
  ["for files, with a comma in braces", "globs: x/*.{js,ts},y", "globs", ["x/*.{js,ts}", "y"]],
  ["on request", "description: How to migrate\nalwaysApply: false", "on request", []],
  ["when a person names it", "alwaysApply: false", "manual", []],
  ["not for every request when that is a string", 'alwaysApply: "true"\ndescription: x', "on request", []],
  ["not at all when it makes no sense", "alwaysApply: [true", "skipped", []],
  ["not at all when it is no field", "just words", "skipped", []],
] as const)("a rule holds %s", (_what, fields, mode, globs) => {
  expect(rule(fields)).toMatchObject({ mode, globs, body: "Body\n" });
});

it("is manual without front matter", () => {
  expect(readRuleFile("Body\n")).toMatchObject({ mode: "manual", body: "Body\n" });
});
