import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { messagesIn, textsOf } from "./messages/messages.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

it("lists sentences with their places, and neither names nor statements for a database", () => {
  const source = [
    'import { a } from "./some module.js";',
    "/** A comment about something. */",
    'const names = "one two three".split(" ");',
    'const key = "permission_mode";',
    'const sql = "SELECT id FROM rows";',
    'throw new UsageError("There is no file here.");',
    "const text = `Removed ${names.length} files in ${folder}.`;",
  ].join("\n");
  expect(textsOf("a.ts", source).filter(({ text }) => !text.startsWith("./"))).toEqual([
    { place: "a.ts:6", text: "There is no file here." },
    { place: "a.ts:7", text: "Removed <names.length> files in <folder>." },
  ]);
});

/** Phrases that no colleague says aloud, with what to say instead. */
const UNSAID: readonly (readonly [RegExp, string])[] = [
  [/\bsilently\b.*\bunseen\b/, "say that the file is new or has changed"],
  [/\bchanges something\b/, "say what it does"],
  [/\bexceeded its\b|\bcapability token\b|\binteractive mode\b|\bissuer\b/, "use everyday words"],
  [/<(?:tools|sessions|clients|users|projects|observations)> \w+s\b/, "use counted(): there may be 1"],
];

it("no message counts '1 sessions', or uses words that no colleague says", () => {
  const said = messagesIn(ROOT).flatMap(({ place, text }) =>
    UNSAID.filter(([phrase]) => phrase.test(text)).map(([, advice]) => `${place} "${text}": ${advice}`),
  );
  expect(said).toEqual([]);
});
