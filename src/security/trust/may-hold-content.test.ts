import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { discoverContent } from "./discover.js";
import { mayHoldContent } from "./may-hold-content.js";
import { instructionPlaces, LAYOUTS, PROJECT_PLACES, SOURCE_PLACES } from "./places.js";
import { Testbed } from "./test-support/testbed.js";

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.remove());

const ofSource = SOURCE_PLACES.map(({ path }) => path);
const ofLayouts = LAYOUTS.flatMap(({ folder, places }) => places.map(({ path }) => `${folder}/${path}`));
const ofFolder = [...[...instructionPlaces(undefined), ...PROJECT_PLACES].map(({ path }) => path), ...ofLayouts];
const places = [
  ...ofSource.filter((path) => path !== "providers").map((path) => ["your own folder", path] as const),
  ...ofLayouts.map((path) => ["your home", path] as const),
  ...ofSource.map((path) => ["the project", `.oxbow/${path}`] as const),
  ...ofFolder.map((path) => ["the project", path] as const),
];

it.each(places)("sees in %s what the search would look at: %s", (where, path) => {
  const folder = join(bed.folder, "a", "b");
  const user = join(bed.base, "home");
  const home = { ...bed.home, user };
  const within = { "the project": bed.folder, "your own folder": bed.config, "your home": user }[where];
  bed.put("a/b/file.txt", "x");
  expect(mayHoldContent({ folder, home })).toBe(false);
  const file = path === "profiles" ? "profiles/own.toml" : path;
  bed.put(join(within, file), '{"hooks": {}, "mcpServers": {}}');
  expect(mayHoldContent({ folder, home })).toBe(true);
});

it("does not stop for a profile or settings that start no program", () => {
  bed.put(join(bed.config, "config.toml"), 'model = "x"\n');
  bed.put(join(bed.config, "profiles/own.toml"), 'model = "x"\n');
  bed.put(".claude/settings.json", '{"permissions": {"allow": []}}');
  expect(mayHoldContent({ folder: bed.folder, home: bed.home })).toBe(false);
});

it("is not stopped by unused content", async () => {
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
