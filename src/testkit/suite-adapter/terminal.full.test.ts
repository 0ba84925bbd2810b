import { expect } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { handleSanitizeTerminal } from "./terminal.js";

const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

verifies(["P13"], "shows no control sequence at any place of the terminal client", () => {
  const hostile = [
    "\u001b]52;c;cm0gLXJmIC8=\u0007",
    "\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\",
    "\u001b[31;1;4mred",
    "\u009b2J\u0090q\u009c",
    "safe\rover",
    "a\bb\u0000c\u007f",
    "[x](https://e.org/\u001b]0;t\u0007)",
    "<https://e.org/\u001b[0m>",
    "`\u001b[2J`",
    "&#27;[2J&#x9b;2J&#7;",
    "| \u001b[2J |\n|---|\n| \u0007 |",
    "```\u001b[2J\n\u001bc\n```",
    "@@ -1 +1 @@\n+\u001b[2J",
  ];
  for (const text of hostile) expect(handleSanitizeTerminal({ text }).text).not.toMatch(CONTROL);
});

verifies(
  ["P13"],
  "shows what only looks like a sequence as it is, and floods in a bounded time",
  () => {
    for (const text of ["\\x1b[31m", "Hello \\u001b]8;;https://e.org/\\x07", "a  b\nc"]) {
      expect(handleSanitizeTerminal({ text })).toEqual({ text });
    }
    const LONG = times(1_000, 3_000);
    const floods = [
      "x".repeat(100_000),
      "e\u0301".repeat(LONG),
      "a\u0301\u0301".padEnd(LONG, "\u0301"),
      "[".repeat(LONG),
      "*a _b ".repeat(LONG),
      "`".repeat(LONG),
      "> ".repeat(LONG),
      "- ".repeat(LONG),
      "|".repeat(LONG),
      "\t".repeat(LONG),
    ];
    for (const text of floods) {
      const started = process.cpuUsage();
      handleSanitizeTerminal({ text });
      const { user, system } = process.cpuUsage(started);
      expect([text.slice(0, 4), (user + system) / 1000 < 1500]).toEqual([text.slice(0, 4), true]);
    }
  },
  60_000,
);
