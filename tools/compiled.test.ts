import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { build } from "./build/build.mjs";
import { asScript } from "./build/compiled.mjs";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A project whose command table is in the chunk `core`. */
function plant(files: Record<string, string> = {}): string {
  const root = mkdtempSync(join(tmpdir(), "oxbow-compiled-"));
  folders.push(root);
  const all = {
    "package.json": '{ "name": "oxbow", "version": "1.2.3", "type": "module" }',
    "src/main/bin.ts": 'void import("../cli/command-table.js").then(({ main }) => main());',
    "src/cli/command-table.ts": `
      import { basename } from "node:path";
      import { shared } from "./shared.js";
      export async function main() {
        const { lazy } = await import("./lazy.js");
        console.log(basename(import.meta.url).startsWith("core-"), shared(), lazy());
      }`,
    "src/cli/shared.ts": 'export const shared = () => "shared „ß“";',
    "src/cli/lazy.ts": 'import { shared } from "./shared.js"; export const lazy = () => `lazy and ${shared()}`;',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  mkdirSync(join(root, "dist"));
  return root;
}

const run = (root: string) => execFileSync(process.execPath, [join(root, "dist", "bin.js")], { encoding: "utf8" });
const filesOf = (root: string, ending: string) =>
  readdirSync(join(root, "dist")).filter((name) => name.endsWith(ending));

describe("chunks as scripts", () => {
  it("run like modules, also without a cache", async () => {
    const root = plant();
    await build({ root });
    expect(filesOf(root, ".cjs")).toEqual([expect.stringMatching(/^core-[0-9a-f]{8}\.cjs$/)]);
    expect(filesOf(root, ".cache")).toEqual([]);
    expect(run(root)).toBe("true shared „ß“ lazy and shared „ß“\n");
  });

  it("get a cache that this Node accepts; a damaged one does no harm", async () => {
    const root = plant({
      "src/testkit/index.ts": 'export const startMockModel = async () => ({ url: "http://127.0.0.1:9" });',
    });
    await build({ root });
    const [script = ""] = filesOf(root, ".cjs");
    expect(filesOf(root, ".cache")).toEqual([script.replace(/cjs$/, "cache")]);
    const check = `
      const { readFileSync } = require("node:fs");
      const [script, cache] = process.argv.slice(1);
      const options = { cachedData: readFileSync(cache) };
      console.log(new (require("node:vm").Script)(readFileSync(script, "utf8"), options).cachedDataRejected);`;
    const paths = [script, script.replace(/cjs$/, "cache")].map((name) => join(root, "dist", name));
    expect(spawnSync(process.execPath, ["-e", check, ...paths], { encoding: "utf8" }).stdout).toBe("false\n");
    writeFileSync(paths[1] ?? "", "damaged");
    expect(run(root)).toBe("true shared „ß“ lazy and shared „ß“\n");
  });

  it("refuse what a script cannot do", () => {
    const chunk = (code: string) => ({ fileName: "core-x.js", name: "core", code, dynamicImports: ["lazy.js"] });
    expect(() => asScript(chunk("const a = (name) => import(name);\n\nexport { a };"))).toThrow("by a computed name");
    expect(() => asScript(chunk("const a = 1;"))).toThrow("does not end with its exports");
    expect(() => asScript(chunk('import "./b.js";\nconst a = 1;\n\nexport { a };'))).toThrow("in an unknown way");
  });

  it("take every form of import that the bundler writes", () => {
    const code = `import { a as b, c } from "./d.js";\nimport e from "f";\nimport * as g from "node:g";\nconst h = () => import("./lazy.js");\n\nexport { b as i, h };`;
    const [script] = asScript({ fileName: "core-x.js", name: "core", code, dynamicImports: ["lazy.js"] });
    const ran = new Function(`return ${script?.text}`)()(
      { "./d.js": { a: 1, c: 2 }, f: { default: 3 }, "node:g": 4 },
      (path: string) => path,
      "file:///",
    );
    expect({ ...ran, h: ran.h() }).toEqual({ i: 1, h: "./lazy.js" });
  });
});
