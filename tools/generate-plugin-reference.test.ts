import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withReference } from "./generate-plugin-reference/generate.mjs";

const ROOT = join(import.meta.dirname, "..");

describe("the reference of plugins", () => {
  it("is what the source says: run 'node tools/generate-plugin-reference.mjs'", () => {
    const page = readFileSync(join(ROOT, "docs/plugins.md"), "utf8");
    const source = readFileSync(join(ROOT, "src/extensions/plugins/api.ts"), "utf8");
    expect(page).toBe(withReference(page, source));
    for (const name of ["addRequestLink", "addToolSource", "addTransport", "claimNamespace"]) {
      expect(page).toContain(`| \`${name}(`);
    }
  });
});
