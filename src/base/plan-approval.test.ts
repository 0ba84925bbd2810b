import { describe, expect, it } from "vitest";
import { approvesPlan } from "./plan-approval.js";

describe("approvesPlan", () => {
  it.each([
    "yes, go ahead",
    "Yes. Go ahead!",
    "go ahead",
    "ok, looks good, do it",
    "Looks good, proceed please",
    "please carry out the plan",
    "carry it out",
    "approved",
    "I approve the plan.",
    "lgtm - implement it",
  ])("takes %j as an approval", (prompt) => {
    expect(approvesPlan(prompt)).toBe(true);
  });

  it.each([
    "yes",
    "ok",
    "looks good",
    "no, do not go ahead",
    "go ahead, but leave the tests out",
    "yes, go ahead and delete everything",
    "should I go ahead?",
    "do it in two steps",
    "go ahead with the reading first",
    "",
  ])("takes %j as an ordinary prompt", (prompt) => {
    expect(approvesPlan(prompt)).toBe(false);
  });
});
