import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findInstallation } from "./installation.js";

const base = realpathSync(mkdtempSync(join(tmpdir(), "installation-")));
afterAll(() => rmSync(base, { recursive: true }));

function write(path: string, text: string): string {
  const file = join(base, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Returns the file that runs. */
function plant(folder: string): string {
  write(`${folder}/package.json`, '{ "name": "oxbow" }');
  return write(`${folder}/dist/chunk.js`, "");
}

function link(path: string, target: string): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  symlinkSync(target, join(base, path));
}

it("tells the ways of installing apart, each with its own commands", () => {
  const global = findInstallation({}, plant("prefix/lib/node_modules/oxbow"));
  expect(global).toMatchObject({
    kind: "npm global",
    update: [`npm install --global oxbow@latest --prefix ${base}/prefix`],
    remove: [`npm uninstall --global oxbow --prefix ${base}/prefix`],
  });
  expect(findInstallation({}, plant("cache/_npx/0123/node_modules/oxbow"))).toMatchObject({
    kind: "npx",
    update: ["npx oxbow@latest"],
  });
  write("a project/package.json", '{ "name": "mine" }');
  expect(findInstallation({}, plant("a project/node_modules/oxbow"))).toMatchObject({
    kind: "project",
    update: [`npm --prefix '${base}/a project' install oxbow@latest`],
  });
  expect(findInstallation({}, plant("unpacked/package"))).toMatchObject({
    kind: "copy",
    remove: [`rm -r ${base}/unpacked/package`],
  });
});

it("finds the links of a clone on PATH, and which of them are npm's", () => {
  const running = plant("clone");
  write("clone/src/main/bin.ts", "");
  write("clone/oxbow", "#!/bin/sh\n");
  link("bin/oxbow", join(base, "clone/oxbow"));
  link("npm/lib/node_modules/oxbow", "../../../clone");
  write("clone/dist/bin.js", "");
  link("npm/bin/ox", "../lib/node_modules/oxbow/dist/bin.js");
  link("other/oxbow", "/bin/sh");
  const path = ["bin", "npm/bin", "other", "missing", "clone/oxbow"].map((folder) => join(base, folder)).join(":");
  const { kind, links, update, remove } = findInstallation({ PATH: `${path}:relative` }, running);
  expect({ kind, links }).toEqual({
    kind: "clone",
    links: [
      { path: join(base, "bin/oxbow"), isOfNpm: false },
      { path: join(base, "npm/bin/ox"), isOfNpm: true },
    ],
  });
  expect(update).toEqual([`replace the files in ${base}/clone`, `npm --prefix ${base}/clone run build`]);
  expect(remove).toEqual([`npm uninstall --global oxbow --prefix ${base}/npm`, `rm -r ${base}/clone`]);
});
