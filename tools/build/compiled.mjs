/**
 * Large chunks as scripts with V8's code cache beside them: without it, a start takes about a quarter more CPU.
 *
 * 1. `core-HASH.js` stays the module that others import. It runs `core-DIGEST.cjs`, the code as one function, with `core-DIGEST.cache`.
 * 2. The cache holds the functions that a turn with one tool call runs; `record.mjs` writes it when the script is new.
 * 3. V8 refuses a cache of another version or with other flags. Then the script is compiled as without a cache. V8 does not compare the
 *    text of the script, so the digest of the text names both files.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolError } from "../entry.mjs";

const RECORD = fileURLToPath(new URL("./record.mjs", import.meta.url));
const RECORD_MS = 60_000;

/** The two files of a chunk: its module and its script. */
export function asScript({ fileName, name, code, dynamicImports }) {
  const { imports, body, exported } = takeApart(fileName, code);
  const script = inAscii(
    [
      "(function ($modules, $import, $url) {",
      '"use strict";',
      ...imports.map(({ names, from }) => `const ${names} = $modules[${JSON.stringify(from)}];`),
      withImports(body, { fileName, dynamicImports }),
      `return { ${exported.map(({ local, name }) => `${name}: ${local}`).join(", ")} };`,
      "})",
    ].join("\n"),
  );
  const place = `${name}-${createHash("sha256").update(script).digest("hex").slice(0, 8)}`;
  const sources = [...new Set(imports.map(({ from }) => from))];
  const module = [
    ...sources.map((from, index) => `import * as m${index} from ${JSON.stringify(from)};`),
    'import { closeSync as $close, fstatSync as $stat, openSync as $open, readFileSync as $readAll, readSync as $read } from "node:fs";',
    'import { Script as $Script } from "node:vm";',
    `const $modules = { ${sources.map((from, index) => `${JSON.stringify(from)}: m${index}`).join(", ")} };`,
    `const $place = new URL("./${place}", import.meta.url);`,
    `${runScript}`,
    // Node takes longer to find a module again than this takes: a turn asks for four of them.
    "const $loaded = new Map();",
    importOnce,
    "const $ = runScript($place)($modules, importOnce, import.meta.url);",
    `const { ${exported.map(({ name }, index) => `${name}: $${index}`).join(", ")} } = $;`,
    `export { ${exported.map(({ name }, index) => `$${index} as ${name}`).join(", ")} };`,
    "",
  ];
  return [
    { name: `${place}.cjs`, text: script },
    { name: fileName, text: module.join("\n") },
  ];
}

/** Goes into each module: a text, because a test runner rewrites `import` in functions. A package that is not installed may be there later. */
const importOnce = `function importOnce(path) {
  if (!/^(\\.\\/|node:)/.test(path)) return import(path);
  const loaded = $loaded.get(path) ?? import(path);
  $loaded.set(path, loaded);
  return loaded;
}`;

/** Goes into each module as it is written here. `record.mjs` supplies the list of scripts. */
function runScript(place) {
  // A buffer that can be given back when it was used: V8 would keep it for a long time.
  const buffer = new ArrayBuffer(0, { maxByteLength: 4_000_000 });
  let cachedData;
  try {
    const cache = $open(new URL(`${place.href}.cache`));
    buffer.resize($stat(cache).size);
    cachedData = new Uint8Array(buffer);
    $read(cache, cachedData);
    $close(cache);
  } catch {
    // There is no cache.
  }
  const file = new URL(`${place.href}.cjs`);
  const script = new $Script($readAll(file, "latin1"), { filename: file.href, cachedData });
  buffer.resize(0);
  globalThis[Symbol.for("oxbow.scripts")]?.push({ place, script });
  return script.runInThisContext();
}

/** Reading ASCII is faster than decoding UTF-8. */
function inAscii(code) {
  return code.replace(/[^\x00-\x7F]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The bundler writes imports first, one a line, and one list of exports at the end. */
function takeApart(fileName, code) {
  const start = code.lastIndexOf("\nexport {");
  const list = /^\nexport \{([^}]*)\};?\s*$/.exec(code.slice(start));
  if (start < 0 || list === null) throw new ToolError(`the build failed: ${fileName} does not end with its exports.`);
  const lines = code.slice(0, start).split("\n");
  const first = lines.findIndex((line) => !line.startsWith("import "));
  const imports = lines.slice(0, first).map((line) => {
    const [, names, from] = /^import (.+) from "([^"]+)";$/.exec(line) ?? [];
    if (names === undefined) throw new ToolError(`the build failed: ${fileName} imports in an unknown way: ${line}`);
    return { names: pattern(names), from };
  });
  const exported = list[1]
    .split(",")
    .map((each) => each.trim().split(" as "))
    .map(([local, name = local]) => ({ local, name }));
  return { imports, body: lines.slice(first).join("\n"), exported };
}

/** `{ a, b as c }`, `d` or `* as e`, as the left side of an assignment. */
function pattern(names) {
  if (names.startsWith("* as ")) return names.slice("* as ".length);
  return names.startsWith("{") ? names.replaceAll(" as ", ": ") : `{ default: ${names} }`;
}

function withImports(body, { fileName, dynamicImports }) {
  let text = body.replaceAll("import.meta.url", "$url");
  for (const path of dynamicImports) {
    for (const spelled of [path, `./${path}`]) text = text.replaceAll(`import("${spelled}")`, `$import("${spelled}")`);
  }
  if (/\bimport\.meta\b|(?<![$\w.])import\(/.test(text)) {
    throw new ToolError(
      `the build failed: ${fileName} imports something by a computed name, which a script cannot. Do it in a module that is loaded later and not part of this chunk.`,
    );
  }
  return text;
}

export function cacheOf(script) {
  return script.replace(/\.cjs$/, ".cache");
}

/** Writes the caches that are missing. The program runs without them as well, so a failure is only a warning. */
export function recordCaches(dist, scripts) {
  if (scripts.every((name) => existsSync(join(dist, cacheOf(name))))) return;
  const { PATH } = process.env;
  const { status } = spawnSync(process.execPath, [RECORD, dist], {
    env: { PATH },
    stdio: "ignore",
    timeout: RECORD_MS,
    killSignal: "SIGKILL",
  });
  if (status !== 0) console.error("dist: the code caches could not be recorded; the program starts more slowly.");
}
