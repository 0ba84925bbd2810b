import { expect, test } from "vitest";
import { KnownValues, replaceMarkers } from "./markers.js";

test("markers become pointers, except in code", () => {
  const { text, markers } = replaceMarkers(
    "Date: <!-- @date -->\n<!--@files-->\n```\n<!-- @git-status -->\n```\n`<!-- @git-status -->` <!-- @other -->",
  );
  expect(markers).toEqual(["date", "files"]);
  expect(text).toContain("Date: (date: see [date] in");
  expect(text).toContain("```\n<!-- @git-status -->\n```\n`<!-- @git-status -->` <!-- @other -->");
  expect(replaceMarkers("nothing")).toEqual({ text: "nothing", markers: [] });
});

test("only values that changed go along", () => {
  const known = new KnownValues();
  expect(known.take(new Map([["date", "1"]]))).toEqual([["date", "1"]]);
  expect(known.take(new Map([["date", "1"]]))).toEqual([]);
  expect(known.take(new Map([["date", "2"]]))).toEqual([["date", "2"]]);
  known.forget();
  expect(known.take(new Map([["date", "2"]]))).toEqual([["date", "2"]]);
});
