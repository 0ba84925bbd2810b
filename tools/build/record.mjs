/**
 * node record.mjs DIST: writes the code caches of the scripts in DIST. Runs one turn with a tool call in this process, against the mock model,
 * because V8 stores the functions that have run.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import v8 from "node:v8";

const dist = pathToFileURL(`${process.argv[2]}/`);
const scripts = [];
globalThis[Symbol.for("oxbow.scripts")] = scripts;

const { startMockModel } = await import(new URL("testkit.js", dist));
const mock = await startMockModel({
  script: 'reply\n  delay 400ms\n  tool bash {"command": "echo hello"}\nreply\n  text: done\n',
});
const folder = mkdtempSync(join(tmpdir(), "oxbow-record-"));
const work = join(folder, "work");
mkdirSync(work);

const written = new Set();
function write() {
  for (const { place, script } of scripts.filter((each) => !written.has(each))) {
    const file = new URL(`${place.href}.cache`);
    const temporary = new URL(`${place.href}.${process.pid}.tmp`);
    writeFileSync(temporary, script.createCachedData());
    renameSync(temporary, file);
  }
  for (const each of scripts) written.add(each);
}

// A cache is only valid for the flags at its creation, so caches of code that loads before a flag change are written before it.
const { setFlagsFromString } = v8;
v8.setFlagsFromString = (flags) => {
  write();
  setFlagsFromString(flags);
};
syncBuiltinESMExports();
process.on("exit", () => {
  write();
  rmSync(folder, { recursive: true, force: true });
});

process.chdir(work);
for (const name of Object.keys(process.env)) if (name !== "PATH") delete process.env[name];
process.env.HOME = folder;
process.env.OXBOW_HOME = join(folder, "home");
process.env.OPENAI_BASE_URL = `${mock.url}/v1`;
process.env.OPENAI_API_KEY = "none";
process.argv.splice(1, process.argv.length, "oxbow", "run", "go", "--permission-mode", "allow", "--model", "openai:m");
await import(new URL("bin.js", dist));
