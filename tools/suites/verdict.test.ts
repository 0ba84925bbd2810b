import { expect, it } from "vitest";
import { digestOf, verdictOf } from "./verdict.mjs";

const accepted = [
  { suite: "a", id: "one", why: "known" },
  { suite: "a", id: "two", digest: digestOf("text of two"), why: "known" },
  { suite: "b", id: "three", why: "known" },
];

it("knows recorded failures by suite, id and text, and tells the new ones", () => {
  const failures = [
    { id: "one", info: "any" },
    { id: "two", info: "text of two" },
    { id: "two", info: "another text" },
    { id: "three", info: "of another suite" },
  ];
  expect(verdictOf("a", failures, accepted)).toEqual({ failures: failures.slice(2), missing: [] });
});

it("tells the recorded ones that pass", () => {
  const { failures, missing } = verdictOf("a", [{ id: "one", info: "any" }], accepted);
  expect([failures, missing.map(({ id }) => id)]).toEqual([[], ["two"]]);
});
