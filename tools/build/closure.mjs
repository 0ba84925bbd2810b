import { isBuiltin } from "node:module";
import { ToolError } from "../entry.mjs";

/** The output files that load with `output`: itself and all its static imports, transitively. */
export function closureOf(metafile, output) {
  const found = new Set([output]);
  for (const path of found) {
    for (const edge of metafile.outputs[path].imports) {
      if (!edge.external && edge.kind !== "dynamic-import") found.add(edge.path);
    }
  }
  return [...found];
}

/** Throws if a third-party module is in a closure, and names the imports that lead to it. */
export function refuseThirdParty(metafile, closure) {
  const outputs = closure.map((path) => metafile.outputs[path]);
  const bundled = outputs
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([path, { bytesInOutput }]) => isThirdParty(path) && bytesInOutput > 0)
    .map(([path]) => path);
  const external = outputs
    .flatMap(({ imports }) => imports)
    .filter(({ external, kind, path }) => external && kind !== "dynamic-import" && !isBuiltin(path))
    .map(({ path }) => path);
  const [culprit] = [...bundled, ...external];
  if (culprit === undefined) return;
  const chain = importChain(metafile.inputs, { from: outputs[0].entryPoint, to: culprit });
  throw new ToolError(
    `the build failed: a start of oxbow would load ${culprit}.\n` +
      `  ${chain.join("\n  → ")}\n` +
      "Import one of these lazily, with `await import(…)` where it is used.",
  );
}

function isThirdParty(path) {
  return /(^|[\\/])node_modules[\\/]/.test(path);
}

/** The shortest way by static imports, as source paths. */
function importChain(inputs, { from, to }) {
  const cameFrom = new Map([[from, undefined]]);
  for (const path of cameFrom.keys()) {
    if (path === to) break;
    for (const edge of inputs[path]?.imports ?? []) {
      if (edge.kind !== "dynamic-import" && !cameFrom.has(edge.path)) cameFrom.set(edge.path, path);
    }
  }
  const chain = [];
  for (let path = to; path !== undefined; path = cameFrom.get(path)) chain.unshift(path);
  return chain;
}
