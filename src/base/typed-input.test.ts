import { expect, it } from "vitest";
import { readTypedInput } from "./typed-input.js";

it.each([
  ["/help", "help", ""],
  ["/ help", "help", ""],
  [" /model  gpt 5 ", "model", "gpt 5"],
  ["/skills:pdf-2\nthe file", "skills:pdf-2", "the file"],
  ["/2", "2", ""],
  ["/", "", ""],
])("reads %j as a command", (input, name, rest) => {
  expect(readTypedInput(input)).toEqual({ kind: "slash", name, rest });
});

it.each([
  ["! ls", "ls", true],
  ["!!git log", "git log", false],
])("reads %j as a shell command", (input, command, share) => {
  expect(readTypedInput(input)).toEqual({ kind: "shell", command, share });
});

it.each(["/etc/hosts is wrong", "look at /etc", "// what is this?", "/* why */ int x;", "!", "!!", " two words "])(
  "reads %j as text",
  (input) => {
    expect(readTypedInput(input)).toEqual({ kind: "prompt", text: input });
  },
);
