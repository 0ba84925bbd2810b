import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { REQUEST_LINKS, STAGES, SUBSCRIBERS, TOOL_LINKS } from "./order.js";

const LISTS = { ...STAGES, request: REQUEST_LINKS, tool: TOOL_LINKS, subscribers: SUBSCRIBERS };

describe("the order of the chain", () => {
  verifies(["L2", "L3"], "names every hook, link and subscriber of the product, in the order of the names", () => {
    const listed = Object.values(LISTS).flatMap((entries) => entries.map(({ name }) => name));
    for (const [list, entries] of Object.entries(LISTS)) {
      const names = entries.map(({ name }) => name);
      expect(names, list).toEqual([...names].sort());
      expect(new Set(names).size, list).toBe(names.length);
    }
    const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "src"], {
      encoding: "utf8",
    });
    const written = files
      .split("\n")
      .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|^src\/(chain|testkit)\//.test(file))
      .flatMap((file) =>
        [...readFileSync(file, "utf8").matchAll(/\bname: "(\d\d-[a-z0-9-]+)"/g)].map(([, name]) => name),
      );
    expect(written.length).toBeGreaterThan(20);
    expect(written.filter((name) => !listed.includes(name ?? ""))).toEqual([]);
    const declared = Object.values(LISTS).flatMap((entries) =>
      entries.filter((entry) => "of" in entry).map(({ name }) => name),
    );
    expect(declared.filter((name) => !written.includes(name))).toEqual([]);
  });
});
