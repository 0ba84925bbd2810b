/**
 * Sources to chunks, with rolldown: it can put the modules of the start-up path into one chunk, even if others share them.
 * The answer describes itself in the form of esbuild's metafile, reduced to what the checks need.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { isAbsolute, join, relative, sep } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ToolError } from "../entry.mjs";
import { runtimeDependencies } from "../setup/freshness.mjs";

export async function bundle({ root, entries, startUp, together = {}, later = {} }) {
  const { version, engines = { node: ">=0.0.0" } } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const input = Object.fromEntries(
    Object.entries(entries)
      .map(([name, path]) => [name, join(root, path)])
      .filter(([, path]) => existsSync(path)),
  );
  const outside = runtimeDependencies(root);
  const define = {
    OXBOW_VERSION: JSON.stringify(version),
    OXBOW_LEAST_NODE: JSON.stringify(engines.node.replace(/^>=/, "")),
  };
  const graph = new Map();
  const { rolldown } = await import("rolldown");
  try {
    const build = await rolldown({
      cwd: root,
      input,
      platform: "node",
      external: (id) => isBuiltin(id) || outside.some((name) => id === name || id.startsWith(`${name}/`)),
      plugins: [textModules(), graphOf(graph)],
      transform: { define, target: "node20.19" },
      logLevel: "silent",
    });
    const first = startUp.map((path) => join(root, path));
    const { output } = await build.generate({
      format: "esm",
      // Names and lines stay as they were written: a stack trace in a report has to be readable without a source map.
      minify: false,
      // No one reads comments in the bundle, and the engine parses every byte.
      comments: { legal: true, annotation: false, jsdoc: false },
      entryFileNames: "[name].js",
      chunkFileNames: "[name]-[hash].js",
      codeSplitting: {
        groups: [
          // `oxbow --version` loads this and nothing else.
          { name: "version", test: isVersion },
          { name: "core", test: belongsTo(graph, first, Object.values(input)) },
          ...groupsOf(root, together),
          ...Object.entries(later).map(([name, paths]) => {
            const members = paths.map((path) => join(root, path));
            return { name, test: belongsTo(graph, members, Object.values(input)) };
          }),
        ],
      },
    });
    await build.close();
    const chunks = output.filter(({ type }) => type === "chunk");
    refuseFacades(chunks);
    return { chunks, metafile: describe({ root, chunks, graph }) };
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const text = error.message.trimEnd();
    throw new ToolError(`the build failed.\n${process.stderr.isTTY ? text : stripVTControlCharacters(text)}`);
  }
}

/** Entry points that are one file each and share nothing with the program: a browser loads the one for `browser`. */
export async function bundleAlone({ root, entries }) {
  const { rolldown } = await import("rolldown");
  const made = Object.entries(entries).map(async ([name, { path, platform }]) => {
    if (!existsSync(join(root, path))) return [];
    const build = await rolldown({
      cwd: root,
      input: { [name]: join(root, path) },
      platform,
      external: platform === "node" ? isBuiltin : [],
      plugins: [nothingOfNode(platform)],
      transform: { target: platform === "node" ? "node20.19" : "es2022" },
      logLevel: "silent",
    });
    const { output } = await build.generate({
      format: "esm",
      minify: false,
      comments: { legal: true, annotation: false, jsdoc: false },
      entryFileNames: "[name].js",
      codeSplitting: false,
    });
    await build.close();
    return output.filter(({ type }) => type === "chunk");
  });
  return (await Promise.all(made)).flat();
}

/** The web client: `enter.js` is all that a page names, and the rest loads from there, in pieces that a page may not need. */
export async function bundleWeb({ root, folder }) {
  if (!existsSync(join(root, folder))) return { chunks: [], texts: [], metafile: { outputs: {} } };
  const { rolldown } = await import("rolldown");
  const graph = new Map();
  const build = await rolldown({
    cwd: root,
    input: { enter: join(root, folder, "enter.ts") },
    platform: "browser",
    plugins: [nothingOfNode("browser"), textModules(), graphOf(graph)],
    resolve: { extensionAlias: { ".js": [".ts", ".tsx", ".js"] } },
    transform: { target: "es2022", jsx: { runtime: "automatic", importSource: "preact" } },
    logLevel: "silent",
  });
  const { output } = await build.generate({
    format: "esm",
    minify: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  });
  await build.close();
  const chunks = output.filter(({ type }) => type === "chunk");
  const styles = readdirSync(join(root, folder, "styles")).sort();
  const css = styles.map((name) => readFileSync(join(root, folder, "styles", name), "utf8")).join("\n");
  const { transform } = await import("esbuild");
  const { code } = await transform(css, { loader: "css", minify: true });
  const texts = [
    ...["index.html", "icon.svg"].map((name) => ({ name, text: readFileSync(join(root, folder, name), "utf8") })),
    { name: "style.css", text: code },
  ];
  return { chunks, texts, metafile: describe({ root, chunks, graph }) };
}

function nothingOfNode(platform) {
  return {
    name: "nothing-of-node",
    resolveId(id, importer) {
      if (platform === "browser" && isBuiltin(id))
        throw new ToolError(`${importer} imports ${id}: a browser has none.`);
      return null;
    },
  };
}

/**
 * If any module has a top-level await, the bundler gives each lazy part of a group a separate file that only points to the group: one
 * more file to load for each.
 */
function refuseFacades(chunks) {
  const facade = chunks.find(
    ({ isEntry, isDynamicEntry, moduleIds }) => !isEntry && isDynamicEntry && moduleIds.length === 0,
  );
  if (facade === undefined) return;
  throw new ToolError(
    `the build failed: ${facade.fileName} holds no code of its own. Is there an await at the top level of a module?`,
  );
}

/** `.md`, `.txt` and `.toml` files are their text. */
function textModules() {
  return {
    name: "text-modules",
    load(id) {
      if (!/\.(md|txt|toml)$/.test(id)) return null;
      return { code: `export default ${JSON.stringify(readFileSync(id, "utf8"))};`, moduleType: "js" };
    },
  };
}

function graphOf(graph) {
  return {
    name: "graph",
    moduleParsed({ id, importedIds, dynamicallyImportedIds }) {
      graph.set(id, { importedIds, dynamicallyImportedIds });
    },
  };
}

/** Tells whether a module is imported statically from one of `first`; entry points stay separate files. */
function belongsTo(graph, first, entryPoints) {
  let members;
  return (id) => {
    members ??= closure(graph, first);
    return members.has(id) && !entryPoints.includes(id) && !isVersion(id);
  };
}

function isVersion(id) {
  return /[\\/]base[\\/]version\.ts$/.test(id);
}

function groupsOf(root, together) {
  return Object.entries(together).map(([name, paths]) => {
    const members = new Set(paths.map((path) => join(root, path)));
    return { name, test: (id) => members.has(id) };
  });
}

function closure(graph, first) {
  const found = new Set(first);
  for (const id of found) for (const next of graph.get(id)?.importedIds ?? []) found.add(next);
  return found;
}

function describe({ root, chunks, graph }) {
  const short = (id) => (isAbsolute(id) ? relative(root, id).split(sep).join("/") : id);
  const names = new Set(chunks.map(({ fileName }) => fileName));
  const edges = (paths, kind) =>
    paths.map((path) => ({ path: names.has(path) ? `dist/${path}` : path, kind, external: !names.has(path) }));
  const outputs = chunks.map((chunk) => [
    `dist/${chunk.fileName}`,
    {
      bytes: Buffer.byteLength(chunk.code),
      ...(chunk.facadeModuleId && { entryPoint: short(chunk.facadeModuleId) }),
      imports: [...edges(chunk.imports, "import-statement"), ...edges(chunk.dynamicImports, "dynamic-import")],
      inputs: Object.fromEntries(
        Object.entries(chunk.modules).map(([id, { renderedLength }]) => [short(id), { bytesInOutput: renderedLength }]),
      ),
    },
  ]);
  const inputs = [...graph].map(([id, { importedIds, dynamicallyImportedIds }]) => [
    short(id),
    {
      imports: [
        ...importedIds.map((path) => ({ path: short(path), kind: "import-statement" })),
        ...dynamicallyImportedIds.map((path) => ({ path: short(path), kind: "dynamic-import" })),
      ],
    },
  ]);
  return { outputs: Object.fromEntries(outputs), inputs: Object.fromEntries(inputs) };
}
