import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { discoverContent } from "./discover.js";
import { mayHoldContent } from "./may-hold-content.js";
import { instructionPlaces, PROJECT_PLACES, SOURCE_PLACES } from "./places.js";
import { Testbed } from "./test-support/testbed.js";

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.remove());

const ofSource = SOURCE_PLACES.map(({ path }) => path);
const ofFolder = [...instructionPlaces(undefined), ...PROJECT_PLACES].map(({ path }) => path);
const places = [
  ...ofSource.map((path) => ["your own folder", path] as const),
  ...ofSource.map((path) => ["the project", `.oxbow/${path}`] as const),
  ...ofFolder.map((path) => ["the project", path] as const),
];

it.each(places)("sees in %s what the search would look at: %s", (where, path) => {
  const folder = join(bed.folder, "a", "b");
  bed.put("a/b/file.txt", "x");
  expect(mayHoldContent({ folder, home: bed.home })).toBe(false);
  bed.put(join(where === "the project" ? bed.folder : bed.config, path), "x");
  expect(mayHoldContent({ folder, home: bed.home })).toBe(true);
});

it("is not stopped by what is not in use", async () => {
  bed.put("CLAUDE.md", "x");
  bed.put(".mcp.json", "{}");
  const options = {
    folder: bed.folder,
    home: bed.home,
    sources: ["AGENTS.md"],
    kinds: new Set(["instructions"] as const),
  };
  expect(mayHoldContent(options)).toBe(false);
  expect((await discoverContent(options)).items).toEqual([]);
});
