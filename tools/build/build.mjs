/**
 * Bundles src into dist.
 *
 * 1. Chunks carry the hash of their content and are written before the entry points that name them; every file appears
 *    by a rename. A program that starts meanwhile sees the old build or the new one, never a mixture.
 * 2. Chunks of earlier builds stay for a day, so that a program which is running can still load its lazy parts.
 *    `--clean` removes them (packing does).
 * 3. What package.json calls `dependencies` stays outside and is loaded from node_modules; `devDependencies` are bundled.
 * 4. What `bin.js` imports statically is what `oxbow --version` loads: no third-party module may be in there.
 * 5. dist/web has the web client, which no other entry point loads.
 * 6. dist/.inputs lists the inputs, and is written last.
 */

import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeSources, stampFile } from "../setup/freshness.mjs";
import { withLock } from "../setup/lock.mjs";
import { ROOT, setUp } from "../setup/set-up.mjs";
import { bundle, bundleAlone, bundleWeb } from "./bundle.mjs";
import { closureOf, refuseThirdParty } from "./closure.mjs";
import { emitTypes } from "./emit-types.mjs";
import { thirdPartyNotices } from "./notices.mjs";

const ENTRIES = {
  bin: "src/main/bin.ts",
  index: "src/library/index.ts",
  protocol: "src/protocol/index.ts",
  plugin: "src/extensions/plugins/api.ts",
  testkit: "src/testkit/index.ts",
  adapter: "src/main/adapter.ts",
  "credential-helper": "src/main/credential-helper.ts",
};
/** Each is one file: a browser loads the first one. */
const ALONE = {
  sdk: { path: "src/clients/sdk/index.ts", platform: "browser" },
  "sdk-node": { path: "src/clients/sdk-node/index.ts", platform: "node" },
};
/** The modules up to the first request go into one chunk: every further file costs about a millisecond. */
const START_UP = [
  "src/cli/command-table.ts",
  "src/cli/commands/run.ts",
  // Shared by the wires.
  ...["conversation", "tool-arguments", "openai-models"].map((name) => `src/providers/wire/${name}.ts`),
];
/** The same for the first request with a stored key; the helper process loads this too, and must not load the engine with it. */
const TOGETHER = {
  keys: [
    ...["catalogue", "credential-error", "helper/helper-protocol"].map((name) => `src/security/credentials/${name}.ts`),
    "src/system/socket-path.ts",
  ],
};
/** Modules that load together after the first request, with everything that only they import. */
const LATER = {
  // What a start in a folder with content of its own reads and compares.
  content: [
    ...["find-extensions", "project-instructions", "approvals"].map((name) => `src/runtime/content/${name}.ts`),
    ...["discover", "review", "read-trusted", "pass-content", "approved-lock"].map(
      (name) => `src/security/trust/${name}.ts`,
    ),
  ],
  // The content of a project needs this before the first request, and not the rest of what calls need.
  outside: ["untrusted/untrusted", "untrusted/reveal-hidden", "untrusted/break-control-tokens", "trust/shown"].map(
    (name) => `src/security/${name}.ts`,
  ),
  saving: [
    ...["journal", "key", "find-project-sessions", "sqlite/sqlite-store"].map((name) => `src/sessions/${name}.ts`),
    ...["redact", "redacting-stream"].map((name) => `src/security/redact/${name}.ts`),
    ...["database", "migrate"].map((name) => `src/system/sqlite/${name}.ts`),
  ],
  prices: ["src/providers/catalogue/open-catalogue.ts", "src/providers/catalogue/facts.ts"],
  care: ["src/providers/local/local-chat.ts"],
  // One prompt through a running engine.
  attach: [
    "src/cli/attach/attach-flags.ts",
    "src/cli/attach/through-engine.ts",
    "src/cli/attach/one-shot.ts",
    "src/clients/sdk/http-client.ts",
    "src/clients/sdk-node/socket-exchange.ts",
  ],
  // The library also uses the permission rules, without the other modules of a call.
  rules: [
    ...["decide", "session-rules", "path-permissions"].map((name) => `src/security/permissions/${name}.ts`),
    "src/security/safe-mode/safe-mode.ts",
  ],
  // The modules of the first tool call: they load while the model answers.
  calls: [
    ...["engine", "load-permissions", "sandbox-restrictions", "command-reader", "read-command"].map(
      (name) => `src/security/permissions/${name}.ts`,
    ),
    ...["disk-links", "disk-trees", "facts", "contained/needs"].map((name) => `src/security/permissions/${name}.ts`),
    ...["sandbox", "policy", "state", "hidden-paths", "container", "seccomp-filter"].map(
      (name) => `src/security/sandbox/${name}.ts`,
    ),
    ...["own-files", "open-guard-list"].map((name) => `src/security/guard-list/${name}.ts`),
    ...["judge", "quiet-repository", "programs/quiet-git"].map((name) => `src/security/shell/${name}.ts`),
    ...["undo/recorder", "undo/journal"].map((name) => `src/sessions/${name}.ts`),
    ...["open-permissions", "ask-git", "contained-reach"].map((name) => `src/runtime/parts/${name}.ts`),
    "src/security/permissions/workspace-state.ts",
    ...["bash", "background", "child-environment", "patch/parse", "files/protected-paths", "search/ignore-files"].map(
      (name) => `src/tools/${name}.ts`,
    ),
    ...["process-group", "process-launch"].map((name) => `src/system/${name}.ts`),
  ],
};
const WEB = "src/clients/web";
const NOTICES = "THIRD-PARTY-NOTICES.txt";
const KEEP_OLD_CHUNKS = 24 * 60 * 60 * 1000;

export async function main(args) {
  const { values } = parseArgs({
    args,
    options: { clean: { type: "boolean" }, types: { type: "boolean" } },
  });
  await setUp({ root: ROOT, need: "install" });
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  const started = performance.now();
  const work = () => build({ root: ROOT, ...values });
  const { files, bytes, startBytes } = await withLock({ path: join(ROOT, "dist", ".lock"), work });
  const time = Math.round(performance.now() - started);
  console.log(`dist: ${files} files, ${kilobytes(bytes)}; a start loads ${kilobytes(startBytes)}; built in ${time} ms`);
}

/** The caller holds the lock of dist. */
export async function build({ root, clean = false, types = false }) {
  const inputs = describeSources(root);
  const { chunks, metafile } = await bundle({
    root,
    entries: ENTRIES,
    startUp: START_UP,
    together: TOGETHER,
    later: LATER,
  });
  const start = metafile.outputs["dist/bin.js"] === undefined ? [] : closureOf(metafile, "dist/bin.js");
  refuseThirdParty(metafile, start);

  const dist = join(root, "dist");
  const alone = await bundleAlone({ root, entries: ALONE });
  const web = await bundleWeb({ root, folder: WEB });
  const outputs = { ...metafile.outputs, ...web.metafile.outputs };
  const pages = [...web.chunks.map(({ fileName, code }) => ({ name: fileName, text: code })), ...web.texts];
  const files = [
    ...[...chunks, ...alone].map(toFile),
    ...pages.map(({ name, text }) => ({ name: `web/${name}`, text })),
    ...noticesFile({ root, metafile: { outputs } }),
  ];
  if (clean) removeAll(dist);
  if (pages.length > 0) mkdirSync(join(dist, "web"), { recursive: true });
  for (const file of files.filter((each) => !isEntry(each))) write(dist, file);
  for (const file of files.filter(isEntry)) write(dist, file);
  removeOld(dist, new Set(files.map(({ name }) => name)));
  if (types) await emitTypes(root);
  write(root, { name: stampFile, text: inputs });
  return {
    files: files.length,
    bytes: sum(files.map(({ text }) => text.length)),
    startBytes: sum(start.map((path) => metafile.outputs[path].bytes)),
  };
}

function isEntry({ name }) {
  const isPage = name === "web/index.html" || name === "web/enter.js";
  return isPage || Object.keys({ ...ENTRIES, ...ALONE }).some((entry) => name === `${entry}.js`);
}

function noticesFile({ root, metafile }) {
  const text = thirdPartyNotices({ root, metafile });
  return text === "" ? [] : [{ name: NOTICES, text }];
}

/** Escapes characters beyond Latin-1: with a single one, V8 stores the whole file with two bytes per character. */
function narrow(code) {
  return code.replace(/[^\x00-\xFF]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function toFile({ fileName, code: written }) {
  const code = narrow(written);
  const text = fileName === "bin.js" && !code.startsWith("#!") ? `#!/usr/bin/env node\n${code}` : code;
  return { name: fileName, text };
}

function write(folder, { name, text }) {
  const path = join(folder, name);
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text);
  if (name === "bin.js") chmodSync(temporary, 0o755);
  renameSync(temporary, path);
}

function removeAll(dist) {
  for (const name of readdirSync(dist)) {
    if (name !== ".lock") rmSync(join(dist, name), { recursive: true });
  }
}

function removeOld(dist, current) {
  for (const name of readdirSync(dist, { recursive: true })) {
    if (current.has(name) || !/^(web\/)?[^/]+\.(js|tmp|txt)$/.test(name)) continue;
    const path = join(dist, name);
    if (Date.now() - statSync(path).mtimeMs > KEEP_OLD_CHUNKS) rmSync(path);
  }
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
