import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { type Choice, choiceOf } from "./offer.js";

const ANSWERS: readonly (readonly [string, Choice])[] = [
  ["n", { kind: "new" }],
  ["p", { kind: "pick" }],
  ["o", { kind: "own" }],
];

describe("the question which engine to use", () => {
  verifies(["U7"], "takes one offered letter, Enter for a new session, and leaves when the input ends", () => {
    expect(choiceOf(" P ", ANSWERS)).toEqual({ kind: "pick" });
    expect(choiceOf("", ANSWERS)).toEqual({ kind: "new" });
    expect(choiceOf(undefined, ANSWERS)).toEqual({ kind: "leave" });
    // A prompt that was typed too early chooses nothing.
    for (const typed of ["a", "please fix it", "go"]) expect(choiceOf(typed, ANSWERS)).toBeUndefined();
  });
});
