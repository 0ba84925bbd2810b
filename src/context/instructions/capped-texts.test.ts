import { expect, it } from "vitest";
import { cappedTexts } from "./capped-texts.js";

const texts = (...all: string[]) => all.map((text, at) => ({ name: String(at), text }));

it("takes texts in order up to the limit, and says what was cut", () => {
  expect(cappedTexts(texts("root", "abcdef", "never"), 7)).toEqual([
    { name: "0", text: "root", cut: 0 },
    { name: "1", text: "abc", cut: 3 },
  ]);
});

it("never cuts within a character, and leaves out what is empty", () => {
  expect(cappedTexts(texts(" \n", "aé€🐂"), 9)).toEqual([{ name: "1", text: "aé€", cut: 4 }]);
});
