import { expect, it } from "vitest";
import { UsageError } from "../base/usage-error.js";
import { parseFlags } from "./flags.js";

const FLAGS = [
  { name: "min", value: "SCORE", help: "" },
  { name: "all", help: "" },
];

it("a number with a minus is the value of the flag before it, and nothing else", () => {
  expect(parseFlags(FLAGS, ["--min", "-1", "word"], "x").text("min")).toBe("-1");
  expect(parseFlags(FLAGS, ["--min", "-0.25", "--all"], "x").text("min")).toBe("-0.25");
  expect(() => parseFlags(FLAGS, ["--min", "--all"], "x")).toThrow(UsageError);
  expect(() => parseFlags(FLAGS, ["--all", "-1"], "x")).toThrow("Unknown flag -1");
  expect(parseFlags(FLAGS, ["--", "--min", "-1"], "x").words).toEqual(["--min", "-1"]);
});
