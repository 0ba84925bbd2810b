import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { build } from "./build/build.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A project with these files, and two packages to import. */
function plant(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "oxbow-build-"));
  folders.push(root);
  const all = {
    "package.json": '{ "name": "oxbow", "version": "1.2.3", "type": "module" }',
    "node_modules/modern/package.json":
      '{ "name": "modern", "version": "4.5.6", "license": "MIT", "type": "module", "main": "index.js" }',
    "node_modules/modern/index.js": 'export const modern = "modern";',
    "node_modules/modern/LICENSE": "Permission is granted by the author of modern.",
    "node_modules/classic/package.json":
      '{ "name": "classic", "version": "1.0.0", "license": "MIT", "main": "index.js" }',
    "node_modules/classic/COPYING": "Classic may be copied.",
    "node_modules/classic/index.js": '/*! by the author of classic */ exports.separator = require("path").sep;',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  mkdirSync(join(root, "dist"));
  return root;
}

const run = (root: string, file = "bin.js") =>
  execFileSync(process.execPath, [join(root, "dist", file)], { encoding: "utf8" });

describe("build", () => {
  it("makes an executable that knows its version, reads texts and loads packages lazily", async () => {
    const root = plant({
      "src/main/bin.ts": `
        import text from "./text.md";
        declare const OXBOW_VERSION: string;
        const { modern } = await import("modern");
        const { separator } = (await import("classic")).default;
        console.log(OXBOW_VERSION, text, modern, separator);`,
      "src/main/text.md": "a text",
    });
    const { startBytes, bytes } = await build({ root });
    expect(run(root)).toBe("1.2.3 a text modern /\n");
    expect(readFileSync(join(root, "dist", "bin.js"), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(statSync(join(root, "dist", "bin.js")).mode & 0o777).toBe(0o755);
    expect(startBytes).toBeLessThan(bytes);
    const notices = readFileSync(join(root, "dist", "THIRD-PARTY-NOTICES.txt"), "utf8");
    expect(notices).toContain("modern 4.5.6 (MIT)\n\nPermission is granted by the author of modern.");
    const chunks = readdirSync(join(root, "dist")).filter((name) => name.endsWith(".js"));
    const code = chunks.map((name) => readFileSync(join(root, "dist", name), "utf8")).join("");
    expect(code).toContain("by the author of classic");
  });

  it("bundles no package without the text of its licence", async () => {
    const bare = {
      "node_modules/bare/package.json": '{ "name": "bare", "version": "1.0.0", "license": "MIT", "main": "index.js" }',
      "node_modules/bare/index.js": "exports.bare = 1;",
      "src/main/bin.ts": 'const { bare } = (await import("bare")).default; console.log(bare);',
    };
    await expect(build({ root: plant(bare) })).rejects.toThrow("bare is bundled and has no licence text");
  });

  it("makes each entry point that has a source, sharing what they share", async () => {
    const root = plant({
      "src/protocol/index.ts": 'export { shared } from "./shared.js";',
      "src/protocol/shared.ts": "export const shared = { name: 'shared' };",
      "src/testkit/index.ts": 'export { shared as again } from "../protocol/shared.js";',
    });
    await build({ root });
    const names = readdirSync(join(root, "dist")).filter((name) => name.endsWith(".js"));
    expect(names.sort()).toEqual(["protocol.js", expect.stringMatching(/^shared-/), "testkit.js"]);
    writeFileSync(
      join(root, "dist", "same.mjs"),
      'import { shared } from "./protocol.js"; import { again } from "./testkit.js"; console.log(shared === again);',
    );
    expect(run(root, "same.mjs")).toBe("true\n");
  });

  it("puts the web client into a folder of its own, of which the program loads nothing", async () => {
    const root = plant({
      "src/main/bin.ts": 'import { shared } from "../base/shared.js"; console.log(shared);',
      "src/base/shared.ts": 'export const shared = "used by both";',
      "src/clients/web/index.html": '<script type="module" src="/enter.js"></script>',
      "src/clients/web/icon.svg": "<svg/>",
      "src/clients/web/enter.ts": 'import("./later.js");',
      "src/clients/web/later.ts": 'import { shared } from "../../base/shared.js"; document.title = shared;',
      "src/clients/web/styles/10-first.css": "a { color: red; }",
      "src/clients/web/styles/20-second.css": "b { color: blue; }",
    });
    await build({ root });
    const web = readdirSync(join(root, "dist", "web"));
    expect(web.sort()).toEqual(["enter.js", "icon.svg", "index.html", expect.stringMatching(/^later-/), "style.css"]);
    expect(readFileSync(join(root, "dist", "web", "style.css"), "utf8")).toMatch(/^a\{.*b\{/s);
    expect(run(root)).toBe("used by both\n");
    rmSync(join(root, "dist", "web"), { recursive: true });
    expect(run(root)).toBe("used by both\n");
  });

  it("bundles nothing of Node for a browser", async () => {
    const root = plant({
      "src/main/bin.ts": "",
      "src/clients/web/index.html": "",
      "src/clients/web/icon.svg": "",
      "src/clients/web/enter.ts": 'import { join } from "node:path"; console.log(join("a", "b"));',
      "src/clients/web/styles/10-first.css": "",
    });
    await expect(build({ root })).rejects.toThrow("imports node:path: a browser has none.");
  });

  it("leaves run-time dependencies outside", async () => {
    const root = plant({
      "package.json": '{ "type": "module", "version": "1.2.3", "dependencies": { "modern": "*" } }',
      "src/main/bin.ts": 'console.log((await import("modern")).modern);',
    });
    await build({ root });
    expect(readFileSync(join(root, "dist", "bin.js"), "utf8")).toContain('import("modern")');
    expect(run(root)).toBe("modern\n");
  });

  it.each([
    ["bundled", '{ "version": "1.2.3" }', "node_modules/modern/index.js"],
    ["outside", '{ "type": "module", "version": "1.2.3", "dependencies": { "modern": "*" } }', "modern"],
  ])("fails when a start would load a package that is %s, and names the way to it", async (_, manifest, culprit) => {
    const root = plant({
      "package.json": manifest,
      "src/main/bin.ts": 'import { a } from "./a.js"; console.log(a);',
      "src/main/a.ts": 'import { modern } from "modern"; export const a = modern + "!";',
    });
    await expect(build({ root })).rejects.toThrow(
      `a start of oxbow would load ${culprit}.\n  src/main/bin.ts\n  → src/main/a.ts\n  → ${culprit}\n`,
    );
    expect(readdirSync(join(root, "dist"))).toEqual([]);
  });

  it("replaces a build without taking away what a running program may still load", async () => {
    const root = plant({
      "src/main/bin.ts": 'console.log((await import("./lazy.js")).value);',
      "src/main/lazy.ts": "export const value = 1;",
    });
    await build({ root });
    const first = readdirSync(join(root, "dist"));
    writeFileSync(join(root, "src", "main", "lazy.ts"), "export const value = 2;");
    await build({ root });
    expect(run(root)).toBe("2\n");
    expect(readdirSync(join(root, "dist"))).toEqual(expect.arrayContaining(first));
    await build({ root, clean: true });
    expect(run(root)).toBe("2\n");
    expect(readdirSync(join(root, "dist"))).toHaveLength(first.length);
  });

  it("writes declarations where package.json says they are", async () => {
    const root = plant({
      "src/protocol/index.ts": "/** A name. */\nexport const name: string = 'x';",
      "src/protocol/internal.test.ts": "export const test = 1;",
    });
    rmSync(join(root, "node_modules"), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
    for (const name of ["tsconfig.json", "tsconfig.build.json"]) {
      writeFileSync(join(root, name), readFileSync(join(ROOT, name), "utf8"));
    }
    await build({ root, types: true });
    const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const declarations = readFileSync(join(root, exports["./protocol"].types), "utf8");
    expect(declarations).toBe("/** A name. */\nexport declare const name: string;\n");
  });
});
