import { expect, test } from "vitest";
import { replaceMarkers, SessionMarkers } from "./markers.js";

test("markers become pointers, except in code", () => {
  const { text, markers } = replaceMarkers(
    "Date: <!-- @date -->\n<!--@files-->\n```\n<!-- @git-status -->\n```\n`<!-- @git-status -->` <!-- @other -->",
  );
  expect(markers).toEqual(["date", "files"]);
  expect(text).toContain("Date: (date: see [date] in");
  expect(text).toContain("```\n<!-- @git-status -->\n```\n`<!-- @git-status -->` <!-- @other -->");
  expect(replaceMarkers("nothing")).toEqual({ text: "nothing", markers: [] });
});

test("only values that changed go along", async () => {
  let value = "1";
  let forgotten = 0;
  const markers = new SessionMarkers({ value: async () => value, forgotten: () => forgotten });
  const notice = () => markers.notice(["date"]);
  expect(await notice()).toBe("[date]\n1");
  expect(await notice()).toBeUndefined();
  value = "2";
  expect(await notice()).toBe("[date]\n2");
  expect(await notice()).toBeUndefined();
  forgotten = 1;
  expect(await notice()).toBe("[date]\n2");
});
