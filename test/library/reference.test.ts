/** docs/reference.md is what the registries say, and docs/README.md lists every page. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { oxbow } from "../support/program.js";
import { referencePage } from "../support/reference-page.js";

const DOCS = fileURLToPath(new URL("../../docs", import.meta.url));
const read = (name: string) => readFileSync(join(DOCS, name), "utf8");

describe("the reference", () => {
  it("is what the source says: OXBOW_WRITE_REFERENCE=1 npx vitest run test/library/reference.test.ts", async () => {
    const page = await referencePage();
    if (process.env.OXBOW_WRITE_REFERENCE) writeFileSync(join(DOCS, "reference.md"), page);
    expect(read("reference.md")).toBe(page);
  });

  it("says of every setting what it does, in a guide that names it", async () => {
    const { stdout: out, code } = await oxbow(["config", "keys", "--json"]);
    expect(code).toBe(0);
    const keys = JSON.parse(out) as { key: string; about: string; guide: string }[];
    expect(keys.length).toBeGreaterThan(70);
    const silent = keys.filter(
      ({ about, guide, key }) => about === "" || !new RegExp(`\\b${key}\\b`).test(read(`${guide}.md`)),
    );
    expect(silent).toEqual([]);
  });
});

describe("the index of the guides", () => {
  it("names every page once", () => {
    const index = read("README.md");
    const pages = readdirSync(DOCS).filter((name) => name.endsWith(".md") && name !== "README.md");
    const listed = [...index.matchAll(/^\| \[[^\]]*\]\(([\w-]+\.md)\)/gm)].map(([, name]) => name ?? "");
    expect(listed.toSorted()).toEqual(pages.toSorted());
  });
});
