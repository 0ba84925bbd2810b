import { expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { commandInfos } from "./catalogue.js";

verifies(["U6"], "the list of commands begins with what a person needs most, and has each command once", () => {
  const names = commandInfos().map(({ name }) => name);
  const tops = [...new Set(names.map((name) => name.split(":")[0]))];
  expect(tops.slice(0, 8)).toEqual(["model", "resume", "clear", "undo", "rewind", "context", "compact", "help"]);
  expect(new Set(names).size).toBe(names.length);
});
