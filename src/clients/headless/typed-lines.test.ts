import { expect, it } from "vitest";
import { classify } from "../tui/input/classify.js";
import { isSlashLine, readSlash } from "./during-turn.js";
import { readCommand } from "./one-command.js";

/** The command that each way of typing sees; undefined for text. */
const seen = (input: string) => {
  const sent = classify(input);
  return {
    run: readCommand(input)?.verb,
    line: isSlashLine(input) ? readSlash(input, () => undefined).name : undefined,
    terminal: sent.kind === "slash" ? sent.name : undefined,
  };
};

it.each([
  ["/help", "help"],
  ["/ help", "help"],
  ["/model gpt", "model"],
  ["/skills:pdf", "skills:pdf"],
  ["/", ""],
  ["/etc/hosts is wrong", undefined],
  ["look at /etc", undefined],
])("the line client, the terminal client and run agree about %j", (input, name) => {
  expect(seen(input)).toEqual({ run: name, line: name, terminal: name });
});
