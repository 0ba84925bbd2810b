import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseConfigText, readConfigText } from "./config-text.js";

const folder = mkdtempSync(join(tmpdir(), "config-text-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As git itself reads it. */
function byGit(text: string): readonly { readonly name: string; readonly value: string }[] {
  const file = join(folder, "config");
  writeFileSync(file, text);
  const listing = execFileSync("git", ["config", "--file", file, "--list", "--null"], { encoding: "utf8" });
  return listing
    .split("\0")
    .slice(0, -1)
    .map((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? { name: entry, value: "true" } : { name: entry.slice(0, end), value: entry.slice(end + 1) };
    });
}

const PLAIN: readonly string[] = [
  "",
  "[core]\n\tbare = false\n# x\n; y\n",
  '[remote "a.b \\"c\\\\"]\n  url = "x # y" ; z\n',
  "[Core]\r\n\tHooksPath = a b\t \r\n",
  "[a] # heading\nkey\nother-1 =\n",
  '[a]\nx = one\\ttwo "  three " four\n',
];
const UNUSUAL: readonly string[] = [
  "[core] fsmonitor = ./evil\n",
  "[core]\nfsmonitor = ./ev\\\nil\n",
  "[core]\r\nfsmonitor = ./ev\\\r\nil\r\n",
  "\ufeff[core]\n\tfsmonitor = ./evil\n",
  "[core.sub]\nkey = 1\n",
  "[a][core]\nfsmonitor = ./evil\n",
  "[core]\nx = 1 # end \\\nfsmonitor = ./evil\n",
];

describe("the text of git's configuration", () => {
  it.each([...PLAIN, ...UNUSUAL])("is read as git reads it: %j", (text) => {
    expect(readConfigText(text).settings).toEqual(byGit(text));
  });

  it.each(PLAIN)("is understood when it is written plainly: %j", (text) => {
    expect(parseConfigText(text)).toEqual(byGit(text));
  });

  it.each([...UNUSUAL.slice(0, -1), "key = 1\n", '[a]\nx = "open\n', "[a]\nx = \\q\n", "[a]\nx y\n", "[a]\nx = 1\0\n"])(
    "is not understood otherwise: %j",
    (text) => expect(parseConfigText(text)).toBeUndefined(),
  );
});
