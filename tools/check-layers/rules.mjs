import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { ENVIRONMENT_READER, FEATURES, LAYERS, MOST_LINES, RESERVED } from "./layers.mjs";

/** The layer of a file, by the longest matching name in the table; undefined if there is none. */
export function layerOf(file) {
  const [top, second, ...rest] = file.split("/");
  if (second === undefined) return undefined;
  const inner = `${top}/${second}`;
  if (rest.length > 0 && (LAYERS[inner] !== undefined || LAYERS[`${top}/*`] !== undefined)) return inner;
  return LAYERS[top] === undefined ? undefined : top;
}

export function isFeature(file) {
  return FEATURES.includes(layerOf(file));
}

function settingsOf(layer) {
  return LAYERS[layer] ?? LAYERS[`${layer.split("/")[0]}/*`];
}

/** The file of src that a relative specifier means, as `folder/name.ts`; it may begin with `../` outside of src. */
export function resolveImport(file, specifier) {
  return posix.join(posix.dirname(file), specifier).replace(/\.([cm]?)js$/, ".$1ts");
}

export function placeViolations(file) {
  if (layerOf(file) !== undefined) return [];
  const advice = "no layer has this place: move the file, or add its folder to tools/check-layers/layers.mjs";
  return [{ file, line: 1, rule: "unknown-layer", advice }];
}

/** Layers with more lines than they may have; `lines` has the count of each file. */
export function sizeViolations(lines) {
  return Object.entries(MOST_LINES).flatMap(([layer, most]) => {
    const files = [...lines].filter(([file]) => layerOf(file) === layer);
    const total = files.reduce((sum, [, count]) => sum + count, 0);
    if (total <= most) return [];
    const [[file]] = files.sort(([, left], [, right]) => right - left);
    const advice = `${layer} has ${total} lines, at most ${most} are allowed: move what is no wiring to the layer that owns it`;
    return [{ file, line: 1, rule: "too-large", advice }];
  });
}

export function importViolations(file, { specifier, line, when }) {
  const layer = layerOf(file);
  if (layer === undefined) return [];
  const found = /^\.{0,2}\//.test(specifier)
    ? relativeViolation(file, { layer, specifier, when })
    : outsideViolation(file, { layer, specifier, when });
  return found === undefined ? [] : [{ file, line, ...found }];
}

function relativeViolation(file, { layer, specifier, when }) {
  const target = resolveImport(file, specifier);
  const { imports, types = [] } = settingsOf(layer);
  if (target.startsWith("../")) {
    if (target.startsWith("../assets/") && layer !== "protocol") return undefined;
    return {
      rule: "outside-src",
      advice: `${specifier} is outside of src: only texts of assets/ may be imported from there`,
    };
  }
  const wanted = layerOf(target);
  const reserved = reservedViolation(file, { module: target, specifier, when });
  if (reserved !== undefined) return reserved;
  if (wanted === undefined || wanted === layer || imports === "everything" || imports.includes(wanted))
    return undefined;
  if (types.includes(target)) {
    if (when === "types") return undefined;
    return { rule: "types-only", advice: `${layer} may import the types of ${target} alone: write \`import type\`` };
  }
  return { rule: "direction", advice: directionAdvice(layer, { wanted, imports, types }) };
}

function directionAdvice(layer, { wanted, imports, types }) {
  if (wanted === "main") return `no layer imports main: take what ${layer} needs as a parameter`;
  const allowed = [...imports, ...types.map((file) => `types of ${file}`)].join(", ") || "nothing";
  return `${layer} imports ${allowed}, not ${wanted}: declare a small interface in ${layer} and let main supply it`;
}

function outsideViolation(file, { layer, specifier, when }) {
  const { packages = true, node = true } = settingsOf(layer);
  if (/^(oxbow|#.*)(\/|$)/.test(specifier)) {
    return { rule: "self-import", advice: `${specifier} goes round the layers: import the file by its relative path` };
  }
  if (!isBuiltin(specifier)) {
    if (packages) return undefined;
    return { rule: "third-party", advice: `${layer} uses no packages (${specifier}): put this into a layer above` };
  }
  if (!node) {
    return {
      rule: "node-module",
      advice: `${layer} has to run without Node (${specifier}): take what it needs as a parameter`,
    };
  }
  return reservedViolation(file, { module: specifier.replace(/^node:/, ""), specifier, when });
}

function reservedViolation(file, { module, specifier, when }) {
  if (when === "types") return undefined;
  const reserved = RESERVED.find(({ folder, modules }) => file.startsWith(folder) && modules.includes(module));
  if (reserved === undefined || Object.keys(reserved.allowed).some((place) => isAt(file, place))) return undefined;
  return { rule: "reserved-module", advice: `${specifier} is not for this file: ${reserved.remedy}` };
}

function isAt(file, place) {
  return place.endsWith("/") ? file.startsWith(place) : file === place;
}

export function environmentViolations(file, lines) {
  if (file === ENVIRONMENT_READER) return [];
  const advice = `the environment is read in src/${ENVIRONMENT_READER} alone: take the value as a parameter`;
  return lines.map((line) => ({ file, line, rule: "environment", advice }));
}
