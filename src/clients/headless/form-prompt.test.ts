import { expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { FormField } from "../../protocol/form.js";
import { askForm } from "./form-prompt.js";
import type { Terminal } from "./terminal.js";

const FIELDS: readonly FormField[] = [
  { name: "who", kind: "text", required: true, title: "Name" },
  { name: "count", kind: "integer", default: 3 },
  { name: "size", kind: "one", choices: [choice("s"), choice("m")] },
  { name: "extras", kind: "some", choices: [choice("milk"), choice("sugar")] },
];

function choice(value: string) {
  return { value, title: value.toUpperCase() };
}

async function fill(...lines: readonly string[]) {
  const left = [...lines];
  const written: string[] = [];
  const asked: string[] = [];
  const err = { isTerminal: true, columns: 80, write: (piece: string) => void written.push(piece) };
  const askLine = async (question: string) => {
    asked.push(question);
    return left.shift();
  };
  const terminal: Terminal = { out: err, err, showProgress: true, color: false, askLine };
  const message = await askForm(terminal, FIELDS, new AbortController().signal);
  return { message, asked, text: written.join("") };
}

verifies(["E6"], "the values of a form are asked for line by line", async () => {
  const { message, asked, text } = await fill("", "Ann", "", "2", "1, sugar");
  expect(JSON.parse(message ?? "")).toEqual({ who: "Ann", size: "m", extras: "milk,sugar" });
  expect(asked).toEqual(["Name: ", "Name: ", "count [3]: ", "size: ", "extras: "]);
  expect(text).toContain("This one is required.");
  expect(text).toContain("  2) SUGAR");
  expect((await fill("Ann")).message, "the input ended").toBeUndefined();
});
